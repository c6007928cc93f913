# SPDX-License-Identifier: MIT
"""Names that nobody knows: whoever asks for one has mistyped it, more often than not, and is told so."""

from __future__ import annotations

from pyqless.client import Client
from pyqless.errors import RequestError

__all__ = ["is_queue", "require_group", "require_queue"]


def is_queue(client: Client, name: str) -> bool:
    """Whether a queue is known, empty or not."""
    return name in {counts.name for counts in client.queues.counts()}


def require_queue(client: Client, name: str) -> None:
    """
    Go on if a queue is known.

    Raises:
        RequestError: it is not.
    """
    if not is_queue(client, name):
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
