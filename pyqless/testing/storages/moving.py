# SPDX-License-Identifier: MIT
"""Everything in a namespace: shown in parts, taken in, deleted."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Final

from pyqless.errors import StoreCorrupted
from pyqless.storage import Storage
from pyqless.storage.parts import PART_ITEMS, Part, in_bytes
from pyqless.testing.storages.bench import Bench, Check
from pyqless.testing.storages.requirements import raised, require
from pyqless.testing.storages.transitions import staging
from pyqless.testing.storages.values import FILLED, SCORED, TEXTS, TIED

__all__ = ["CHECKS"]

#: namespaces that must not be taken for ``ql``, some of them patterns that match it
_OTHERS: Final = ("q", "qlx", "QL", "q?", "*", "{ql}")

#: enough for three parts
_LARGE: Final = [f"{number:06}" for number in range(2 * PART_ITEMS + 1)]


def _scan(storage: Storage) -> list[Part]:
    with closing(storage.scan()) as parts:
        return list(parts)


def _filled(bench: Bench) -> list[tuple[Any, ...]]:
    return [(name, bench.key(key), *arguments) for name, key, *arguments in FILLED]


async def shown(bench: Bench) -> None:
    """A scan shows each key once, in order, with all that it holds in order, and none of pyqless's own."""
    await bench.stage(*_filled(bench), ("hset", bench.keys.own + "private", "a", "1"))
    expected = [
        Part("hash", "hash", (("a", "7"), ("b", ""), ("\u00e9", "x\0y"), ("\udcff", "\udcfe"))),
        Part("list", "list", ("a", "b", "", "a", "\udcff")),
        Part("set", "set", ("", "a", "\udcff")),
        Part("tied", "zset", tuple((member, 1.0) for member in TIED)),
        Part("zset", "zset", tuple(SCORED)),
    ]
    whole = [part._replace(key=bench.key(part.key)) for part in expected]
    require("the parts", _scan(bench.other), whole)


async def order(bench: Bench) -> None:
    """Keys come in the order of their bytes, whatever is in them."""
    names = sorted(map(bench.key, {*TEXTS, *TIED, *_LARGE[:500]}), key=in_bytes)
    await bench.stage(*(("hset", name, "a", "1") for name in reversed(names)))
    require("the keys", [part.key for part in _scan(bench.other)], names)


async def parts(bench: Bench) -> None:
    """What is large comes in parts, one behind another, and is taken in again as it was."""
    await bench.stage(
        ("hset", bench.key("hash"), *(text for name in _LARGE for text in (name, name))),
        *(("rpush", bench.key("list"), name) for name in reversed(_LARGE)),
        ("sadd", bench.key("set"), *_LARGE),
        *(("zadd", bench.key("zset"), -float(name), name) for name in _LARGE),
    )
    before, found = bench.other.dump(), _scan(bench.other)
    sizes = [(part.key, len(part.items)) for part in found]
    each = (PART_ITEMS, PART_ITEMS, 1)
    names = ("hash", "list", "set", "zset")
    require("the parts", sizes, [(bench.key(name), size) for name in names for size in each])
    bench.other.flush()
    bench.other.restore(found)
    require("the store, taken in again", bench.other.dump(), before)


async def taken_in(bench: Bench) -> None:
    """What is taken in adds to what is there; a list grows; a string is replaced."""
    found = [
        Part(bench.key("hash"), "hash", (("a", "2"), ("c", "3"))),
        Part(bench.key("list"), "list", ("b", "a")),
        Part(bench.key("set"), "set", ("b", "c")),
        Part(bench.key("string"), "string", ("\udcff x",)),
        Part(bench.key("zset"), "zset", (("b", 0.5), ("c", 0.1))),
    ]
    await bench.stage(
        ("hset", bench.key("hash"), "a", "1", "b", "2"),
        ("rpush", bench.key("list"), "a"),
        ("sadd", bench.key("set"), "a", "b"),
        ("zadd", bench.key("zset"), 1.0, "b"),
        ("hset", bench.key("other"), "a", "1"),
    )
    bench.other.restore([Part(bench.key("string"), "string", ("old",))])
    bench.other.restore(iter(found))
    expected = [
        Part(bench.key("hash"), "hash", (("a", "2"), ("b", "2"), ("c", "3"))),
        Part(bench.key("list"), "list", ("a", "b", "a")),
        Part(bench.key("other"), "hash", (("a", "1"),)),
        Part(bench.key("set"), "set", ("a", "b", "c")),
        Part(bench.key("string"), "string", ("\udcff x",)),
        Part(bench.key("zset"), "zset", (("c", 0.1), ("b", 0.5))),
    ]
    require("the parts", _scan(bench.other), expected)
    require("a read of the string", (await bench.read(("EXISTS", bench.key("string")))), [1])


async def misfits(bench: Bench) -> None:
    """What is taken in for a key of another type is a fault that names the key."""
    await bench.stage(("rpush", bench.key("key"), "a"))

    async def restore() -> None:
        bench.other.restore([Part(bench.key("key"), "hash", (("a", "1"),))])

    fault = await raised(restore())
    require("what was raised", type(fault), StoreCorrupted)
    require("the key", getattr(fault, "argument", None), bench.key("key"))


async def others_left_alone(bench: Bench) -> None:
    """A scan shows, and clearing deletes, what is in one namespace, and nothing else."""
    for name in _OTHERS:
        storage = bench.another(namespace=name)
        storage.run(staging(("hset", storage.keys.job("jid"), "namespace", name)))
    own = bench.keys.own + "private"
    await bench.stage(("hset", bench.key("key"), "a", "1"), ("hset", own, "a", "1"))
    require("the keys", [part.key for part in _scan(bench.other)], [bench.key("key")])
    await bench.storage.clear()
    require("the keys after clearing", _scan(bench.other), [])
    require("a private key after clearing", await bench.read(("EXISTS", own)), [0])
    kept = [key for key in bench.other.dump() if key.endswith(":j:jid")]
    require("the keys of others", sorted(kept), sorted(f"{name}:j:jid" for name in _OTHERS))


async def given_up(bench: Bench) -> None:
    """A scan that is closed early holds nobody up."""
    await bench.stage(*_filled(bench))
    with closing(bench.other.scan()) as found:
        next(found)
    await bench.stage(("hset", bench.key("hash"), "a", "8"))
    require("the key", await bench.read(("HGET", bench.key("hash"), "a")), ["8"])


CHECKS: Final = (
    Check(shown),
    Check(order),
    Check(parts),
    Check(taken_in),
    Check(misfits),
    Check(others_left_alone),
    Check(given_up),
)
