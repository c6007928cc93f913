# SPDX-License-Identifier: MIT
"""Events, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self

from pyqless.client.events import Event, event_of
from pyqless.storage import Storage

__all__ = ["Events"]


class Events:
    """
    What happens, from the moment this was made on.

    Iteration waits for each event, and ends when another thread closes it.
    """

    def __init__(self, storage: Storage, channels: Iterable[str]) -> None:
        self._keys = storage.keys
        self._messages = storage.subscribe(*channels)

    def get(self, timeout: float | None = None) -> Event | None:
        """
        Wait for the next event.

        Args:
            timeout: seconds to wait at most; None: for ever.

        Returns:
            Event: or None if there was none in time, or this is closed.
        """
        message = self._messages.get(timeout)
        return None if message is None else event_of(self._keys, message)

    def __iter__(self) -> Iterator[Event]:
        while (event := self.get()) is not None:
            yield event

    def close(self) -> None:
        """Listen no longer."""
        self._messages.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
