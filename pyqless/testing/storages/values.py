# SPDX-License-Identifier: MIT
"""Values that a careless storage would bend, and what every read of them must reply."""

from __future__ import annotations

import math
from typing import Any, Final

from pyqless.core.effects import Command

__all__ = ["FILLED", "MISSING", "READS", "SCORED", "TEXTS", "TIED"]

#: Empty; with a NUL; no UTF-8; beyond 16 bits; numbers in forms that others would tidy up; wildcards.
TEXTS: Final = ("", "a\0b", "\udcff\udc80", "\U0001f600", "007", "1.0", "1e3", "%_*?[a]\n")

#: members in the order of their bytes, which is not that of UTF-16, of letters, or of code points
TIED: Final = ["", "B", "a", "a\0", "\u00e9", "\ue000", "\U0001f600", "\udcff"]

#: members in the order of their scores, each a double that text or a rounding could spoil
SCORED: Final = [
    ("lowest", -math.inf),
    ("least", -1.7976931348623157e308),
    ("negative", -1.5),
    ("zero", 0.0),
    ("tiny", 5e-324),
    ("sum", 0.1 + 0.2),
    ("third", 1 / 3),
    ("moment", 1732912345.6789012),
    ("whole", 2.0**53),
    ("next", 2.0**53 + 2),
    ("largest", 1.7976931348623157e308),
    ("highest", math.inf),
]

#: calls that make a key of each type, named after it; see ``transitions.staging``
FILLED: Final[tuple[tuple[Any, ...], ...]] = (
    ("hset", "hash", "a", "7", "b", "", "\udcff", "\udcfe", "\u00e9", "x\0y"),
    ("rpush", "list", "a"),
    ("rpush", "list", "b"),
    ("rpush", "list", ""),
    ("rpush", "list", "a"),
    ("rpush", "list", "\udcff"),
    ("sadd", "set", "a", "", "\udcff"),
    *(("zadd", "zset", score, member) for member, score in reversed(SCORED)),
    *(("zadd", "tied", 1.0, member) for member in reversed(TIED)),
)

_MEMBERS: Final = [member for member, _ in SCORED]
_TIED_PAIRS: Final = [(member, 1.0) for member in TIED]

#: a read, the key by its bare name, and the reply to it
READS: Final[tuple[tuple[Command, Any], ...]] = (
    (("EXISTS", "hash"), 1),
    (("HGET", "hash", "a"), "7"),
    (("HGET", "hash", "b"), ""),
    (("HGET", "hash", "\udcff"), "\udcfe"),
    (("HGET", "hash", "A"), None),
    (("HMGET", "hash", "\u00e9", "none", "b", "\u00e9"), ["x\0y", None, "", "x\0y"]),
    (("HGETALL", "hash"), {"a": "7", "b": "", "\udcff": "\udcfe", "\u00e9": "x\0y"}),
    (("HLEN", "hash"), 4),
    (("EXISTS", "list"), 1),
    (("LLEN", "list"), 5),
    (("LINDEX", "list", 0), "a"),
    (("LINDEX", "list", -1), "\udcff"),
    (("LINDEX", "list", 5), None),
    (("LINDEX", "list", -6), None),
    (("LRANGE", "list", 0, -1), ["a", "b", "", "a", "\udcff"]),
    (("LRANGE", "list", 1, 2), ["b", ""]),
    (("LRANGE", "list", -2, 99), ["a", "\udcff"]),
    (("LRANGE", "list", -99, 0), ["a"]),
    (("LRANGE", "list", 3, 2), []),
    (("LRANGE", "list", 5, 9), []),
    (("EXISTS", "set"), 1),
    (("SCARD", "set"), 3),
    (("SISMEMBER", "set", ""), 1),
    (("SISMEMBER", "set", "\udcfe"), 0),
    (("SMEMBERS", "set"), {"a", "", "\udcff"}),
    (("EXISTS", "zset"), 1),
    (("ZCARD", "zset"), len(SCORED)),
    *((("ZSCORE", "zset", member), score) for member, score in SCORED),
    (("ZSCORE", "zset", "none"), None),
    (("ZCOUNT", "zset", "-inf", "+inf"), len(SCORED)),
    (("ZCOUNT", "zset", 0, 0.1 + 0.2), 3),
    (("ZCOUNT", "zset", 1, 0), 0),
    (("ZRANGE", "zset", 0, -1, "WITHSCORES"), SCORED),
    (("ZRANGE", "zset", 0, -1), _MEMBERS),
    (("ZRANGE", "zset", -2, 99), _MEMBERS[-2:]),
    (("ZRANGE", "zset", -99, 1), _MEMBERS[:2]),
    (("ZRANGE", "zset", 5, 4), []),
    (("ZRANGE", "zset", 99, 100), []),
    (("ZREVRANGE", "zset", 0, 2, "WITHSCORES"), SCORED[:-4:-1]),
    (("ZREVRANGE", "zset", -2, -1), _MEMBERS[1::-1]),
    (("ZRANGEBYSCORE", "zset", "-inf", "+inf"), _MEMBERS),
    (("ZRANGEBYSCORE", "zset", 0, "+inf", "WITHSCORES", "LIMIT", 1, 2), SCORED[4:6]),
    (("ZRANGEBYSCORE", "zset", 2.0**53, 2.0**53), ["whole"]),
    (("ZRANGEBYSCORE", "zset", 0, "+inf", "LIMIT", 7, -1), _MEMBERS[10:]),
    (("ZRANGEBYSCORE", "zset", 0, "+inf", "LIMIT", 0, 0), []),
    (("ZRANGEBYSCORE", "zset", 0, "+inf", "LIMIT", 99, 1), []),
    (("ZRANGEBYSCORE", "zset", 0, "+inf", "LIMIT", -1, 5), []),
    (("ZRANGEBYSCORE", "zset", 1, 0), []),
    (("ZREVRANGEBYSCORE", "zset", "+inf", "-inf"), _MEMBERS[::-1]),
    (("ZREVRANGEBYSCORE", "zset", 0, "-inf", "WITHSCORES", "LIMIT", 1, 2), SCORED[2:0:-1]),
    (("ZREVRANGEBYSCORE", "zset", 0, 1), []),
    (("ZRANGE", "tied", 0, -1, "WITHSCORES"), _TIED_PAIRS),
    (("ZREVRANGE", "tied", 0, -1), TIED[::-1]),
    (("ZREVRANGE", "tied", 1, 2), TIED[-2:-4:-1]),
    (("ZRANGEBYSCORE", "tied", 1, 1, "LIMIT", 2, 3), TIED[2:5]),
    (("ZREVRANGEBYSCORE", "tied", 1, 1, "LIMIT", 0, 2), TIED[:-3:-1]),
)

#: the reply to each read where the key is missing
MISSING: Final[tuple[tuple[Command, Any], ...]] = (
    (("EXISTS", "none"), 0),
    (("HGET", "none", "a"), None),
    (("HMGET", "none", "a", "b"), [None, None]),
    (("HGETALL", "none"), {}),
    (("HLEN", "none"), 0),
    (("LLEN", "none"), 0),
    (("LINDEX", "none", 0), None),
    (("LRANGE", "none", 0, -1), []),
    (("LRANGE", "none", 1, 1), []),
    (("SCARD", "none"), 0),
    (("SISMEMBER", "none", "a"), 0),
    (("SMEMBERS", "none"), set()),
    (("ZCARD", "none"), 0),
    (("ZSCORE", "none", "a"), None),
    (("ZCOUNT", "none", "-inf", "+inf"), 0),
    (("ZRANGE", "none", 0, -1), []),
    (("ZRANGE", "none", 0, -1, "WITHSCORES"), []),
    (("ZREVRANGE", "none", 0, -1, "WITHSCORES"), []),
    (("ZRANGEBYSCORE", "none", "-inf", "+inf", "LIMIT", 0, 5), []),
    (("ZREVRANGEBYSCORE", "none", "+inf", "-inf", "WITHSCORES"), []),
)
