# SPDX-License-Identifier: MIT
"""
The data model of Redis, as far as the rules use it: reads, writes, and a database of keys.

A hash is a dict, a list a deque, a set a set, a sorted set a ``SortedSet``, a string a str.
A missing key is None; it reads as an empty value of the type wanted.
``READS`` and ``WRITES`` are pure functions of a value, except that a write may change the value
handed to it; ``Keyspace`` applies them to its keys.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

from pyqless.core.sortedset import SortedSet, span

__all__ = [
    "OUTCOMES",
    "READS",
    "WRITES",
    "Image",
    "Keyspace",
    "NotAnInteger",
    "Value",
    "WrongType",
    "image_of",
]

#: What a key of a type that the rules write holds.
Image: TypeAlias = dict[str, str] | deque[str] | set[str] | SortedSet

#: What a key holds.
Value: TypeAlias = Image | str

#: The value after a write (None or an empty one: the key is gone), and whether the write touched
#: the key in the sense of WATCH.
_Outcome: TypeAlias = tuple[Value | None, bool]

_Pairs: TypeAlias = list[tuple[str, float]]
_T = TypeVar("_T")

_TYPES: Final[dict[type, str]] = {
    dict: "hash",
    SortedSet: "zset",
    deque: "list",
    set: "set",
    str: "string",
}

#: A value in plain data; scores as text, since JSON has no infinity.
_DUMPERS: Final[dict[type, Callable[[Any], Any]]] = {
    dict: dict,
    SortedSet: lambda zset: [[member, repr(score)] for member, score in zset.items()],
    deque: list,
    set: sorted,
    str: str,
}
_LOADERS: Final[dict[str, Callable[[Any], Value]]] = {
    "hash": dict,
    "zset": lambda pairs: SortedSet((member, float(score)) for member, score in pairs),
    "list": deque,
    "set": set,
    "string": str,
}

_INT64: Final = range(-(2**63), 2**63)
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
_DECIMAL: Final = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE
)
_INFINITY: Final = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


class WrongType(TypeError):
    """A key holds another type of value than the command is for."""


class NotAnInteger(ValueError):
    """A text, or a sum, is no integer of 64 bits in the one form that Redis writes."""


def _as(kind: type[_T], value: Value | None) -> _T:
    if isinstance(value, kind):
        return value
    if value is None:
        return kind()
    raise WrongType(f"a {_TYPES[kind]} is wanted, a {_TYPES[type(value)]} is there")


def _integer(value: int | str) -> int:
    if isinstance(value, int):
        return value
    if _INTEGER.fullmatch(value) and (number := int(value)) in _INT64:
        return number
    raise NotAnInteger(f"{value!r} is no 64-bit integer")


def _score(value: float | str) -> float:
    if type(value) is float and value == value:  # noqa: PLR0124 - not NaN
        return value
    score = _parsed(value) if isinstance(value, str) else value
    if math.isnan(score):
        raise ValueError(f"{value!r} is not a valid score")
    return score


def _parsed(text: str) -> float:
    """Read a number as ZADD does, but refuse hexadecimal, which not every store takes."""
    if _INFINITY.fullmatch(text):
        return float(text)
    if match := _DECIMAL.fullmatch(text):
        score = float(text)
        underflow = not score and match[1].strip("0.")
        if math.isfinite(score) and not underflow:
            return score
    return math.nan


def _hincrby(value: Value | None, field: str, increment: int | str) -> _Outcome:
    fields = _as(dict, value)
    total = _integer(fields.get(field, "0")) + _integer(increment)
    if total not in _INT64:
        raise NotAnInteger(f"{field!r} would become {total}, which is no 64-bit integer")
    fields[field] = str(total)
    return fields, True


def _hset(value: Value | None, *pairs: str) -> _Outcome:
    fields = value if type(value) is dict else _as(dict, value)
    each = iter(pairs)
    fields.update(zip(each, each, strict=True))
    return fields, True


def _hdel(value: Value | None, *names: str) -> _Outcome:
    fields = _as(dict, value)
    before = len(fields)
    for name in names:
        fields.pop(name, None)
    return fields, len(fields) < before


def _zadd(value: Value | None, *arguments: Any) -> _Outcome:
    zset = value if type(value) is SortedSet else _as(SortedSet, value)
    if len(arguments) == 2:
        return zset, zset.put(arguments[1], _score(arguments[0]))
    option = arguments[0] if arguments[0] in ("NX", "XX") else None
    pairs = arguments[1:] if option else arguments
    # A list, so that a bad score is found before the first member is added.
    entries = list(zip(map(_score, pairs[::2]), pairs[1::2], strict=True))
    touched = False
    for score, member in entries:
        if option and (zset.score(member) is None) == (option == "XX"):
            continue
        touched |= zset.put(member, score)
    return zset, touched


def _zincrby(value: Value | None, increment: float | str, member: str) -> _Outcome:
    zset = _as(SortedSet, value)
    old = zset.score(member)
    score = (old or 0.0) + _score(increment)
    zset.add(member, score)
    return zset, score != old


def _zrem(value: Value | None, *members: str) -> _Outcome:
    if value is None:
        return None, False
    zset = value if type(value) is SortedSet else _as(SortedSet, value)
    touched = False
    for member in members:
        touched |= zset.remove(member)
    return zset, touched


def _zremrangebyscore(value: Value | None, lo: float | str, hi: float | str) -> _Outcome:
    zset = _as(SortedSet, value)
    return _zrem(zset, *(member for member, _ in zset.by_score(_score(lo), _score(hi))))


def _lpush(value: Value | None, *elements: str) -> _Outcome:
    items = _as(deque, value)
    items.extendleft(elements)
    return items, True


def _rpush(value: Value | None, *elements: str) -> _Outcome:
    items = _as(deque, value)
    items.extend(elements)
    return items, True


def _lpop(value: Value | None) -> _Outcome:
    items = _as(deque, value)
    if items:
        items.popleft()
    return items, value is not None


def _ltrim(value: Value | None, start: int | str, stop: int | str) -> _Outcome:
    items = _as(deque, value)
    begin, end = span(_integer(start), _integer(stop), len(items))
    for _ in range(len(items) - end):
        items.pop()
    for _ in range(begin):
        items.popleft()
    return items, value is not None


def _lrem(value: Value | None, count: int | str, element: str) -> _Outcome:
    if _integer(count):
        raise ValueError(f"LREM removes all or nothing here, so count must be 0, not {count!r}")
    items = _as(deque, value)
    found = items.count(element)
    for _ in range(found):
        items.remove(element)
    return items, found > 0


def _sadd(value: Value | None, *members: str) -> _Outcome:
    present = _as(set, value)
    before = len(present)
    present.update(members)
    return present, len(present) > before


def _srem(value: Value | None, *members: str) -> _Outcome:
    present = _as(set, value)
    before = len(present)
    present.difference_update(members)
    return present, len(present) < before


def _del(value: Value | None) -> _Outcome:
    return None, value is not None


def _lrange(value: Value | None, start: int | str, stop: int | str) -> list[str]:
    items = _as(deque, value)
    if start == 0 and stop == -1:
        return list(items)
    length = len(items)
    begin, end = span(_integer(start), _integer(stop), length)
    if begin + end <= length:
        return list(islice(items, begin, end))
    return list(islice(reversed(items), length - end, length - begin))[::-1]


def _lindex(value: Value | None, index: int | str) -> str | None:
    found = _lrange(value, index, index)
    return found[0] if found else None


def _limit(options: tuple[Any, ...]) -> tuple[int, int]:
    """Find the offset and the count among a range's options."""
    if "LIMIT" not in options:
        return 0, -1
    place = options.index("LIMIT")
    return _integer(options[place + 1]), _integer(options[place + 2])


def _shown(pairs: _Pairs, options: tuple[Any, ...]) -> _Pairs | list[str]:
    return pairs if "WITHSCORES" in options else [member for member, _ in pairs]


_SCORED: Final = ("WITHSCORES",)


def _zrange(
    value: Value | None, start: int | str, stop: int | str, *options: Any, reverse: bool = False
) -> _Pairs | list[str]:
    zset = value if type(value) is SortedSet else _as(SortedSet, value)
    pairs = zset.range(_integer(start), _integer(stop), reverse=reverse)
    return pairs if options == _SCORED else _shown(pairs, options)


def _zrangebyscore(
    value: Value | None, lo: float | str, hi: float | str, *options: Any, reverse: bool = False
) -> _Pairs | list[str]:
    pairs = _as(SortedSet, value).by_score(
        _score(lo), _score(hi), *_limit(options), reverse=reverse
    )
    return _shown(pairs, options)


#: Reads by name: (value or None, *arguments) -> reply. A collection in a reply is a copy.
READS: Final[dict[str, Callable[..., Any]]] = {
    "EXISTS": lambda value: int(value is not None),
    "HGET": lambda value, field: _as(dict, value).get(field),
    "HGETALL": lambda value: (value if type(value) is dict else _as(dict, value)).copy(),
    "HLEN": lambda value: len(_as(dict, value)),
    "HMGET": lambda value, *fields: list(map(_as(dict, value).get, fields)),
    "LINDEX": _lindex,
    "LLEN": lambda value: len(_as(deque, value)),
    "LRANGE": _lrange,
    "SCARD": lambda value: len(_as(set, value)),
    "SISMEMBER": lambda value, member: int(member in _as(set, value)),
    "SMEMBERS": lambda value: _as(set, value).copy(),
    "ZCARD": lambda value: len(_as(SortedSet, value)),
    "ZCOUNT": lambda value, lo, hi: _as(SortedSet, value).count(_score(lo), _score(hi)),
    "ZRANGE": _zrange,
    "ZRANGEBYSCORE": _zrangebyscore,
    "ZREVRANGE": partial(_zrange, reverse=True),
    "ZREVRANGEBYSCORE": lambda value, hi, lo, *options: _zrangebyscore(
        value, lo, hi, *options, reverse=True
    ),
    "ZSCORE": lambda value, member: _as(SortedSet, value).score(member),
}

#: The value of a key by the read that fetches it whole; a sorted set needs its scores.
_WHOLE: Final[dict[str, Callable[[Any], Image]]] = {
    "HGETALL": lambda fields: fields,
    "LRANGE": deque,
    "SMEMBERS": lambda members: members,
    "ZRANGE": SortedSet,
}


def image_of(name: str, reply: Any) -> Image:
    """
    Rebuild the value of a key from what a read of the whole key gave.

    Args:
        name: HGETALL, LRANGE, SMEMBERS, or ZRANGE with scores.
        reply: in the form of ``READS``; it may become the image.
    """
    return _WHOLE[name](reply)


#: What the most frequent reads reply where the key is missing, without a look at their arguments.
_EMPTY: Final[dict[str, Callable[[], Any]]] = {
    "HGETALL": dict,
    "LRANGE": list,
    "SMEMBERS": set,
    "ZCARD": int,
    "ZRANGE": list,
    "ZRANGEBYSCORE": list,
    "ZREVRANGE": list,
    "ZSCORE": lambda: None,
}

#: As ``WRITES``, but each also tells whether it touched the key, and an empty value may stand for none.
OUTCOMES: Final[dict[str, Callable[..., _Outcome]]] = {
    "DEL": _del,
    "HDEL": _hdel,
    "HINCRBY": _hincrby,
    "HSET": _hset,
    "LPOP": _lpop,
    "LPUSH": _lpush,
    "LREM": _lrem,
    "LTRIM": _ltrim,
    "RPUSH": _rpush,
    "SADD": _sadd,
    "SREM": _srem,
    "ZADD": _zadd,
    "ZINCRBY": _zincrby,
    "ZREM": _zrem,
    "ZREMRANGEBYSCORE": _zremrangebyscore,
}


def _value_of(outcome: Callable[..., _Outcome]) -> Callable[..., Value | None]:
    def write(value: Value | None, *arguments: Any) -> Value | None:
        return outcome(value, *arguments)[0] or None

    return write


#: Writes by name: (value or None, *arguments) -> new value, or None where the key is gone.
#: The value given may be changed in place, and be the one returned.
WRITES: Final[dict[str, Callable[..., Value | None]]] = {
    name: _value_of(outcome) for name, outcome in OUTCOMES.items()
}


class Keyspace:
    """
    A database: keys, their values, and their versions.

    Attributes:
        data: the values; none is an empty collection.
        versions: a number for each key that there is, new with every write that touches the key as
            WATCH sees it. No number is given twice, so a key whose number (0 if it has none) is
            the same as before holds what it held.
    """

    __slots__ = ("_version", "data", "versions")

    def __init__(self) -> None:
        self.data: dict[str, Value] = {}
        self.versions: dict[str, int] = {}
        self._version = 0

    def read(self, command: tuple[Any, ...]) -> Any:
        """
        Carry out a read.

        Args:
            command: (name, key, *arguments), the name one of ``READS``.

        Raises:
            WrongType: the key holds another type of value than the command is for.
            ValueError: an argument is no number where one is needed.
        """
        value = self.data.get(command[1])
        if value is None and (empty := _EMPTY.get(command[0])) is not None:
            return empty()
        return READS[command[0]](value, *command[2:])

    def write(self, command: tuple[Any, ...]) -> None:
        """
        Carry out a write, or raise and change nothing.

        Args:
            command: (name, key, *arguments), the name one of ``WRITES``.

        Raises:
            WrongType: the key holds another type of value than the command is for.
            NotAnInteger: HINCRBY meets a text, or makes a sum, that is no 64-bit integer.
            ValueError: an argument is no number where one is needed.
        """
        name, key, *arguments = command
        value, touched = OUTCOMES[name](self.data.get(key), *arguments)
        if not touched:
            return
        if value:
            self.data[key] = value
            self._version += 1
            self.versions[key] = self._version
        else:
            del self.data[key], self.versions[key]

    def replace(self, key: str, value: Value) -> None:
        """Put a value in the place of a key's; an empty one removes the key."""
        if value:
            self.data[key] = value
            self._touch(key)
        elif key in self.data:
            del self.data[key], self.versions[key]

    def _touch(self, key: str) -> None:
        self._version += 1
        self.versions[key] = self._version

    def type_of(self, key: str) -> str | None:
        """Name the type of a key's value: hash, zset, list, set or string; None if it is missing."""
        return _TYPES.get(type(self.data.get(key)))

    def keys(self) -> list[str]:
        """List the keys, in no particular order."""
        return list(self.data)

    def flush(self) -> None:
        """Remove all keys."""
        self.data.clear()
        self.versions.clear()

    def dump(self) -> dict[str, dict[str, Any]]:
        """
        Show the whole content in plain data.

        Returns:
            ``{key: {"type": name, "value": content}}``: a hash as {field: text}, a sorted set as
            [[member, repr of the score], ...] in rank order, a list as one, a set as a sorted list,
            a string as text.
        """
        return {
            key: {"type": _TYPES[type(value)], "value": _DUMPERS[type(value)](value)}
            for key, value in self.data.items()
        }

    def load(self, dump: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace the whole content by one that ``dump`` has given."""
        self.flush()
        for key, entry in dump.items():
            self.data[key] = _LOADERS[entry["type"]](entry["value"])
            self._touch(key)

    def copy(self) -> Keyspace:
        """Give an independent copy, with the same versions."""
        twin = Keyspace()
        twin.data = {
            key: value if isinstance(value, str) else value.copy()
            for key, value in self.data.items()
        }
        twin.versions = self.versions.copy()
        twin._version = self._version
        return twin
