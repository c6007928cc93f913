# SPDX-License-Identifier: MIT
"""Values as they lie in the file: kinds by number, text as bytes, small values as MessagePack."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import chain
from typing import Any, Final

import msgpack

from pyqless.core.keyspace import Value
from pyqless.core.sortedset import SortedSet
from pyqless.errors import StoreCorrupted

__all__ = [
    "HASH",
    "KINDS",
    "LIST",
    "NAMES",
    "SET",
    "SORTED_SET",
    "STRING",
    "Packer",
    "text_of",
    "unpack",
]

HASH: Final = 1
LIST: Final = 2
SET: Final = 3
SORTED_SET: Final = 4
STRING: Final = 5

#: the number of a value's kind, by its type
KINDS: Final[dict[type, int]] = {
    dict: HASH,
    deque: LIST,
    set: SET,
    SortedSet: SORTED_SET,
    str: STRING,
}

#: what the rest of pyqless calls them
NAMES: Final = {HASH: "hash", LIST: "list", SET: "set", SORTED_SET: "zset", STRING: "string"}

_FLATTEN: Final[dict[type, Callable[[Any], Any]]] = {
    dict: lambda fields: fields,
    deque: list,
    set: list,
    SortedSet: lambda zset: list(chain.from_iterable(zset.items())),
    str: lambda text: text,
}
_BUILD: Final[dict[int, Callable[[Any], Value]]] = {
    HASH: dict,
    LIST: deque,
    SET: set,
    SORTED_SET: lambda flat: SortedSet(zip(flat[::2], flat[1::2], strict=True)),
    STRING: str,
}


class Packer:
    """Makes values into bytes, for one thread at a time."""

    def __init__(self) -> None:
        self._pack: Callable[[Any], bytes] = msgpack.Packer().pack
        self._pack_escaped: Callable[[Any], bytes] = msgpack.Packer(
            unicode_errors="surrogateescape"
        ).pack

    def pack(self, value: Value) -> bytes:
        """A value as bytes."""
        flat = _FLATTEN[type(value)](value)
        try:
            return self._pack(flat)
        except UnicodeEncodeError:
            # nearly all text is UTF-8, and to look for what is not takes twice as long
            return self._pack_escaped(flat)


def unpack(key: str, kind: int, packed: bytes) -> Value:
    """
    The value that bytes stand for.

    Raises:
        StoreCorrupted: they stand for none of that kind.
    """
    try:
        return _BUILD[kind](msgpack.unpackb(packed, unicode_errors="surrogateescape"))
    except (ValueError, TypeError, LookupError, msgpack.UnpackException) as error:
        text = f"{key}: the value of kind {kind} cannot be read: {error!r}"
        raise StoreCorrupted(text, argument=key, value=packed) from error


def text_of(stored: bytes) -> str:
    """The text that stands in the file."""
    return stored.decode("utf-8", "surrogateescape")
