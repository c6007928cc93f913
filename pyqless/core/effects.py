# SPDX-License-Identifier: MIT
"""What a transition yields, what it is given back, and how it may end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from pyqless.errors import StoreCorrupted

if TYPE_CHECKING:
    from pyqless.core.transaction import Transaction

__all__ = [
    "Ahead",
    "Batch",
    "Command",
    "Continue",
    "Factory",
    "FollowedBy",
    "Replies",
    "Transition",
    "key_of",
    "raise_first",
]

T = TypeVar("T")

#: ``(name, key, *arguments)`` of the small command set of ``pyqless.core.keyspace``.
#: Text is ``str``; bytes that are no UTF-8 are carried as surrogate escapes. Scores are floats.
Command: TypeAlias = tuple[Any, ...]

#: One reply a read, in its order, in the forms that ``pyqless.core.keyspace`` gives.
#: Where a key is of another type than the read wants, its reply is a ``StoreCorrupted``.
Replies: TypeAlias = list[Any]


def raise_first(replies: Replies) -> None:
    """Raise the first fault that stands in the place of a reply."""
    if StoreCorrupted in map(type, replies):
        raise next(reply for reply in replies if type(reply) is StoreCorrupted)


#: the key of a command
key_of: Final = itemgetter(1)


class Batch(NamedTuple):
    """Reads that go to the store together, after their guards."""

    #: carried out in this order, not at one instant
    reads: Sequence[Command]
    #: how many of them, from the first on, are guarded: what they see must still hold at the commit
    guarded: int = 0
    #: a hint that no further batch will follow, so that a driver may open the commit with it.
    #: A driver takes a further batch all the same, at the price of repeating the guarded reads.
    last: bool = False
    #: the reads see one instant; such a batch has no guards
    snapshot: bool = False
    #: a hint that many want what is read here, and all but one in vain: a driver that can may wait for its turn
    #: before it reads, until when it has committed nobody else who waits does. See ``Keys.turn``
    turn: str | None = None

    def with_more(self, *reads: Command) -> Batch:
        """The same with further reads behind them."""
        return Batch((*self.reads, *reads), self.guarded, self.last, self.snapshot)

    @property
    def guards(self) -> list[str]:
        """The keys of the guarded reads, each once."""
        return list(dict.fromkeys(map(key_of, self.reads[: self.guarded])))


class Ahead(NamedTuple):
    """
    What the next transition on the same connection will probably read.

    A driver may read it together with the commit, under guards of which it is the master:
    to a rule it makes no difference but in speed.
    """

    #: what is guessed about, such as a queue: guesses about one topic are right or wrong together
    topic: str
    #: as it will ask for them; in another order they are found, too, but not so fast
    reads: tuple[Command, ...] = ()
    #: the keys that are not guarded: what is read of them may be a little older than the rest
    aging: Collection[str] = ()

    @property
    def guards(self) -> list[str]:
        """The keys that are guarded from then on, each once."""
        keys = dict.fromkeys(map(key_of, self.reads))
        for key in self.aging:
            keys.pop(key, None)
        return list(keys)


#: A rule: yields batches, ends with its value; its writes lie in the transaction.
Transition: TypeAlias = Generator[Batch, Replies, T]

#: Begins a transition afresh; a driver calls it once an attempt.
Factory: TypeAlias = Callable[["Transaction"], Transition[T]]


class Continue(NamedTuple):
    """
    The end of a link of a chain: the driver commits it, then runs ``rest`` at the same moment.

    The value of the chain is that of its last link. Each link is right by itself.
    """

    rest: Factory[Any]


class FollowedBy(NamedTuple):
    """
    A value, and housekeeping that another transaction should do after this one is committed.

    A fault in ``rest`` does not touch the value: what it leaves undone, a later call finds and does.
    """

    value: Any
    rest: Factory[Any]
