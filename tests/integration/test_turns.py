# SPDX-License-Identifier: MIT
"""Workers that take turns at the head of a queue, on real servers and on fakeredis."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Final

import pytest

from pyqless import AsyncClient, Client
from pyqless.core.busyness import Busy
from pyqless.core.keys import Keys
from pyqless.storage.redis import RedisStorage
from pyqless.storage.redis.policy import Policy
from tests.servers import Server

WORKERS: Final = 6
JOBS: Final = 120
TOKEN: Final = Keys().turn("q")

#: seconds; longer than anybody waits for a token
PAUSE: Final = 0.8

#: takes turns however slow the machine is
NEAR: Final = Policy(near=math.inf)

#: a queue of which a client thinks that many want the same job
CROWDED: Final = Busy(math.inf, 16, is_scarce=True)


@pytest.fixture(params=["server", "fakeredis"])
def open_client(request: pytest.FixtureRequest, redis_url: str) -> Callable[[], Client]:
    """Open clients of one store."""
    connection: Any = None
    if request.param == "fakeredis":
        connection = pytest.importorskip("fakeredis").FakeRedis()

    def opened() -> Client:
        where: dict[str, Any] = (
            {"url": redis_url} if connection is None else {"connection": connection}
        )
        client = Client(**where, policy=NEAR)
        client.storage.memory["busy", "q"] = CROWDED
        return client

    return opened


def fill(client: Client) -> None:
    """Let jobs wait of which no two have the same priority."""
    for priority in range(JOBS):
        client.queues["q"].put("klass", jid=str(priority), priority=priority)


def work(client: Client) -> list[str]:
    """Pop and complete what there is; returns the jids in their order."""
    popped = []
    while job := client.queues["q"].pop():
        popped.append(job.jid)
        job.complete()
    return popped


def plainly(client: Client) -> Any:
    assert isinstance(client.storage, RedisStorage)
    return client.storage.client()


def tokens(client: Client) -> list[bytes]:
    found: list[bytes] = plainly(client).lrange(TOKEN, 0, -1)
    return found


def test_all_take_turns_and_each_job_goes_to_one(open_client: Callable[[], Client]) -> None:
    with open_client() as producer, ThreadPoolExecutor(WORKERS) as pool:
        fill(producer)
        clients = [open_client() for _ in range(WORKERS)]
        orders = list(pool.map(work, clients))
        assert sorted(jid for order in orders for jid in order) == sorted(map(str, range(JOBS)))
        for order in orders:
            assert order == sorted(order, key=int, reverse=True)
        assert len(tokens(producer)) <= 2
        for client in clients:
            client.close()


@pytest.mark.parametrize(
    ("everything", "timeout"),
    [(True, 5.0), (False, 0.2)],
    ids=["for all", "for those who write, and longer than they wait for a reply"],
)
def test_a_pause_of_the_server_while_they_wait(
    redis_server: Server, redis_url: str, *, everything: bool, timeout: float
) -> None:
    """It is longer than they wait for a token: then all make one, and in the end there is one again."""

    def open_one() -> Client:
        client = Client(redis_url, policy=NEAR, socket_timeout=timeout)
        client.storage.memory["busy", "q"] = CROWDED
        return client

    def work_and_pause(client: Client) -> list[str]:
        first = [client.queues["q"].pop() for _ in range(3)]
        with redis_server.client() as admin:
            admin.client_pause(round(PAUSE * 1000), all=everything)
        return [job.jid for job in first if job and job.complete()] + work(client)

    with ExitStack() as stack, ThreadPoolExecutor(WORKERS) as pool:
        clients = [stack.enter_context(open_one()) for _ in range(WORKERS)]
        fill(clients[0])
        began = time.monotonic()
        first, *others = clients
        works = [
            pool.submit(work_and_pause, first),
            *(pool.submit(work, client) for client in others),
        ]
        orders = [each.result() for each in works]
        assert time.monotonic() - began > PAUSE
        assert sorted(jid for order in orders for jid in order) == sorted(map(str, range(JOBS)))
        assert all(order == sorted(order, key=int, reverse=True) for order in orders)
        assert len(tokens(first)) <= 2


def test_a_token_that_was_taken_for_good_is_made_anew(open_client: Callable[[], Client]) -> None:
    with open_client() as client:
        fill(client)
        queue = client.queues["q"]
        for expected in ("119", "118"):
            job = queue.pop()
            assert job is not None
            assert job.jid == expected
        (lost,) = tokens(client)
        assert plainly(client).lpop(TOKEN) == lost
        job = queue.pop()
        assert job is not None
        assert job.jid == "117"
        (found,) = tokens(client)
        assert found != lost


async def test_in_asyncio_too(redis_url: str) -> None:
    async with AsyncClient(redis_url, policy=NEAR) as client:
        client.storage.memory["busy", "q"] = CROWDED
        queue = client.queues["q"]
        for priority in range(4):
            await queue.put("klass", jid=str(priority), priority=priority)
        popped = [await queue.pop() for _ in range(4)]
        assert [job.jid for job in popped if job] == ["3", "2", "1", "0"]
    with Client(redis_url) as client:
        assert len(tokens(client)) == 1
