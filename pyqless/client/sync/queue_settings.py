# SPDX-License-Identifier: MIT
"""The settings of a queue, for the client that blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyqless.client.checks import Span
from pyqless.client.requests import settings
from pyqless.client.views import QueueView

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["QueueSettings"]


class QueueSettings(QueueView["Client"]):
    """What is set for a queue; assigned it counts for all clients of the storage, deleted it is usual again."""

    __slots__ = ()

    client: Client

    def _set(self, name: str, value: Span, unset: str) -> None:
        self.client.storage.run(settings.set_(name, value, unset))

    @property
    def heartbeat(self) -> float | None:
        """
        For how many seconds a lock holds here; None where the setting ``heartbeat`` counts.

        Seconds, or a timedelta, may be assigned.
        """
        return self.client.storage.run(settings.get_number(self.heartbeat_setting))

    @heartbeat.setter
    def heartbeat(self, seconds: Span) -> None:
        self._set(self.heartbeat_setting, seconds, "del queue.heartbeat")

    @heartbeat.deleter
    def heartbeat(self) -> None:
        self.client.config.unset(self.heartbeat_setting)

    @property
    def max_concurrency(self) -> int | None:
        """How many jobs may run at once; 0 and None: any number."""
        return self.client.storage.run(settings.get_whole(self.max_concurrency_setting))

    @max_concurrency.setter
    def max_concurrency(self, jobs: int) -> None:
        self._set(self.max_concurrency_setting, jobs, "del queue.max_concurrency")

    @max_concurrency.deleter
    def max_concurrency(self) -> None:
        self.client.config.unset(self.max_concurrency_setting)

    @property
    def max_waiting(self) -> int | None:
        """
        How many jobs may wait before ``put`` raises ``QueueFull``, in every client of pyqless; None: any number.

        With 0 nothing is taken in. Only ``put`` is refused: jobs that come back, go on or recur come in all the same.
        """
        return self.client.storage.run(settings.get_whole(self.max_waiting_setting))

    @max_waiting.setter
    def max_waiting(self, jobs: int) -> None:
        self._set(self.max_waiting_setting, jobs, "del queue.max_waiting")

    @max_waiting.deleter
    def max_waiting(self) -> None:
        self.client.config.unset(self.max_waiting_setting)
