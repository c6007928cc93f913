# SPDX-License-Identifier: MIT
"""Whole namespaces: shown in parts, and deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final

import apsw

from pyqless.core.keys import Keys
from pyqless.storage.parts import PART_ITEMS, Part, batched, in_bytes, parts_of
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.packing import LIST, NAMES, SET, SORTED_SET, text_of, unpack

__all__ = ["drop_some", "parts_in"]

#: the statement that shows elements that lie in rows, and what it gives for each
_ELEMENTS: Final[dict[int, tuple[str, Callable[..., Any]]]] = {
    LIST: (sql.ELEMENTS, text_of),
    SET: (sql.MEMBERS, text_of),
    SORTED_SET: (sql.ALL_SCORES, lambda member, score: (text_of(member), score)),
}

#: how many keys are deleted at once
_SOME: Final = 1000


def parts_in(connection: apsw.Connection, keys: Keys) -> Iterator[Part]:
    """The keys of a namespace but pyqless's own, as ``Storage.scan`` shows them, inside a transaction."""
    with closing(connection.execute(sql.KEYS_BETWEEN, _bounds(keys))) as rows:
        for stored, key, kind, packed in _rows(rows):
            name = text_of(stored)
            if name.startswith(keys.own):
                continue
            if packed is not None:
                yield from parts_of(name, NAMES.get(kind, ""), unpack(name, kind, packed))
            else:
                yield from _parts_in_rows(connection, name, key, kind)


def _parts_in_rows(connection: apsw.Connection, name: str, key: int, kind: int) -> Iterator[Part]:
    statement, item = _ELEMENTS[kind]
    with closing(connection.execute(statement, (key,))) as rows:
        for items in batched((item(*row) for row in _rows(rows)), PART_ITEMS):
            yield Part(name, NAMES[kind], items)


def _rows(cursor: apsw.Cursor) -> Iterator[tuple[Any, ...]]:
    return iter(cursor)


def drop_some(lane: Lane, keys: Keys) -> bool:
    """Delete some keys of a namespace; tell whether there may be more."""
    found = lane.execute(sql.SOME_BETWEEN, (*_bounds(keys), _SOME)).fetchall()
    for statement in (sql.DROP_MEMBERS, sql.DROP_ELEMENTS, sql.DROP_KEY):
        for row in found:
            lane.execute(statement, row)
    lane.forget()
    return len(found) == _SOME


def _bounds(keys: Keys) -> tuple[bytes, bytes]:
    """The bytes between which the names of a namespace's keys lie; behind the colon comes the semicolon."""
    return in_bytes(keys.prefix), in_bytes(f"{keys.namespace};")
