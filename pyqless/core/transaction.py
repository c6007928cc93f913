# SPDX-License-Identifier: MIT
"""
One attempt at a transition: its moment, its guards, its staged writes, and the overlay.

The overlay makes a transition read its own writes, as the Lua core does.
What a transition has read whole (a hash, a list, a set) stays with it as a *live image*:
the object that ``read`` hands out changes with every write staged for its key.
Any other read of a key that has staged writes loads the key whole first;
so rules do not read the large sets of a queue after writing to them, but pass values instead.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from operator import itemgetter
from typing import Any, Final

from pyqless.core.effects import Ahead, Batch, Command, Replies
from pyqless.core.images import KINDS, apply, image_of, is_whole, whole_read
from pyqless.core.keys import Keys
from pyqless.core.keyspace import READS, Image, WrongType
from pyqless.core.patching import Patch, patch
from pyqless.core.staging import Staging
from pyqless.errors import StoreCorrupted

__all__ = ["LOOKS", "Stale", "Transaction", "raise_first"]

#: how many entries of lists the store should go through for one transaction at most: to strike one off, it goes
#: through all of them
LOOKS: Final = 128_000

#: in the place of a reply that is not known; None is one
_MISSING: Final = object()


class Stale(Exception):
    """What was read without a guard no longer holds: the attempt starts afresh, as after a conflict."""


class Transaction(Staging):
    """
    What a transition works on.

    Args:
        now: the moment of the call, Unix time in seconds; finite.
        keys: the key map of the namespace.
        attempt: how many attempts at the transition have met a conflict before this one.
        memory: what earlier transitions of the same storage have noted for later ones: hints, no facts;
            None where nobody can come between.
        chance: from 0 up to 1, by which a rule may choose among equals.
        takes_turns: whether a batch may wait for its turn.
    """

    __slots__ = (
        "_guarded",
        "_known",
        "ahead",
        "attempt",
        "batched",
        "beside",
        "chance",
        "foresees",
        "gathers",
        "grows",
        "keys",
        "lengths",
        "looks",
        "memory",
        "now",
        "reports",
        "samples",
        "takes_turns",
    )

    def __init__(
        self,
        now: float,
        keys: Keys,
        attempt: int = 0,
        memory: dict[Any, Any] | None = None,
        chance: float = 0.0,
        *,
        takes_turns: bool = False,
    ) -> None:
        super().__init__()
        self.now = now
        self.chance = chance
        self.keys = keys
        self.attempt = attempt
        self.memory = memory
        self.takes_turns = takes_turns
        #: whether the transition is one of many in this transaction: what is to follow them may then follow once
        self.batched = False
        #: what is read at their beginning, too, only to be known
        self.beside: dict[Command, None] = {}
        #: how many entries the store goes through for what is staged, of how long lists, as far as that is counted
        self.looks = 0
        self.lengths: dict[str, int] = {}
        #: whether it brings in new work, which a store that is nearly full had better not take
        self.grows = False
        #: whether to foresee what the next transition will read: not where others follow in the same transaction
        self.foresees = memory is not None
        #: what that is, probably
        self.ahead: Ahead | None = None
        #: faults found in single entries and passed over; storages log and count them at the commit
        self.reports: list[StoreCorrupted] = []
        #: whether samples of times are gathered, to be entered together, and those that are, each with its ``Sampler``
        self.gathers = False
        self.samples: list[tuple[Any, float]] = []
        #: what was read for several transitions at once, and which keys of that were guarded
        self._known: dict[Command, Any] = {}
        self._guarded: set[str] = set()

    # -- reading ----------------------------------------------------------------------------

    def read(
        self,
        *guarded: Command,
        free: Sequence[Command] = (),
        last: bool = False,
        tolerant: bool = False,
        turn: str | None = None,
    ) -> Generator[Batch, Replies, Replies]:
        """
        Read from the store, through the overlay.

        Args:
            guarded: reads, and what they see must still hold at the commit. Whole reads of hashes,
                lists and sets give live images. A key that is guarded at all is guarded when it is
                first read.
            free: reads behind them of which that is not asked.
            last: probably no further batch will be needed.
            tolerant: leave a ``StoreCorrupted`` in the place of a reply instead of raising it.
            turn: what to wait for first, see ``Batch``.

        Returns:
            the replies to both, in order.

        Raises:
            StoreCorrupted: a key holds another type than its read wants.
        """
        reads = (*guarded, *free)
        if self._has_part_in(reads):
            replies = yield from self._read_through(reads, len(guarded), last=last)
        else:
            # others of a batch may read on, too
            ends = last and not (self.batched and self._known)
            replies = yield Batch(reads, len(guarded), ends, turn=turn)
            self._remember(reads, replies)
        if not tolerant:
            raise_first(replies)
        return replies

    def snapshot(
        self, *reads: Command, tolerant: bool = False
    ) -> Generator[Batch, Replies, Replies]:
        """Read at one instant, past the overlay, without guards: for views, which stage nothing first."""
        replies = yield Batch(reads, snapshot=True)
        if not tolerant:
            raise_first(replies)
        return replies

    def foresee(self, topic: str, *reads: Command, aging: Collection[str] = ()) -> None:
        """
        Name what the next transition on the same connection will probably read; the last word counts.

        Args:
            topic, reads, aging: see ``Ahead``.
        """
        self.ahead = Ahead(topic, reads, aging)

    def preload(
        self,
        *guarded: Command,
        free: Sequence[Command] = (),
        last: bool = True,
        turn: str | None = None,
    ) -> Generator[Batch, Replies, None]:
        """
        Read for transitions that are to run one after the other on this transaction, at its beginning.

        What they ask for is answered with it, where it is the same, and a read that they guard was guarded.
        """
        reads = (*guarded, *free)
        replies = yield Batch(reads, len(guarded), last, turn=turn)
        self._known = dict(zip(reads, replies, strict=True))
        self._guarded = {read[1] for read in guarded}

    def recall(self, batch: Batch) -> Generator[Batch, Replies, Replies]:
        """Answer a batch that was read at the beginning, with what is staged since."""
        images, staged, known = self._images, self._staged_by_key(), self._known
        replies = []
        for read in batch.reads:
            if read[1] in images:
                replies.append(self._answer(read))
            elif read[1] not in staged and (reply := known.get(read, _MISSING)) is not _MISSING:
                replies.append(reply)
            else:
                return (yield from self._read_through((*batch.reads,), batch.guarded, last=False))
        return replies

    def known(self, read: Command, default: Any = None) -> Any:
        """What was read at the beginning, for several transitions; the default if that was not read."""
        return self._known.get(read, default)

    def image(self, key: str) -> dict[str, str] | None:
        """The live image of a hash, if there is one."""
        image = self._images.get(key)
        return image if type(image) is dict else None

    def _has_part_in(self, reads: Sequence[Command]) -> bool:
        """Whether replies may lie here, or the store's be incomplete."""
        if not (self.writes or self._images or self._known):
            return False
        images, staged, known = self._images, self._staged_by_key(), self._known
        return any(read[1] in images or read[1] in staged or read in known for read in reads)

    def _read_through(
        self, reads: tuple[Command, ...], guarded: int, *, last: bool
    ) -> Generator[Batch, Replies, Replies]:
        images = self._images
        if all(read[1] in images for read in reads):
            return [self._answer(read) for read in reads]
        patches: dict[Command, Patch] = {}
        wanted: dict[Command, None] = {}
        staged = self._staged_by_key()
        guards = 0
        for position, read in enumerate(reads):
            key = read[1]
            if key in images:
                needs: tuple[Command, ...] = ()
            elif key in staged:
                patches[read] = self._patch(read)
                needs = patches[read].reads
            else:
                needs = (read,)
            for needed in needs:
                if needed not in self._known or (position < guarded and key not in self._guarded):
                    wanted[needed] = None
            if position < guarded:
                guards = len(wanted)
        found: dict[Command, Any] = {}
        if wanted:
            # others of a batch may read on, too
            ends = last and not self.batched
            found |= zip(wanted, (yield Batch(tuple(wanted), guards, ends)), strict=True)
        return [self._reply(read, patches.get(read), found) for read in reads]

    def _patch(self, read: Command) -> Patch:
        """How to answer a read of a key that has staged writes, but no image."""
        writes = self._staged[read[1]]
        patched = None if is_whole(read) else patch(read, writes)
        return patched or Patch((whole_read(read, writes[-1][0]),), itemgetter(0), whole=True)

    def _reply(self, read: Command, patched: Patch | None, found: dict[Command, Any]) -> Any:
        if read[1] in self._images:
            return self._answer(read)
        if patched is None:
            reply = found[read] if read in found else self._known[read]
            is_image = is_whole(read) and type(reply) is not StoreCorrupted
            return self._image(read, reply) if is_image else reply
        replies = [
            found[needed] if needed in found else self._known[needed] for needed in patched.reads
        ]
        fault = next((reply for reply in replies if type(reply) is StoreCorrupted), None)
        if fault is not None:
            return fault
        if patched.whole:
            self._image(patched.reads[0], replies[0])
            return self._answer(read)
        return patched.answer(replies)

    def _remember(self, reads: tuple[Command, ...], replies: Replies) -> None:
        """Make images of what was read whole, where nothing is staged yet."""
        images = self._images
        for index, read in enumerate(reads):
            if read[0] in KINDS and (read[0] != "LRANGE" or read[2:] == (0, -1)):
                reply = replies[index]
                if read[1] in images:
                    replies[index] = self._answer(read)
                elif type(reply) is not StoreCorrupted:
                    replies[index] = images[read[1]] = image_of(read[0], reply)

    def _image(self, read: Command, reply: Any) -> Image:
        """Make an image of a key that has none, with what is staged."""
        image = self._images[read[1]] = image_of(read[0], reply)
        for write in self._staged.get(read[1], ()):
            apply(image, write)
        return image

    def _answer(self, read: Command) -> Any:
        """Answer from the image of a key."""
        image = self._images[read[1]]
        if is_whole(read):
            kind = KINDS[read[0]]
            if type(image) is kind:
                return image
            if not image:  # of a key that is not there any type will do
                image = self._images[read[1]] = kind()
                return image
        try:
            return READS[read[0]](image or None, *read[2:])
        except WrongType as error:
            return StoreCorrupted(str(error), argument=read[1], value=read[0])

    def rewind(self, number: int) -> set[str]:
        """See ``Staging.rewind``; a reply that has become an image was changed with it, and is read anew."""
        changed = super().rewind(number)
        self._known = {read: reply for read, reply in self._known.items() if read[1] not in changed}
        return changed


def raise_first(replies: Replies) -> None:
    """Raise the first fault that stands in the place of a reply."""
    if StoreCorrupted in map(type, replies):
        raise next(reply for reply in replies if type(reply) is StoreCorrupted)
