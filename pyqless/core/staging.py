# SPDX-License-Identifier: MIT
"""What a transition stages: writes and messages, in order, with the images of keys that change with them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from pyqless.core.effects import Command
from pyqless.core.images import Images, apply
from pyqless.core.keyspace import Image
from pyqless.core.merging import merge

__all__ = ["Staging"]

#: from how many writes on, and how many to one key, it pays to look for such as can be made together
_MANY: Final = 48
_SEVERAL: Final = 4


class Staging:
    """
    What is staged.

    Attributes:
        writes: the writes and messages, in order.
    """

    __slots__ = ("_images", "_indexed", "_staged", "writes")

    def __init__(self) -> None:
        self.writes: list[Command] = []
        #: the writes by their keys, the first so many of them
        self._staged: dict[str, list[Command]] = {}
        self._indexed = 0
        #: what keys that were read whole hold
        self._images = Images()

    # -- writes -----------------------------------------------------------------------------

    def _stage(self, write: Command) -> None:
        self.writes.append(write)
        image = self._images.get(write[1])
        if image is not None:
            apply(image, write)

    def hset(self, key: str, *pairs: str) -> None:
        """Set fields of a hash: field, text, field, text, ..."""
        self._stage(("HSET", key, *pairs))

    def hdel(self, key: str, *fields: str) -> None:
        """Remove fields of a hash."""
        self._stage(("HDEL", key, *fields))

    def hincrby(self, key: str, field: str, increment: int) -> None:
        """Add to a field that holds a whole number."""
        self._stage(("HINCRBY", key, field, increment))

    def delete(self, key: str) -> None:
        """Remove a key of any type."""
        self._stage(("DEL", key))

    def zadd(self, key: str, score: float, member: str) -> None:
        """Put a member into a sorted set, or move it to another score."""
        self._stage(("ZADD", key, score, member))

    def zadd_new(self, key: str, score: float, member: str) -> None:
        """Put a member into a sorted set unless it is there."""
        self._stage(("ZADD", key, "NX", score, member))

    def zadd_existing(self, key: str, score: float, member: str) -> None:
        """Move a member of a sorted set to another score if it is there."""
        self._stage(("ZADD", key, "XX", score, member))

    def zincrby(self, key: str, increment: float, member: str) -> None:
        """Add to a member's score."""
        self._stage(("ZINCRBY", key, increment, member))

    def zrem(self, key: str, *members: str) -> None:
        """Remove members of a sorted set."""
        self._stage(("ZREM", key, *members))

    def zremrangebyscore(self, key: str, lowest: float, highest: float) -> None:
        """Remove the members whose scores lie in a range, both ends included."""
        self._stage(("ZREMRANGEBYSCORE", key, lowest, highest))

    def lpush(self, key: str, value: str) -> None:
        """Put a value before the head of a list."""
        self._stage(("LPUSH", key, value))

    def rpush(self, key: str, *values: str) -> None:
        """Put values behind the tail of a list."""
        self._stage(("RPUSH", key, *values))

    def lpop(self, key: str) -> None:
        """Remove the head of a list."""
        self._stage(("LPOP", key))

    def ltrim(self, key: str, start: int, stop: int) -> None:
        """Keep only the given range of a list."""
        self._stage(("LTRIM", key, start, stop))

    def lrem(self, key: str, value: str) -> None:
        """Remove every occurrence of a value from a list."""
        self._stage(("LREM", key, 0, value))

    def sadd(self, key: str, *members: str) -> None:
        """Put members into a set."""
        self._stage(("SADD", key, *members))

    def srem(self, key: str, *members: str) -> None:
        """Remove members of a set."""
        self._stage(("SREM", key, *members))

    def publish(self, channel: str, message: str) -> None:
        """Send a message, at the commit."""
        self.writes.append(("PUBLISH", channel, message))

    def drop_writes(self) -> None:
        """Let go of all that was staged: the transition was only to show what it would do."""
        self.writes.clear()
        self._staged.clear()
        self._indexed = 0

    def rewind(self, number: int) -> set[str]:
        """
        Let go of all writes and messages but the first so many, as if the others had never been staged.

        Returns:
            set: the keys that had images which had changed; these are gone, too.
        """
        staged = self._staged_by_key()
        undone = [write[1] for write in self.writes[number:] if _is_to_key(write)]
        del self.writes[number:]
        self._indexed = number
        changed = set()
        for key in undone:
            staged[key].pop()
            if not staged[key]:
                del staged[key]
            if self._images.pop(key, None) is not None:
                changed.add(key)
        return changed

    def staged(self, key: str) -> Sequence[Command]:
        """The writes to a key so far."""
        return self._staged_by_key().get(key, ())

    def _staged_by_key(self) -> dict[str, list[Command]]:
        """The writes by their keys; most transitions never ask."""
        staged, writes = self._staged, self.writes
        for write in writes[self._indexed :]:
            if _is_to_key(write):
                staged.setdefault(write[1], []).append(write)
        self._indexed = len(writes)
        return staged

    # -- what is to be committed ------------------------------------------------------------
    #
    # Within a commit only the order of the writes to one key counts, and that of the messages. For a storage that
    # holds values of the same kind as images, ``blind`` and ``changed`` together are as good as ``merged``.

    @property
    def merged(self) -> list[Command]:
        """The writes and the messages, with fewer commands where there are many."""
        return self._merged({}) if len(self.writes) >= _MANY else self.writes

    @property
    def blind(self) -> list[Command]:
        """As ``merged``, less the writes to keys that have an image."""
        images = self._images
        if len(self.writes) >= _MANY:
            return self._merged(images)
        return [write for write in self.writes if write[1] not in images or not _is_to_key(write)]

    @property
    def changed(self) -> dict[str, Image]:
        """What the images of the others have become."""
        images = self._images
        return {key: images[key] for key in self._staged_by_key() if key in images}

    def _merged(self, apart: Container[str]) -> list[Command]:
        """All with fewer commands, but for the writes to some keys."""
        merged: list[Command] = []
        for key, writes in self._staged_by_key().items():
            if key not in apart:
                merged += writes if len(writes) < _SEVERAL else merge(writes)
        merged += [write for write in self.writes if not _is_to_key(write)]
        return merged


def _is_to_key(write: Command) -> bool:
    """Whether a write is no message; a channel may have the name of a key, as ``ql:completed`` has."""
    return bool(write[0] != "PUBLISH")
