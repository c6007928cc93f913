# SPDX-License-Identifier: MIT
"""Clients of the Lua core and of ours work on the same database at the same time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import repeat
from threading import Barrier
from typing import Any

import redis

from pyqless import Client
from pyqless.conformance.lua_core import loadable
from tests.conftest import do_without
from tests.servers import WHEELS

CORE = WHEELS / "qless2016" / "qless" / "qless-core" / "qless.lua"
JOBS = 200

#: pops a job and completes it; gives its jid, or None where there is nothing to do
Work = Callable[[], str | None]


class _LuaClient:
    """Calls a script as clients of the core do; that of 2016 takes no worker in ``put``."""

    def __init__(self, url: str) -> None:
        if not CORE.exists():
            raise do_without("no core of 2016, see make servers")
        self._redis = redis.Redis.from_url(url, decode_responses=True)
        self._script = self._redis.register_script(loadable(CORE.read_text()))

    def call(self, *words: str) -> str:
        return str(self._script(args=words))

    def close(self) -> None:
        self._redis.close()


def _lua_worker(lua: _LuaClient, name: str) -> Work:
    def work() -> str | None:
        popped: list[Any] = json.loads(lua.call("pop", "1000", "q", name, "1")) or []
        for job in popped:
            lua.call("complete", "1001", job["jid"], name, "q", "{}")
            return str(job["jid"])
        return None

    return work


def _our_worker(client: Client) -> Work:
    def work() -> str | None:
        job = client.queues["q"].pop()
        if job is None:
            return None
        job.complete()
        return job.jid

    return work


def _until_empty(work: Work, most: int, start: Barrier) -> list[str]:
    start.wait(timeout=30)
    done: list[str] = []
    while len(done) < most and (jid := work()) is not None:
        done.append(jid)
    return done


def test_no_job_is_lost_or_handed_out_twice(lua_redis_url: str) -> None:
    with ExitStack() as stack:
        theirs = [stack.enter_context(closing(_LuaClient(lua_redis_url))) for _ in range(2)]
        ours = [
            stack.enter_context(Client(lua_redis_url, worker_name=name, clock=lambda: 1000.0))
            for name in ("ann", "bob")
        ]
        for number in range(0, JOBS, 2):
            theirs[0].call("put", "999", "q", f"J{number}", "klass", "{}", "0")
            ours[0].queues["q"].put("klass", {}, jid=f"J{number + 1}")
        for client in ours:
            assert client.queues["another"].pop() is None  # so that it is connected
        workers = [
            *(_lua_worker(lua, f"lua-{number}") for number, lua in enumerate(theirs)),
            *map(_our_worker, ours),
        ]
        # scripts take the head faster than we can look and come back, so they leave us some
        most = [JOBS // 4, JOBS // 4, JOBS, JOBS]
        with ThreadPoolExecutor(len(workers)) as pool:
            done = list(pool.map(_until_empty, workers, most, repeat(Barrier(len(workers)))))

        handed_out = Counter(jid for jids in done for jid in jids)
        assert handed_out == {f"J{number}": 1 for number in range(JOBS)}
        stats = ours[0].queues["q"].stats(1000.0)
        for times in (stats.wait, stats.run):
            assert times.count == sum(times.histogram) == JOBS
        assert ours[0].queues["q"].counts().running == 0
        assert len(ours[0].jobs.complete(0, JOBS + 1)) == JOBS


def test_lua_sees_what_we_did(lua_redis_url: str) -> None:
    with (
        closing(_LuaClient(lua_redis_url)) as lua,
        Client(lua_redis_url, worker_name="w", clock=lambda: 1000.0) as client,
    ):
        client.queues["q"].put("klass", {"n": 1}, tags=["a"], jid="J")
        [seen] = json.loads(lua.call("pop", "1000", "q", "w", "1"))
        assert (seen["jid"], seen["data"], seen["tags"]) == ("J", '{"n":1}', ["a"])
        client.jobs["J"].complete()
        assert json.loads(lua.call("get", "1000", "J"))["state"] == "complete"


def test_we_see_what_lua_did(lua_redis_url: str) -> None:
    with (
        closing(_LuaClient(lua_redis_url)) as lua,
        Client(lua_redis_url, worker_name="w", clock=lambda: 1000.0) as client,
    ):
        lua.call("put", "999", "q", "J", "klass", '{"n":1}', "0", "tags", '["a"]')
        job = client.queues["q"].pop()
        assert job is not None
        assert (job.data, job.tags) == ({"n": 1}, ["a"])
        lua.call("complete", "1000", "J", "w", "q", "{}")
        assert client.jobs["J"].state == "complete"
