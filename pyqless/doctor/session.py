# SPDX-License-Identifier: MIT
"""A connection of the examiner's own, on which error replies are findings, not failures."""

from __future__ import annotations

from typing import Any, Self

from pyqless.core.effects import Command
from pyqless.errors import StoreUnavailable
from pyqless.storage.redis.borrowing import borrow
from pyqless.storage.redis.steps import LinkLost

__all__ = ["Session"]


class Session:
    """
    A connection.

    Args:
        pool: of redis-py.

    Raises:
        StoreUnavailable: there is no connection to be had.
        StoreRefused: the server does not let us in.
    """

    def __init__(self, pool: Any) -> None:
        self._wire = borrow(pool)

    def ask(self, *commands: Command) -> list[Any]:
        """
        Send commands in one packet; an error reply is a ``ServerError``.

        Raises:
            StoreUnavailable: the connection broke, as some proxies' does on a command they do not know.
        """
        try:
            return self._wire.exchange(commands)
        except LinkLost as lost:
            names = " ".join(dict.fromkeys(command[0] for command in commands))
            raise StoreUnavailable(f"the connection broke over {names}: {lost}") from lost

    def ask_one(self, *command: Any) -> Any:
        """Send one command; see ``ask``."""
        return self.ask(command)[0]

    def close(self) -> None:
        """Close the connection, whatever state the server has it in."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
