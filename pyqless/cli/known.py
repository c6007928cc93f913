# SPDX-License-Identifier: MIT
"""Names that nobody knows: whoever asks for one has mistyped it, more often than not, and is told so."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from pyqless.cli.printing import note
from pyqless.client import Client
from pyqless.core.settings import DEFAULTS
from pyqless.errors import RequestError

__all__ = [
    "is_setting",
    "near_settings",
    "queue_of_setting",
    "require_group",
    "require_queue",
    "tell_if_new",
    "unknown_queues",
]

#: settings of the whole store: those with a default that is shown, and those with one that is not
_SETTINGS: Final = (*DEFAULTS, "max-job-history", "max-worker-age")

#: how the settings of single queues end
_OF_A_QUEUE: Final = ("-heartbeat", "-max-concurrency", "-max-waiting")

#: how much of two names must be the same, between 0 and 1, for one to stand for the other
_ALIKE: Final = 0.7


def unknown_queues(client: Client, names: Iterable[str]) -> list[str]:
    """
    Queues that are not known, not even as empty ones.

    A command that changes something asks before it does so: it may be refused to look.
    """
    known = {counts.name for counts in client.queues.counts()}
    return [name for name in dict.fromkeys(names) if name not in known]


def tell_if_new(*names: str) -> None:
    """Say on stderr that queues are not known, as their names are mistyped more often than not."""
    for name in names:
        note(f"no queue named {name!r} is known yet")


def require_queue(client: Client, name: str) -> None:
    """
    Go on if a queue is known.

    Raises:
        RequestError: it is not.
    """
    if unknown_queues(client, [name]):
        raise RequestError(f"no queue named {name!r} is known", argument="queue", value=name)


def require_group(client: Client, name: str) -> None:
    """
    Go on if jobs have failed with a group.

    Raises:
        RequestError: none has.
    """
    if name not in client.jobs.failed():
        text = f"no group of failures named {name!r} is known"
        raise RequestError(text, argument="group", value=name)


def is_setting(name: str) -> bool:
    """Whether anybody heeds a setting."""
    return name in _SETTINGS or queue_of_setting(name) is not None


def queue_of_setting(name: str) -> str | None:
    """The queue whose setting a name is; None if it is no such name."""
    queues = (name.removesuffix(end) for end in _OF_A_QUEUE if name.endswith(end))
    return next(filter(None, queues), None)


def near_settings(name: str) -> str:
    """The settings that may be meant by a name, in words; all of them if none is near."""
    near = [*_near_of_a_queue(name), *get_close_matches(name, _SETTINGS)]
    if near:
        return f"near {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    return f"there are {', '.join([*_SETTINGS, *(f'QUEUE{end}' for end in _OF_A_QUEUE)])}"


def _near_of_a_queue(name: str) -> list[str]:
    """The setting of a queue whose end comes nearest to that of a name, if one is near."""
    # the queue's name may have dashes, too, and what stands behind it has one or two
    places = [place for place, character in enumerate(name) if character == "-" and place][-2:]
    pairs = ((name[:place], name[place:], end) for place in places for end in _OF_A_QUEUE)
    ranked = ((SequenceMatcher(None, rest, end).ratio(), queue + end) for queue, rest, end in pairs)
    likeness, found = max(ranked, default=(0.0, ""))
    return [found] if likeness > _ALIKE else []
