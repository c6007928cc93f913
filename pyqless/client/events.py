# SPDX-License-Identifier: MIT
"""What the store publishes, and how it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from pyqless.client import checks
from pyqless.core.keys import Keys
from pyqless.storage.channels import literal
from pyqless.storage.subscriptions import GAP, Message

__all__ = ["Event", "Source", "channels", "event_of"]

#: where events come from; see ``Client.events``
Source: TypeAlias = Literal["tracked", "log", "worker"]

SOURCES: Final[tuple[Source, ...]] = get_args(Source)

#: the channels of tracked jobs, each named after what has happened
TRACKED: Final = (
    "canceled",
    "completed",
    "failed",
    "popped",
    "put",
    "stalled",
    "track",
    "untrack",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that has happened."""

    #: what: ``popped``, ``completed``, ``lock_lost``, ``config_set``, ...; empty where it is no qless message;
    #: ``gap`` where the connection broke and was made anew, so that some events may have been lost
    name: str
    #: where it comes from; a gap comes from the ``connection``
    source: Source | Literal["connection"]
    #: the job it is about, if any
    jid: str | None
    #: what else was said: ``queue``, ``to``, ``worker``, ``group``, ``message``, ``option``, ``value``
    details: Mapping[str, Any] = field(default_factory=dict)


def channels(keys: Keys, sources: tuple[Source, ...], worker: str) -> list[str]:
    """
    The channels to listen to, as patterns.

    Args:
        sources: all of them if none is named.

    Raises:
        InvalidArgument: there is no such source, or the worker's name is no good.
    """
    for source in sources:
        if source not in SOURCES:
            checks.refuse("sources", source, f"must be among {', '.join(SOURCES)}")
    by_source = {
        "tracked": [keys.channel(name) for name in TRACKED],
        "log": [keys.channel("log")],
        "worker": [keys.worker_channel(checks.name("worker", worker))],
    }
    return [literal(name) for source in sources or SOURCES for name in by_source[source]]


def event_of(keys: Keys, message: Message) -> Event:
    """Read a message; one that makes no sense becomes an event without a name."""
    if message == GAP:
        return Event(name="gap", source="connection", jid=None)
    channel = message.channel.removeprefix(keys.prefix)
    if channel in TRACKED:
        return Event(name=channel, source="tracked", jid=message.data)
    source: Source = "log" if channel == "log" else "worker"
    details = _told(message.data)
    if details is None:
        return Event(name="", source=source, jid=None, details={"data": message.data})
    return Event(
        name=details.pop("event"), source=source, jid=details.pop("jid", None), details=details
    )


def _told(text: str) -> dict[str, Any] | None:
    """What a message tells, by name; None if it is no qless message, since anybody may publish anything."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("event"), str):
        return None
    names = map(told.get, ("jid", "queue", "to"))
    return told if all(isinstance(name, str | None) for name in names) else None
