# SPDX-License-Identifier: MIT
"""What is kept, for whom, and how it is shown and given up."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Final

from pyqless.errors import ClientClosed
from pyqless.testing.storages.bench import Bench, Check
from pyqless.testing.storages.requirements import raised, require
from pyqless.testing.storages.transitions import staging

__all__ = ["CHECKS"]


async def namespaces(bench: Bench) -> None:
    """Storages of different namespaces share nothing, one name beginning with the other or not."""
    namespaces = ("ql", "q", "ql:x", "{ql}", "QL", "q?")
    storages = [await bench.open(namespace=name) for name in namespaces]
    for storage in storages:
        key = storage.keys.job("jid")
        await storage.run(staging(("hset", key, "namespace", storage.keys.namespace)))
    jobs = {key: entry for key, entry in bench.other.dump().items() if key.endswith(":j:jid")}
    expected = {
        f"{name}:j:jid": {"type": "hash", "value": {"namespace": name}} for name in namespaces
    }
    require("the keys", jobs, expected)


async def dumps(bench: Bench) -> None:
    """A dump shows all keys but pyqless's own, in plain data; a flush leaves none."""
    await bench.stage(
        ("hset", bench.key("hash"), "a", "1"),
        ("rpush", bench.key("list"), "b"),
        ("rpush", bench.key("list"), "a"),
        ("sadd", bench.key("set"), "b", "a"),
        ("zadd", bench.key("zset"), math.inf, "a"),
        ("zadd", bench.key("zset"), 0.1, "b"),
        ("hset", bench.keys.own + "private", "a", "1"),
    )
    expected = {
        "hash": {"type": "hash", "value": {"a": "1"}},
        "list": {"type": "list", "value": ["b", "a"]},
        "set": {"type": "set", "value": ["a", "b"]},
        "zset": {"type": "zset", "value": [["b", "0.1"], ["a", "inf"]]},
    }
    dump = await bench.storage.dump()
    require("the dump", dump, {bench.key(name): entry for name, entry in expected.items()})
    await bench.storage.flush()
    require("the dump of an empty store", bench.other.dump(), {})
    own = await bench.read(("EXISTS", bench.keys.own + "private"))
    require("a private key after a flush", own, [0])


async def closing(bench: Bench) -> None:
    """A storage may be closed twice, and takes no calls then; what it has written stays, and others on the store go on."""
    storage = await bench.open()
    await storage.run(staging(("hset", bench.key("key"), "a", "1")))
    await storage.close()
    await storage.close()
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "a call": lambda: storage.run(staging(("hset", bench.key("key"), "a", "2"))),
        "subscribing": lambda: storage.subscribe(bench.key("told")),
        "a dump": storage.dump,
        "clearing": storage.clear,
        "a flush": storage.flush,
    }
    for name, call in calls.items():
        error = await raised(call())
        require(f"what {name} raises after the close", type(error), ClientClosed)
    require("the key", await bench.read(("HGET", bench.key("key"), "a")), ["1"])


CHECKS: Final = (
    Check(namespaces),
    Check(dumps),
    Check(closing),
)
