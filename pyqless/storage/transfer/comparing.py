# SPDX-License-Identifier: MIT
"""Two storages, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain, groupby, zip_longest
from typing import Any, NamedTuple, TypeVar

from pyqless.storage.base import Storage
from pyqless.storage.parts import Part, in_bytes
from pyqless.storage.transfer.dumping import without_namespace

__all__ = ["Difference", "diff"]

T = TypeVar("T")


class Difference(NamedTuple):
    """What is in one storage and not in the other, or differs between the two."""

    #: without its namespace
    key: str
    #: a field or a member, the position in a list or the rank in a sorted set; None for the whole key
    place: str | int | None
    #: a text; (member, score); a member of a set; a whole key's type; None where there is none
    one: Any
    other: Any


class _Key(NamedTuple):
    name: str
    kind: str
    items: Iterator[Any]


def diff(one: Storage, other: Storage) -> Generator[Difference, None, None]:
    """
    Compare what the namespaces of two storages hold, pyqless's own keys left out.

    Of hashes and sets all differences are told, of lists, sorted sets and strings the first one.

    Raises:
        StorageError: one of them cannot be read.
    """
    with closing(one.scan()) as parts, closing(other.scan()) as others:
        keys = _keys(without_namespace(one, parts)), _keys(without_namespace(other, others))
        for name, mine, theirs in _joined(*keys, by=lambda key: key.name):
            if mine is None or theirs is None or mine.kind != theirs.kind:
                yield Difference(name, None, mine and mine.kind, theirs and theirs.kind)
            else:
                yield from _COMPARE[mine.kind](name, mine.items, theirs.items)


def _keys(parts: Iterable[Part]) -> Iterator[_Key]:
    for (name, kind), group in groupby(parts, key=lambda part: part[:2]):
        yield _Key(name, kind, chain.from_iterable(part.items for part in group))


def _joined(
    one: Iterator[T], other: Iterator[T], *, by: Callable[[T], str]
) -> Iterator[tuple[str, T | None, T | None]]:
    """Bring together what bears the same name; both are in the order of the names' bytes."""
    mine, theirs = next(one, None), next(other, None)
    while mine is not None or theirs is not None:
        name = min((by(entry) for entry in (mine, theirs) if entry is not None), key=in_bytes)
        is_mine = mine is not None and by(mine) == name
        is_theirs = theirs is not None and by(theirs) == name
        yield name, mine if is_mine else None, theirs if is_theirs else None
        mine = next(one, None) if is_mine else mine
        theirs = next(other, None) if is_theirs else theirs


def _fields(name: str, one: Iterator[Any], other: Iterator[Any]) -> Iterator[Difference]:
    for field, mine, theirs in _joined(one, other, by=lambda pair: pair[0]):
        if mine != theirs:
            yield Difference(name, field, mine and mine[1], theirs and theirs[1])


def _members(name: str, one: Iterator[Any], other: Iterator[Any]) -> Iterator[Difference]:
    for member, mine, theirs in _joined(one, other, by=str):
        if mine != theirs:
            yield Difference(name, member, mine, theirs)


def _first(name: str, one: Iterator[Any], other: Iterator[Any]) -> Iterator[Difference]:
    for place, (mine, theirs) in enumerate(zip_longest(one, other)):
        if mine != theirs:
            yield Difference(name, place, mine, theirs)
            return


_COMPARE: dict[str, Callable[[str, Iterator[Any], Iterator[Any]], Iterator[Difference]]] = {
    "hash": _fields,
    "list": _first,
    "set": _members,
    "string": _first,
    "zset": _first,
}
