# SPDX-License-Identifier: MIT
"""Images of keys: what a key held when it was read whole, and what staged writes have made of that."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from pyqless.core.effects import Command, Replies
from pyqless.core.keyspace import READS, WRITES, Image, WrongType
from pyqless.core.sortedset import SortedSet
from pyqless.errors import StoreCorrupted

__all__ = ["Images", "apply", "image_of", "is_whole", "whole_read"]

#: the reads whose replies can serve as images, and what these are; sorted sets, which can be large, are left out
_KINDS: Final[dict[str, type[dict[str, str] | deque[str] | set[str]]]] = {
    "HGETALL": dict,
    "LRANGE": deque,
    "SMEMBERS": set,
}

#: The read that fetches a key whole, by the first letter of any command on a key of that type.
_WHOLE_READ: Final[dict[str, tuple[Any, ...]]] = {
    "H": ("HGETALL",),
    "L": ("LRANGE", 0, -1),
    "R": ("LRANGE", 0, -1),
    "S": ("SMEMBERS",),
    "Z": ("ZRANGE", 0, -1, "WITHSCORES"),
}


def is_whole(read: Command) -> bool:
    """Whether the reply to a read can serve as an image."""
    return read[0] in _KINDS and (read[0] != "LRANGE" or read[2:] == (0, -1))


def whole_read(read: Command, staged: str) -> Command:
    """
    The read that fetches the key of a read whole.

    Args:
        staged: the name of a write to the key.
    """
    family = read[0][0] if staged == "DEL" else staged[0]
    name, *arguments = _WHOLE_READ[family]
    return (name, read[1], *arguments)


def image_of(name: str, reply: Any) -> Image:
    """
    Rebuild the value of a key from what a read of the whole key gave.

    Args:
        name: HGETALL, LRANGE, SMEMBERS, or ZRANGE with scores.
        reply: in the form of ``READS``; it may become the image.
    """
    kind = _KINDS.get(name, SortedSet)
    return reply if type(reply) is kind else kind(reply)


def apply(image: Image, write: Command) -> None:
    """Let an image change with a write to its key."""
    value, _ = WRITES[write[0]](image, *write[2:])
    if value is None:
        image.clear()


class Images(dict[str, Image]):
    """Images by their keys."""

    __slots__ = ()

    def keep(self, read: Command, reply: Any, writes: Iterable[Command] = ()) -> Image:
        """
        Make the image of a key.

        Args:
            read: of the whole key.
            writes: what is staged for it.
        """
        image = self[read[1]] = image_of(read[0], reply)
        for write in writes:
            apply(image, write)
        return image

    def keep_whole(self, reads: Iterable[Command], replies: Replies) -> None:
        """Put images in the place of replies to reads of whole keys, for which nothing is staged."""
        for index, read in enumerate(reads):
            if read[0] in _KINDS and (read[0] != "LRANGE" or read[2:] == (0, -1)):
                reply = replies[index]
                if read[1] in self:
                    replies[index] = self.answer(read)
                elif type(reply) is not StoreCorrupted:
                    replies[index] = self[read[1]] = image_of(read[0], reply)

    def answer(self, read: Command) -> Any:
        """Answer a read of a key that has an image."""
        image = self[read[1]]
        if is_whole(read):
            kind = _KINDS[read[0]]
            if type(image) is kind:
                return image
            if not image:  # of a key that is not there any type will do
                image = self[read[1]] = kind()
                return image
        try:
            return READS[read[0]](image or None, *read[2:])
        except WrongType as error:
            return StoreCorrupted(str(error), argument=read[1], value=read[0])
