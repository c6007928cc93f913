# SPDX-License-Identifier: MIT
"""
Which reads need not show what is there at the commit.

These are the names of call and read, and the key, as regular expressions. A read that is guarded is never
meant; and all others must be as if the call had run at the moment of its commit.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pyqless.core.effects import Command

__all__ = ["MAY_BE_OLD", "MAY_BE_STALE", "may_be_old", "may_be_stale"]

#: They were true at some moment since the attempt began.
MAY_BE_STALE: Final[tuple[tuple[str, str, str], ...]] = (
    # whether others are told of a job that is tracked, and shown as such
    (".*", "ZSCORE", "ql:tracked"),
    # what is shown beside a job that is handed out
    ("pop|turn|peek", "SMEMBERS", "ql:j:.*-depend(ents|encies)"),
    # what is found at the head of a queue is looked at again behind its guard
    (
        "pop|turn|peek|queues|jobs",
        "ZRANGE|ZRANGEBYSCORE|ZREVRANGE",
        "ql:q:.*-(work|locks|scheduled|recur)",
    ),
    # how many may wait: one of the puts of one moment may still heed the old limit
    ("put new", "HMGET", "ql:config"),
    # workers come, and take jobs, all the time
    ("workers", "ZREVRANGE", "ql:workers"),
    ("workers", "ZCOUNT|ZREVRANGEBYSCORE", "ql:w:.*:jobs"),
)

#: They may be older, where they were read ahead of the call.
MAY_BE_OLD: Final[tuple[tuple[str, str, str], ...]] = (
    # what may be too old is looked at again behind its guard; when it goes is housekeeping
    ("complete|turn", "ZRANGE|ZCARD", "ql:completed"),
    # how many wait, where no limit holds; where one does, ``_is_full`` in ``sometime`` asks for more
    ("put new", "ZCARD", "ql:q:.*-work"),
    # samples that wait to be entered: those that were seen are still the first ones
    (".*", "LRANGE", "ql:py:pending:.*"),
    (".*", "SMEMBERS", "ql:py:pendings"),
    # whether somebody's chain is broken: who goes on with it reads it again behind its guard
    (".*", "LRANGE", "ql:py:letting-go"),
)


def may_be_stale(name: str, read: Command) -> bool:
    """Whether an unguarded read of a call is one of ``MAY_BE_STALE``."""
    return _is_one_of(MAY_BE_STALE, name, read[0], read[1])


def may_be_old(name: str, read: Command) -> bool:
    """Whether an unguarded read of a call is one of ``MAY_BE_OLD``."""
    return _is_one_of(MAY_BE_OLD, name, read[0], read[1])


@lru_cache(maxsize=10_000)
def _is_one_of(rows: tuple[tuple[str, str, str], ...], *texts: str) -> bool:
    return any(all(map(re.fullmatch, row, texts)) for row in rows)
