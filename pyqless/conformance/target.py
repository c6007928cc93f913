# SPDX-License-Identifier: MIT
"""A core as a client on the wire sees it, with a look at what lies in the store."""

from __future__ import annotations

from typing import Any, Self

from pyqless.conformance.protocol import CommandError, Message, Snapshot
from pyqless.core.commands import call
from pyqless.core.replies import Reply
from pyqless.errors import QlessError
from pyqless.storage import Subscription, open_storage
from pyqless.storage.channels import literal

__all__ = ["Target"]


class Target:
    """
    pyqless in reference semantics, on any storage.

    Args:
        url: of the storage.
        options: of the storage, such as ``namespace``.
    """

    #: raised by ``call``
    error = CommandError

    def __init__(self, url: str, **options: Any) -> None:
        self._storage = open_storage(url, **options)
        self._recording: Subscription | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def damaged(self) -> int:
        """How many damaged entries have been passed over so far, on which Lua would have broken down."""
        return self._storage.metrics.damaged

    def call(self, *words: str) -> Reply:
        """
        Send a command as a client on the wire does.

        Args:
            words: the command, the moment, the arguments: text, and any of it missing.

        Returns:
            what the client gets: text, an integer, None or a list; JSON as text.

        Raises:
            CommandError: the command failed.
        """
        try:
            wanted = call(words)
            return wanted.render(self._storage.run(wanted.transition, wanted.now))
        except QlessError as error:
            raise CommandError(str(error) if error.lua is None else error.lua) from error

    def flush(self) -> None:
        """Empty the database, and this one only."""
        self._storage.flush()

    def record(self) -> None:
        """Begin to record messages, from now on."""
        if self._recording is not None:
            self._recording.close()
        self._recording = self._storage.subscribe(literal(self._storage.keys.prefix) + "*")

    def recorded(self) -> list[Message]:
        """The (channel, data) of all messages published since ``record`` or the last call, but pyqless's own."""
        messages = [] if self._recording is None else self._recording.drain()
        own = self._storage.keys.own
        return [(channel, data) for channel, data in messages if not channel.startswith(own)]

    def snapshot(self) -> Snapshot:
        """All keys as ``{key: {"type", "value"}}``, but pyqless's own."""
        return self._storage.dump()

    def close(self) -> None:
        """Let go of the storage."""
        if self._recording is not None:
            self._recording.close()
        self._storage.close()
