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

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from types import TracebackType
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeVar

from pyqless.core.effects import Command, Factory, Transition
from pyqless.core.keys import Keys
from pyqless.core.transaction import Transaction
from pyqless.storage.metrics import Metrics
from pyqless.storage.parts import Part, packets

__all__ = [
    "GAP",
    "AsyncStorage",
    "AsyncSubscription",
    "Clock",
    "Message",
    "Storage",
    "Subscription",
]

T = TypeVar("T")

#: gives the moment, Unix time in seconds
Clock = Callable[[], float]

logger = logging.getLogger("pyqless")


class Message(NamedTuple):
    """What was published."""

    channel: str
    data: str


#: stands among the messages where the connection broke and was made anew: some may have been lost
GAP: Final = Message("", "")


class Subscription(ABC):
    """Messages of some channels, from the moment of subscribing on; any thread may close one."""

    @abstractmethod
    def get(self, timeout: float | None = None) -> Message | None:
        """The next message; None if there is none within ``timeout`` seconds (None: wait for ever)."""

    @abstractmethod
    def drain(self) -> list[Message]:
        """All messages that were published before this call and not taken yet."""

    @abstractmethod
    def close(self) -> None:
        """End the subscription."""

    def __iter__(self) -> Iterator[Message]:
        """The messages as they come, until the subscription is closed."""
        while (message := self.get()) is not None:
            yield message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Hints(dict[Any, Any]):
    """What transitions note for later ones; all is forgotten where it becomes too much, as with ever new queues."""

    #: how many there may be
    MANY: ClassVar[int] = 10_000

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self) >= self.MANY and key not in self:
            self.clear()
        super().__setitem__(key, value)


class Described:
    """What a storage is, whether it blocks or not."""

    def __init__(self, url: str, namespace: str, clock: Clock) -> None:
        #: without its password
        self.url = url
        self.keys = Keys(namespace)
        self.clock = clock
        self.metrics = Metrics()
        #: hints that transitions leave for later ones
        self.memory: dict[Any, Any] = Hints()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url} namespace={self.keys.namespace!r}>"

    def committed(self, tx: Transaction) -> None:
        """Count a commit, and tell of the faults that the transition passed over."""
        self.metrics.commits += 1
        for fault in tx.reports:
            self.metrics.damaged += 1
            logger.warning("passed over damaged data: %s", fault)


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


class AsyncSubscription(ABC):
    """As ``Subscription``, for asyncio."""

    @abstractmethod
    async def get(self, timeout: float | None = None) -> Message | None:
        """The next message; None if there is none within ``timeout`` seconds."""

    @abstractmethod
    async def close(self) -> None:
        """End the subscription."""

    async def __aiter__(self) -> AsyncIterator[Message]:
        """The messages as they come, until the subscription is closed."""
        while (message := await self.get()) is not None:
            yield message

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncStorage(Described, ABC):
    """A store for asyncio. The tasks of one loop may share one."""

    @abstractmethod
    async def run(self, transition: Factory[T], now: float | None = None) -> T:
        """As ``Storage.run``."""

    @abstractmethod
    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """As ``Storage.subscribe``."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections; the storage is of no use afterwards."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
