# SPDX-License-Identifier: MIT
"""
A dump as a file: a stream of MessagePack.

The header, a map; the parts, arrays of a key without its namespace, its kind, and items; the totals, a map;
at the end the SHA-256 of all bytes before it, 34 bytes with its head. So a file can be known as whole before
any of it is understood. Text that is no UTF-8 stands in the strings as the bytes that it is.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, Final, NamedTuple, TypeAlias

import msgpack

from pyqless.errors import DamagedDump
from pyqless.storage.parts import Part

__all__ = ["Header", "Progress", "Totals", "read_header", "read_parts", "require_whole", "write"]

#: told of how many keys are done, and of how many there are, where that is known
Progress: TypeAlias = Callable[[int, int | None], object]

FORMAT: Final = "pyqless dump"
VERSION: Final = 1

#: the head of a MessagePack binary of 32 bytes, and how long that is with its head
DIGEST_HEAD: Final = b"\xc4\x20"
DIGEST_LENGTH: Final = 34

_BLOCK: Final = 1 << 20
#: bytes within which the header ends
_HEADER_LENGTH: Final = 4096


class Header(NamedTuple):
    """Where a dump comes from."""

    namespace: str
    #: when the dump began, Unix time in seconds
    moment: float
    #: whether it shows one instant
    one_instant: bool


class Totals(NamedTuple):
    """What is in a dump."""

    keys: int
    #: fields, members, elements, and strings
    items: int


# -- writing ----------------------------------------------------------------------------------


def write(file: IO[bytes], header: Header, parts: Iterable[Part], progress: Progress) -> Totals:
    """
    Write a dump.

    Args:
        parts: with keys that lack the namespace.
    """
    writer = _Writer(file)
    writer.write({"format": FORMAT, "version": VERSION, **header._asdict()})
    totals, last = Totals(0, 0), None
    for part in parts:
        writer.write(part)
        totals = Totals(totals.keys + (part.key != last), totals.items + len(part.items))
        if part.key != last:
            progress(totals.keys, None)
        last = part.key
    writer.write(totals._asdict())
    writer.end()
    return totals


class _Writer:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._packer: Any = msgpack.Packer(unicode_errors="surrogateescape")
        self._digest = hashlib.sha256()

    def write(self, record: Any) -> None:
        packed = self._packer.pack(record)
        self._digest.update(packed)
        self._file.write(packed)

    def end(self) -> None:
        self._file.write(DIGEST_HEAD + self._digest.digest())
        self._file.flush()


# -- reading ----------------------------------------------------------------------------------


def read_header(file: IO[bytes]) -> Header:
    """
    Read the header of a dump; nothing else is known to be whole.

    Raises:
        DamagedDump: this is no dump, or one of a version that is not known here.
    """
    file.seek(0)
    unpacker = _unpacker()
    unpacker.feed(file.read(_HEADER_LENGTH))
    try:
        fields = unpacker.unpack()
    except (msgpack.OutOfData, msgpack.UnpackException, ValueError):
        fields = None
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise DamagedDump("this is no dump of pyqless")
    version = fields.pop("version", None)
    if version != VERSION:
        raise DamagedDump(
            f"the dump is of version {version!r}; known here is {VERSION}", value=version
        )
    try:
        return Header(**fields)
    except TypeError as error:
        raise DamagedDump(f"the dump's header makes no sense: {fields!r}") from error


def require_whole(file: IO[bytes]) -> None:
    """
    Make sure that all of a dump is there and that no bit of it has changed.

    Raises:
        DamagedDump: something is missing or has changed.
    """
    length = file.seek(0, 2) - DIGEST_LENGTH
    file.seek(0)
    digest = hashlib.sha256()
    for start in range(0, length, _BLOCK):
        digest.update(file.read(min(_BLOCK, length - start)))
    if length < 0 or file.read() != DIGEST_HEAD + digest.digest():
        raise DamagedDump("the dump is incomplete or damaged: its checksum is wrong")


def read_parts(file: IO[bytes]) -> Iterator[Part | Totals]:
    """
    Read the parts of a dump that is known to be whole, and at last the totals.

    Raises:
        DamagedDump: what was written makes no sense.
    """
    file.seek(0)
    records = iter(_unpacker(file))
    next(records)
    try:
        for record in records:
            if isinstance(record, dict):
                yield Totals(**record)
                return
            yield _part(record)
    except (msgpack.UnpackException, ValueError, TypeError) as error:
        raise DamagedDump(f"the dump makes no sense: {error}") from error


def _part(record: Any) -> Part:
    key, kind, items = record
    fits = isinstance(key, str) and kind in _FITS and items and all(map(_FITS[kind], items))
    if not fits or (kind == "string" and len(items) > 1):
        raise ValueError(f"{record!r:.100} is no part of a key")
    return Part(key, kind, items)


def _is_text(item: object) -> bool:
    return isinstance(item, str)


def _is_field(item: object) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and all(map(_is_text, item))


def _is_entry(item: object) -> bool:
    match item:
        case (str(), float(score)):
            return not math.isnan(score)
    return False


_FITS: Final[dict[str, Callable[[object], bool]]] = {
    "hash": _is_field,
    "list": _is_text,
    "set": _is_text,
    "string": _is_text,
    "zset": _is_entry,
}


def _unpacker(file: IO[bytes] | None = None) -> Any:
    return msgpack.Unpacker(
        file,
        use_list=False,
        unicode_errors="surrogateescape",
        read_size=_BLOCK,
        max_buffer_size=2**31 - 1,
    )
