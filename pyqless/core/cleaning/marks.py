# SPDX-License-Identifier: MIT
"""Cleaning up among tracked jobs and under tags."""

from __future__ import annotations

from typing import Any

from pyqless.core import lua
from pyqless.core.cleaning.paging import PAGE
from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction

__all__ = ["clean_tag", "clean_tracked", "indexes", "known_tags"]


def known_tags(tx: Transaction) -> Transition[list[str]]:
    """The tags that are counted."""
    (names,) = yield from tx.snapshot(("ZRANGE", tx.keys.tag_counts, 0, -1))
    return list(names)


def clean_tracked(
    tx: Transaction, offset: int, *, dry: bool = False
) -> Transition[tuple[list[str], int]]:
    """
    Stop tracking jobs that are gone.

    Args:
        offset: where to begin.

    Returns:
        tuple: their jids, and how many were looked at.
    """
    keys = tx.keys
    (jids,) = yield from tx.read(free=[("ZRANGE", keys.tracked, offset, offset + PAGE - 1)])
    if not jids:
        return [], 0
    found = yield from tx.read(*(("EXISTS", keys.job(jid)) for jid in jids), last=True)
    gone = [jid for jid, exists in zip(jids, found, strict=True) if not exists]
    if gone and not dry:
        tx.zrem(keys.tracked, *gone)
    return gone, len(jids)


def indexes(name: str) -> list[str]:
    """
    The texts under which the jobs are found that bear a tag, by the name under which it is counted.

    A tag may be a number, since JSON has them, and Lua writes some numbers in two ways: with 14 digits in the name of the
    index, and with 17 in the count.
    """
    number = lua.to_number(name)
    if number is None or lua.argument(number) != name:
        return [name]
    return list(dict.fromkeys([name, lua.concat(number)]))


def clean_tag(
    tx: Transaction, tag: str, offset: int, *, dry: bool = False
) -> Transition[tuple[list[str], int]]:
    """
    Take jobs that are gone, or do not bear it, out of a tag's index; once all are seen, count the tag anew.

    The core counts a tag that was given twice twice, and takes it away once. A number is not counted anew: others may be
    found under its text.

    Args:
        tag: its text in the index.

    Returns:
        tuple: their jids, and how many were looked at.
    """
    keys = tx.keys
    key = keys.tag(tag)
    jids, size = yield from tx.read(("ZRANGE", key, offset, offset + PAGE - 1), ("ZCARD", key))
    texts = yield from tx.read(*(("HGET", keys.job(jid), "tags") for jid in jids))
    gone = [jid for jid, text in zip(jids, texts, strict=True) if not _bears(text, tag)]
    (count,) = yield from tx.read(free=[("ZSCORE", keys.tag_counts, tag)], last=True)
    if dry:
        return gone, len(jids)
    if gone:
        tx.zrem(key, *gone)
    left = size - len(gone)
    if offset + len(jids) >= size and count is not None:
        if left == 0 and indexes(tag) == [tag]:
            tx.zrem(keys.tag_counts, tag)
        elif count != left and lua.to_number(tag) is None:
            tx.zadd(keys.tag_counts, float(left), tag)
    return gone, len(jids)


def _bears(text: str | None, tag: str) -> bool:
    try:
        tags = lua.decode(text or "{}")
    except lua.JSONError:
        return True  # a damaged job is the doctor's business
    return isinstance(tags, list) and any(_text(borne) == tag for borne in tags)


def _text(tag: Any) -> str | None:
    """The text of a tag in the index; of what is no tag there is none."""
    return lua.concat(tag) if isinstance(tag, str | float) else None
