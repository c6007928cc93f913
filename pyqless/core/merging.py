# SPDX-License-Identifier: MIT
"""Many writes to a key as fewer commands that do the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from pyqless.core.effects import Command

__all__ = ["merge"]

#: the writes that take any number of members, fields or values
_VARIADIC: Final = {"HDEL", "HSET", "LPUSH", "RPUSH", "SADD", "SREM", "ZREM"}


def merge(writes: Sequence[Command]) -> list[Command]:
    """
    Make one command of neighbours that differ in their arguments only.

    Args:
        writes: to one key, in order.
    """
    merged: list[Command] = []
    for name, neighbours in _runs(writes, _name):
        if name == "ZADD":
            for option, same in _runs(neighbours, _option):
                merged += _joined(same) if option is None else _once(option, same)
        else:
            merged += _joined(neighbours) if name in _VARIADIC else neighbours
    return merged


def _runs(
    writes: Iterable[Command], kind: Callable[[Command], str | None]
) -> Iterator[tuple[str | None, list[Command]]]:
    """Neighbours of one kind."""
    return ((key, list(group)) for key, group in groupby(writes, kind))


_name = itemgetter(0)
_arguments = itemgetter(slice(2, None))


def _option(write: Command) -> str | None:
    """The option of a ZADD."""
    return write[2] if len(write) % 2 else None


def _joined(writes: list[Command]) -> list[Command]:
    first, *others = writes
    return [(*first, *chain.from_iterable(map(_arguments, others)))]


def _once(option: str, writes: list[Command]) -> Iterable[Command]:
    """To put what is not there is of use but once."""
    return dict.fromkeys(writes) if option == "NX" else writes
