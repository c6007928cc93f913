# SPDX-License-Identifier: MIT
"""
What a transition reads, its own writes included, as in the Lua core.

What it has read whole (a hash, a list, a set) stays with it as a *live image*:
the object that ``read`` hands out changes with every write staged for its key.
Any other read of a key that has staged writes is patched, or loads the key whole first;
so rules do not read the large sets of a queue after writing to them, but pass values instead.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from operator import itemgetter
from typing import Any, Final

from pyqless.core.effects import Batch, Command, Replies, raise_first
from pyqless.core.images import is_whole, whole_read
from pyqless.core.patching import Patch, patch
from pyqless.core.staging import Staging
from pyqless.errors import StoreCorrupted

__all__ = ["Overlay"]

#: in the place of a reply that is not known; None is one
_MISSING: Final = object()


class Overlay(Staging):
    """
    What is staged, laid over what is read.

    Attributes:
        batched: whether the transition is one of many in this transaction: what is to follow them may then follow once.
    """

    __slots__ = ("_guarded", "_known", "batched")

    def __init__(self) -> None:
        super().__init__()
        self.batched = False
        #: what was read for several transitions at once, and which keys of that were guarded
        self._known: dict[Command, Any] = {}
        self._guarded: set[str] = set()

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
            self._images.keep_whole(reads, replies)
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
                replies.append(images.answer(read))
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
        images, staged = self._images, self._staged_by_key()
        if all(read[1] in images for read in reads):
            return [images.answer(read) for read in reads]
        patches = {
            read: self._patch(read) for read in reads if read[1] in staged and read[1] not in images
        }
        wanted, guards = self._wanted(reads, guarded, patches)
        found: dict[Command, Any] = {}
        if wanted:
            # others of a batch may read on, too
            ends = last and not self.batched
            found |= zip(wanted, (yield Batch(wanted, guards, ends)), strict=True)
        return [self._reply(read, patches.get(read), found) for read in reads]

    def _wanted(
        self, reads: tuple[Command, ...], guarded: int, patches: dict[Command, Patch]
    ) -> tuple[tuple[Command, ...], int]:
        """What has to be read of the store, and how much of it, from the first on, is guarded."""
        wanted: dict[Command, None] = {}
        guards = 0
        for position, read in enumerate(reads):
            if read in patches:
                needs = patches[read].reads
            else:
                needs = () if read[1] in self._images else (read,)
            is_open = position < guarded and read[1] not in self._guarded
            for needed in needs:
                if is_open or needed not in self._known:
                    wanted[needed] = None
            if position < guarded:
                guards = len(wanted)
        return tuple(wanted), guards

    def _patch(self, read: Command) -> Patch:
        """How to answer a read of a key that has staged writes, but no image."""
        writes = self._staged[read[1]]
        patched = None if is_whole(read) else patch(read, writes)
        return patched or Patch((whole_read(read, writes[-1][0]),), itemgetter(0), whole=True)

    def _reply(self, read: Command, patched: Patch | None, found: dict[Command, Any]) -> Any:
        images, known = self._images, self._known
        if read[1] in images:
            return images.answer(read)
        if patched is None:
            reply = found[read] if read in found else known[read]
            is_image = is_whole(read) and type(reply) is not StoreCorrupted
            return images.keep(read, reply) if is_image else reply
        replies = [found[each] if each in found else known[each] for each in patched.reads]
        fault = next((reply for reply in replies if type(reply) is StoreCorrupted), None)
        if fault is not None:
            return fault
        if patched.whole:
            images.keep(patched.reads[0], replies[0], self._staged[read[1]])
            return images.answer(read)
        return patched.answer(replies)

    def rewind(self, number: int) -> set[str]:
        """See ``Staging.rewind``; a reply that has become an image was changed with it, and is read anew."""
        changed = super().rewind(number)
        self._known = {read: reply for read, reply in self._known.items() if read[1] not in changed}
        return changed
