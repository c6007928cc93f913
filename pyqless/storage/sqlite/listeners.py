# SPDX-License-Identifier: MIT
"""
Messages between processes, by way of the file.

Who listens has a row in it. A message that somebody listens for becomes a row, too, in the transaction that
publishes it, and so is heard if and only if that is committed, in the order of the commits. After the commit
the publisher rings the listeners' bells; should it die before, they look by themselves a little later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import lru_cache
from typing import Any, Final, NamedTuple

import apsw
import msgpack

from pyqless.storage.parts import in_bytes
from pyqless.storage.sqlite import statements as sql
from pyqless.storage.sqlite.packing import text_of

__all__ = [
    "Listener",
    "Matcher",
    "add_listener",
    "drop_listener",
    "listeners_in",
    "matcher",
    "store",
]

#: tells whether a channel is listened to
Matcher = Callable[[str], object]

#: how many messages are kept at least, and after how many more the older ones are removed
_KEPT: Final = 8192
_SWEEP: Final = 1024


class Listener(NamedTuple):
    """Who listens."""

    id: int
    #: the name of its bell; None if it has none
    bell: str | None
    listens_to: Matcher


@lru_cache(maxsize=256)
def matcher(channels: tuple[str, ...]) -> Matcher:
    """What tells whether a channel is among some names and patterns."""
    return re.compile("|".join(map(translate, channels)) or r"(?!)").match


def listeners_in(connection: apsw.Connection) -> list[Listener]:
    """All who listen."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(sql.LISTENERS).fetchall()
    return [
        Listener(number, None if bell is None else text_of(bell), matcher(_unpack(channels)))
        for number, bell, channels in rows
    ]


def add_listener(
    connection: apsw.Connection, bell: str | None, channels: tuple[str, ...]
) -> tuple[int, int]:
    """
    Write down that somebody listens.

    Returns:
        tuple: the listener's id, and that of the last message that is not for it any more.
    """
    name = None if bell is None else in_bytes(bell)
    connection.execute(sql.ADD_LISTENER, (name, _pack(channels)))
    number = connection.last_insert_rowid()
    last: Any = connection.execute(sql.LAST_MESSAGE).get
    return number, last


def drop_listener(connection: apsw.Connection, number: int) -> None:
    """Write down that somebody listens no more."""
    connection.execute(sql.DROP_LISTENER, (number,))
    connection.execute(sql.DROP_UNHEARD_MESSAGES)


def store(
    connection: apsw.Connection, listeners: list[Listener], messages: Iterable[tuple[str, str]]
) -> list[Listener]:
    """
    Write messages down that somebody listens for.

    Returns:
        list: who does.
    """
    heard: dict[Listener, None] = {}
    for channel, data in messages:
        by = [listener for listener in listeners if listener.listens_to(channel)]
        if by:
            heard.update(dict.fromkeys(by))
            connection.execute(sql.ADD_MESSAGE, (in_bytes(channel), in_bytes(data)))
            last = connection.last_insert_rowid()
            if last % _SWEEP == 0:
                connection.execute(sql.DROP_OLD_MESSAGES, (last - _KEPT,))
    return list(heard)


def _pack(channels: tuple[str, ...]) -> bytes:
    packed: bytes = msgpack.packb(channels, unicode_errors="surrogateescape")
    return packed


def _unpack(packed: bytes) -> tuple[str, ...]:
    return tuple(msgpack.unpackb(packed, unicode_errors="surrogateescape"))
