# SPDX-License-Identifier: MIT
"""
Reads of a key that has staged writes, without reading it whole.

A bounded read is widened by as many entries as the writes can displace, and what comes is corrected by them.
Something is always read, which shows that the key is of the type that the writes want.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from pyqless.core.effects import Command

__all__ = ["Patch", "patch", "widened"]

#: what staged writes make of members: their scores, None for those that are removed
_Scores: TypeAlias = dict[str, float | None]


class Patch(NamedTuple):
    """How to answer a read of a key that has staged writes."""

    #: what to read instead
    reads: tuple[Command, ...]
    #: makes the reply of theirs
    answer: Callable[[Sequence[Any]], Any]
    #: whether the key is read whole, so that it can be kept as an image
    whole: bool = False


def patch(read: Command, writes: Sequence[Command]) -> Patch | None:
    """
    Find out how to answer a read.

    Args:
        writes: those that are staged for its key, in order.

    Returns:
        None where the key has to be read whole.
    """
    if read[0] in ("HMGET", "HGET"):
        return _of_hash(read, writes)
    make = _OF_SORTED_SETS.get(read[0])
    scores = _scores(writes) if make else None
    return make(read, scores) if make and scores is not None else None


# -- hashes -----------------------------------------------------------------------------------


def _of_hash(read: Command, writes: Sequence[Command]) -> Patch | None:
    fields = _fields(set(read[2:]), writes)
    if fields is None:
        return None

    def answer(replies: Sequence[Any]) -> Any:
        if read[0] == "HGET":
            return fields[read[2]] if read[2] in fields else replies[0]
        return [fields.get(name, text) for name, text in zip(read[2:], replies[0], strict=True)]

    return Patch((read,), answer)


def _fields(wanted: set[str], writes: Sequence[Command]) -> dict[str, str | None] | None:
    """What the writes make of fields, from the last one back, since many write the same; None if a sum is wanted."""
    fields: dict[str, str | None] = {}
    for name, _, *arguments in reversed(writes):
        if name == "HINCRBY" and arguments[0] not in wanted:
            continue
        if name == "HSET":
            written = dict(zip(arguments[::2], arguments[1::2], strict=True))
        elif name == "HDEL":
            written = dict.fromkeys(arguments)
        else:
            return None
        fields |= {field: written[field] for field in wanted & written.keys()}
        wanted -= written.keys()
        if not wanted:
            break
    return fields


# -- sorted sets ------------------------------------------------------------------------------


def _scores(writes: Sequence[Command]) -> _Scores | None:
    scores: _Scores = {}
    for name, _, *arguments in writes:
        if name == "ZREM":
            scores.update(dict.fromkeys(arguments))
        elif name == "ZADD" and len(arguments) == 2:
            scores[arguments[1]] = arguments[0]
        else:
            return None
    return scores


def _order(entry: tuple[str, float]) -> tuple[float, bytes]:
    return entry[1], entry[0].encode("utf-8", "surrogateescape")


def _merged(entries: Any, scores: _Scores, *, reverse: bool) -> list[tuple[str, float]]:
    kept = [entry for entry in entries if entry[0] not in scores]
    added = [(member, score) for member, score in scores.items() if score is not None]
    return sorted(kept + added, key=_order, reverse=reverse)


def _score(read: Command, scores: _Scores) -> Patch:
    return Patch((read,), lambda replies: scores.get(read[2], replies[0]))


def _ranked(read: Command, scores: _Scores) -> Patch | None:
    """ZRANGE and ZREVRANGE with scores, from the first rank on."""
    name, _, start, stop, *options = read
    if start != 0 or options != ["WITHSCORES"] or (stop < 0 and stop != -1):
        return None

    def answer(replies: Sequence[Any]) -> Any:
        entries = _merged(replies[0], scores, reverse=name == "ZREVRANGE")
        return entries if stop < 0 else entries[: stop + 1]

    return Patch((widened(read, len(scores)),), answer)


def _scored(read: Command, scores: _Scores) -> Patch | None:
    """ZRANGEBYSCORE from a score on to the end, with scores, and no or a plain limit."""
    _, _, lowest, highest, *options = read
    if highest != "+inf" or options[:1] != ["WITHSCORES"] or options[2:3] not in ([], [0]):
        return None
    count = options[3] if len(options) > 1 else -1

    def answer(replies: Sequence[Any]) -> Any:
        added = {
            member: score if score is not None and score >= float(lowest) else None
            for member, score in scores.items()
        }
        entries = _merged(replies[0], added, reverse=False)
        return entries if count < 0 else entries[:count]

    return Patch((widened(read, len(scores)),), answer)


def _counted(read: Command, scores: _Scores) -> Patch:
    """ZCARD and ZCOUNT; how many of the members had been counted has to be read, too."""
    lowest, highest = map(float, read[2:] or ("-inf", "+inf"))
    before = tuple(("ZSCORE", read[1], member) for member in scores)

    def counts(found: Sequence[float | None]) -> int:
        return sum(score is not None and lowest <= score <= highest for score in found)

    def answer(replies: Sequence[Any]) -> int:
        return int(replies[0]) - counts(replies[1:]) + counts(list(scores.values()))

    return Patch((read, *before), answer)


_OF_SORTED_SETS: Final[dict[str, Callable[[Command, _Scores], Patch | None]]] = {
    "ZCARD": _counted,
    "ZCOUNT": _counted,
    "ZRANGE": _ranked,
    "ZRANGEBYSCORE": _scored,
    "ZREVRANGE": _ranked,
    "ZSCORE": _score,
}


def widened(read: Command, count: int) -> Command:
    """A read of the head of a sorted set, for so many entries more; the same if it reads all."""
    if read[0] == "ZRANGEBYSCORE":
        return read if len(read) < 8 or read[7] < 0 else (*read[:7], read[7] + count)
    return read if read[3] < 0 else (*read[:3], read[3] + count, *read[4:])
