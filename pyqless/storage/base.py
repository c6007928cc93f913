# SPDX-License-Identifier: MIT
"""
The seam between rules and stores.

What every storage promises
    One call of ``run`` is one transition: what it staged is applied all or not at all (a transition that ends
    in ``Continue`` or ``FollowedBy`` is a chain of such calls). What a guarded read saw still held when it
    was applied. A batch is read in order, after its guards, not at one instant, unless it is a snapshot.
    After a conflict the transition starts afresh; after too many, or too long a time, ``ConflictError``.
    A call that raises has changed nothing, with two exceptions that say so: ``OutcomeUnknown``, and
    ``StoreCorrupted`` where a key of ours turned out to be of another type in the middle of a commit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from pyqless.core.effects import Command, Factory, Transition
from pyqless.core.transaction import Transaction
from pyqless.storage.described import Described
from pyqless.storage.parts import Part, packets
from pyqless.storage.subscriptions import AsyncSubscription, Subscription

__all__ = ["AsyncStorage", "Storage"]

T = TypeVar("T")


class Storage(Described, ABC):
    """A store that blocks. Threads may share one."""

    @abstractmethod
    def run(self, transition: Factory[T], now: float | None = None) -> T:
        """
        Carry out a transition.

        Args:
            transition: begins it; called once an attempt.
            now: the moment, Unix time in seconds; the clock's at each attempt unless given.

        Returns:
            the value of the transition; of a chain, what the chain says it is.

        Raises:
            QlessError: what the transition raises, or why it could not be carried out.
            ClientClosed: this was closed.
        """

    @abstractmethod
    def subscribe(self, *channels: str) -> Subscription:
        """
        Listen to channels.

        Args:
            channels: patterns, in which ``*`` stands for any text and ``?`` for any character; a character in brackets
                stands for itself, see ``channels.literal``.
        """

    @abstractmethod
    def dump(self) -> dict[str, dict[str, Any]]:
        """All keys but pyqless's own, each with its ``type`` and ``value``; for tests and small stores."""

    #: whether ``scan`` shows what was there at one instant; else what changes meanwhile may show or not
    scans_one_instant: ClassVar[bool] = True

    @abstractmethod
    def scan(self) -> Generator[Part, None, None]:
        """
        All keys of the namespace but pyqless's own, each once, in the order of ``pyqless.storage.parts``.

        Large keys come in parts, so that little of the store is held at once.
        Others may have to wait until the scan is finished or closed.

        Raises:
            StoreCorrupted: a key is of a type that no storage here has.
        """

    def restore(self, parts: Iterable[Part]) -> None:
        """
        Add parts to what is there, in transactions of some size each.

        Fields and members that are there already take the new texts and scores; lists grow.
        A string is staged as the write SET, which no rule uses and every storage must know.

        Raises:
            StoreCorrupted: a key is of another type.
            StorageError: the store is at fault; some of the parts may be there.
        """
        for packet in packets(parts):
            self.run(_writing(packet))

    @abstractmethod
    def clear(self) -> None:
        """Delete the keys of the namespace, pyqless's own included, in transactions of some size each."""

    @abstractmethod
    def flush(self) -> None:
        """Delete everything in the database, whosever it is."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections; the storage is of no use afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.close()


def _writing(commands: list[Command]) -> Factory[None]:
    def transition(tx: Transaction) -> Transition[None]:
        tx.writes += commands
        return
        yield

    return transition


class AsyncStorage(Described, ABC):
    """
    A store for asyncio. The tasks of one loop may share one.

    It has no ``scan`` and no ``restore``: who moves all that is in a store does so by one that blocks, on the same URL.
    """

    @abstractmethod
    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """As ``Storage.run``."""

    @abstractmethod
    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """As ``Storage.subscribe``."""

    @abstractmethod
    async def dump(self) -> dict[str, dict[str, Any]]:
        """As ``Storage.dump``."""

    @abstractmethod
    async def clear(self) -> None:
        """As ``Storage.clear``."""

    @abstractmethod
    async def flush(self) -> None:
        """As ``Storage.flush``."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections; the storage is of no use afterwards."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
