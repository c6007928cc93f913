# SPDX-License-Identifier: MIT
"""All that lies in a database, as plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["dump"]


def dump(client: Any, *, leave_out: str) -> dict[str, dict[str, Any]]:
    """
    Read every key.

    Args:
        client: a redis-py client.
        leave_out: the beginning of the names of keys to leave out.

    Returns:
        dict: by key its ``type`` and ``value``, in the form of the recorded traces.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in sorted(client.keys()):
        key = _text(name)
        if not key.startswith(leave_out):
            kind = _text(client.type(name))
            found[key] = {"type": kind, "value": _VALUES[kind](client, name)}
    return found


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _hash(client: Any, name: Any) -> dict[str, str]:
    return {_text(field): _text(value) for field, value in client.hgetall(name).items()}


def _sorted_set(client: Any, name: Any) -> list[list[str]]:
    pairs = client.zrange(name, 0, -1, withscores=True)
    return [[_text(member), repr(float(score))] for member, score in pairs]


def _list(client: Any, name: Any) -> list[str]:
    return [_text(value) for value in client.lrange(name, 0, -1)]


def _set(client: Any, name: Any) -> list[str]:
    return sorted(_text(member) for member in client.smembers(name))


_VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "hash": _hash,
    "zset": _sorted_set,
    "list": _list,
    "set": _set,
    "string": lambda client, name: _text(client.get(name)),
}
