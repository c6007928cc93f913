# SPDX-License-Identifier: MIT
"""The Redis storage for asyncio does what the Lua core did, and many tasks can share it."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from pyqless.conformance import Target, Trace, read_traces, replay_trace
from pyqless.core.commands import call
from pyqless.core.statistics import fold
from pyqless.errors import WrongLoop
from pyqless.storage import open_storage
from pyqless.storage.redis import AsyncRedisStorage
from tests.blocking import BlockingStorage

DATA: Final = Path(__file__).parents[1] / "conformance" / "data" / "qless-core.jsonl.gz"
#: enough of them for every command; the storage for threads replays them all
TRACES: Final = list(read_traces(DATA))[::10]


class AwaitingTarget(Target):
    """A core as a client on the wire sees it, on a storage for asyncio."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._storage.close()
        self._storage = BlockingStorage(url)


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: str(trace.seed))
def test_a_recorded_trace_comes_out_the_same(
    one_redis_url: str, trace: Trace, protocol: int
) -> None:
    with AwaitingTarget(f"{one_redis_url}?protocol={protocol}") as target:
        difference = replay_trace(target, trace)
    assert difference is None, str(difference)


async def run(storage: AsyncRedisStorage, words: str) -> Any:
    wanted = call(shlex.split(words))
    return wanted.render(await storage.run(wanted.transition, wanted.now))


async def test_many_tasks_share_a_storage(redis_url: str) -> None:
    """Each gets its own replies, and each job is handed out once."""
    handed: Counter[str] = Counter()

    async def live(number: int) -> None:
        jid, worker = f"J{number}", f"w{number}"
        assert await run(storage, f"put 1 me q {jid} klass {{}} 0") == jid
        assert json.loads(await run(storage, f"get 1 {jid}"))["jid"] == jid
        (popped,) = json.loads(await run(storage, f"pop 2 q {worker} 1"))
        handed[popped["jid"]] += 1
        assert popped["worker"] == worker
        assert await run(storage, f"complete 3 {popped['jid']} {worker} q {{}}") == "complete"

    async with AsyncRedisStorage(redis_url) as storage:
        await asyncio.gather(*(live(number) for number in range(60)))
    assert handed == Counter({f"J{number}": 1 for number in range(60)})
    with open_storage(redis_url) as others:
        others.run(fold)
        state = others.dump()
    assert len(state["ql:completed"]["value"]) == 60
    for kind in ("wait", "run"):
        times = state[f"ql:s:{kind}:0:q"]["value"]
        assert times["total"] == "60"


async def test_an_iterator_of_messages(redis_url: str) -> None:
    async with AsyncRedisStorage(redis_url) as storage:
        subscription = await storage.subscribe("ql:log")
        await run(storage, "put 1 me q J klass {} 0")
        async for message in subscription:
            assert json.loads(message.data) == {"event": "put", "jid": "J", "queue": "q"}
            await subscription.close()
        assert await subscription.get(timeout=0) is None


def test_another_loop_needs_a_storage_of_its_own(one_redis_url: str) -> None:
    """Its connections would wait for a loop that runs no more, or in another thread."""
    storage = AsyncRedisStorage(one_redis_url)

    async def subscribe() -> None:
        await storage.subscribe("ql:log")

    with asyncio.Runner() as first:
        first.run(run(storage, "put 1 me q J klass {} 0"))
        for use in (lambda: run(storage, "get 1 J"), subscribe, storage.close):
            with asyncio.Runner() as other, pytest.raises(WrongLoop, match="another event loop"):
                other.run(use())
        first.run(storage.close())
