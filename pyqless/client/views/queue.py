# SPDX-License-Identifier: MIT
"""What a queue shows: its name, and those of its settings."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from pyqless.client.caller import Caller
from pyqless.core import limits

__all__ = ["NamedQueue", "QueueView"]

C = TypeVar("C", bound=Caller[Any])


class NamedQueue(Protocol):
    """What requests have to know of a queue."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def client(self) -> Any:
        """Who asks."""


class QueueView(Generic[C]):
    """
    A queue's name, and who asks.

    Attributes:
        name: of the queue.
    """

    __slots__ = ("client", "name")

    def __init__(self, client: C, name: str) -> None:
        self.client = client
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def heartbeat_setting(self) -> str:
        """The setting that says for how many seconds a lock holds here."""
        return f"{self.name}-heartbeat"

    @property
    def max_concurrency_setting(self) -> str:
        """The setting that says how many jobs may run here at once."""
        return f"{self.name}-max-concurrency"

    @property
    def max_waiting_setting(self) -> str:
        """The setting that says how many jobs may wait here."""
        return limits.setting_of(self.name)
