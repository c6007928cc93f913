# SPDX-License-Identifier: MIT
"""However a server is reached, and whoever made the connection, calls work; and they work again after a loss."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.cache import CacheConfig
from redis.retry import Retry
from redis.sentinel import Sentinel

from pyqless import Client
from pyqless.core.commands import call
from pyqless.errors import StoreRefused, StoreUnavailable, StoreUnsupported
from pyqless.storage import Storage, open_async_storage, open_storage
from pyqless.storage.redis import AsyncRedisStorage, Policy
from tests import servers
from tests.proxy import proxied
from tests.servers import Server

StartServer = Callable[..., Server]

PUT: Final = "put 1 me q J klass {} 0"
LIFE: Final = (PUT, "pop 2 q w 1", "heartbeat 3 J w", "complete 4 J w q {}")
LARGE: Final = json.dumps({"text": "ü" * 1_000_000}, ensure_ascii=False)


def run(storage: Storage, *words: str) -> Any:
    wanted = call(shlex.split(words[0]) if len(words) == 1 else words)
    return wanted.render(storage.run(wanted.transition, wanted.now))


async def run_async(storage: AsyncRedisStorage, *words: str) -> Any:
    wanted = call(shlex.split(words[0]) if len(words) == 1 else words)
    return wanted.render(await storage.run(wanted.transition, wanted.now))


def live(storage: Storage) -> None:
    """Complete a job, and carry a large one over."""
    for words in LIFE:
        run(storage, words)
    run(storage, "put", "5", "me", "q", "L", "klass", LARGE, "0")
    assert json.loads(run(storage, "get", "6", "L"))["data"] == LARGE
    state = storage.dump()
    assert (state["ql:j:J"]["value"]["state"], state["ql:j:L"]["value"]["state"]) == (
        "complete",
        "waiting",
    )


async def live_async(storage: AsyncRedisStorage) -> None:
    for words in LIFE:
        await run_async(storage, words)
    await run_async(storage, "put", "5", "me", "q", "L", "klass", LARGE, "0")
    assert json.loads(await run_async(storage, "get", "6", "L"))["data"] == LARGE
    assert json.loads(await run_async(storage, "get", "6", "J"))["state"] == "complete"


# -- ways to a server -------------------------------------------------------------------------------


@pytest.fixture(params=["tls", "socket", "protocol 3", "database 3"])
def way(request: pytest.FixtureRequest, start_server: StartServer, one_redis_url: str) -> str:
    """Repeat the test for the ways to a server that its other tests do not take."""
    if request.param == "tls":
        return start_server("redis70", tls=True).url
    if request.param == "socket":
        return start_server("redis8", unix_socket=True).url
    if request.param == "protocol 3":
        return f"{one_redis_url}?protocol=3"
    return one_redis_url.removesuffix("/0") + "/3"


def test_ways(way: str) -> None:
    with open_storage(way) as storage, storage.subscribe("ql:*") as subscription:
        live(storage)
        channels = {message.channel for message in subscription.drain()}
        assert channels == {"ql:log"}
        assert type(storage).__name__ in repr(storage)


async def test_ways_with_asyncio(way: str) -> None:
    async with AsyncRedisStorage(way) as storage:
        await live_async(storage)


def test_tls_is_verified(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("redis70", tls=True)
    with (
        open_storage(server.url.partition("?")[0]) as storage,
        pytest.raises(StoreUnavailable, match=r"certificate|CERTIFICATE"),
    ):
        run(storage, PUT)


# -- connections of others --------------------------------------------------------------------------


CLIENTS: Final[dict[str, Callable[[str], Any]]] = {
    "a client": redis.Redis.from_url,
    "a decoding client": lambda url: redis.Redis.from_url(url, decode_responses=True),
    "a pool": redis.ConnectionPool.from_url,
    "a blocking pool": lambda url: redis.BlockingConnectionPool.from_url(url, max_connections=3),
    "a client that looks after its health": lambda url: redis.Redis.from_url(
        url, health_check_interval=1e-9, retry=Retry(NoBackoff(), 3)
    ),
    "a decoding client of protocol 3": lambda url: redis.Redis.from_url(
        url, protocol=3, decode_responses=True
    ),
}


@pytest.mark.parametrize("kind", CLIENTS)
def test_connections_of_others(redis_url: str, kind: str) -> None:
    connection = CLIENTS[kind](redis_url)
    with open_storage(connection=connection) as storage, storage.subscribe("ql:*") as subscription:
        live(storage)
        assert len(subscription.drain()) == 3
        assert storage.url == redis_url
    pool = getattr(connection, "connection_pool", connection)
    with redis.Redis(connection_pool=pool) as client:
        assert client.ping(), "the storage closes its own connections, and not the pool"
    pool.disconnect()


@pytest.mark.parametrize("decoding", [False, True])
async def test_connections_of_others_with_asyncio(redis_url: str, decoding: bool) -> None:  # noqa: FBT001
    client = redis.asyncio.Redis.from_url(redis_url, decode_responses=decoding)
    async with open_async_storage(connection=client) as storage:
        assert isinstance(storage, AsyncRedisStorage)
        await live_async(storage)
    assert await client.ping()
    await client.aclose()


def test_a_client_that_caches(start_server: StartServer) -> None:
    """It would run its health check, and reconnect, in the middle of our transactions."""
    with redis.Redis.from_url(
        start_server("redis8").url, protocol=3, cache_config=CacheConfig(), max_connections=1
    ) as client:
        storage = open_storage(connection=client)
        with pytest.raises(StoreUnsupported, match="client-side caching"):
            run(storage, PUT)
        assert client.ping()


def test_messages_that_are_pushed_in_between(redis_url: str) -> None:
    """The server tells of each key that changes, in the middle of the replies."""

    def track(connection: Any) -> None:
        connection.on_connect()
        connection.send_command("CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP")
        assert connection.read_response() in (b"OK", "OK")

    client = redis.Redis.from_url(redis_url, protocol=3, redis_connect_func=track)
    with (
        client,
        open_storage(connection=client) as storage,
        open_storage(redis_url) as others,
    ):
        for number in range(100):
            jid = f"J{number}"
            for word in "abcde":
                run(others, f"config.set 0 {word} {number}")
            assert run(storage, f"put 1 me q {jid} klass {{}} 0") == jid
            assert json.loads(run(storage, f"get 1 {jid}"))["jid"] == jid
        assert storage.metrics.attempts == 200


# -- a limited number of connections ----------------------------------------------------------------


@pytest.mark.parametrize("kind", [redis.ConnectionPool, redis.BlockingConnectionPool])
def test_no_connection_is_left(redis_url: str, kind: Any) -> None:
    options = {"timeout": 0.05} if kind is redis.BlockingConnectionPool else {}
    pool = kind.from_url(redis_url, max_connections=1, **options)
    with open_storage(connection=pool) as storage:
        borrowed = pool.get_connection()
        with pytest.raises(StoreUnavailable, match=r"[Nn]o connection|[Tt]oo many"):
            run(storage, PUT)
        pool.release(borrowed)
        assert run(storage, PUT) == "J"
    pool.disconnect()


@pytest.mark.parametrize("kind", [redis.ConnectionPool, redis.BlockingConnectionPool])
def test_no_connection_is_lost_to_the_pool(redis_server: Server, redis_url: str, kind: Any) -> None:
    pool = kind.from_url(redis_url, max_connections=1)
    with open_storage(connection=pool) as storage, redis_server.client() as admin:
        for number in range(30):
            assert run(storage, f"put 1 me q J{number} klass {{}} 0") == f"J{number}"
            admin.client_kill_filter(_type="normal", skipme=True)
    with redis.Redis(connection_pool=pool) as client:
        assert client.zcard("ql:q:q-work") == 30
    pool.disconnect()


async def test_no_connection_is_lost_to_the_pool_with_asyncio(redis_server: Server) -> None:
    redis_server.flush()
    pool = redis.asyncio.BlockingConnectionPool.from_url(redis_server.url, max_connections=1)
    storage = AsyncRedisStorage(connection=pool)
    with redis_server.client() as admin:
        for number in range(30):
            assert await run_async(storage, f"put 1 me q J{number} klass {{}} 0") == f"J{number}"
            admin.client_kill_filter(_type="normal", skipme=True)
    await storage.close()
    client = redis.asyncio.Redis(connection_pool=pool)
    assert await client.zcard("ql:q:q-work") == 30
    await pool.disconnect()


def test_a_lane_for_each_call_at_a_time(one_redis_server: Server) -> None:
    """And asyncio has as many as it is allowed."""

    async def many() -> int:
        async with AsyncRedisStorage(one_redis_server.url, lanes=3) as storage:
            calls = [run_async(storage, f"put 1 me q J{n} klass {{}} 0") for n in range(50)]
            await asyncio.gather(*calls)
            return connections(one_redis_server)

    one_redis_server.flush()
    before = connections(one_redis_server)
    assert asyncio.run(many()) - before == 3
    with open_storage(one_redis_server.url) as storage:
        for number in range(50):
            run(storage, f"put 1 me q K{number} klass {{}} 0")
        assert connections(one_redis_server) - before == 1
        assert run(storage, "length 1 q") == 100


def connections(server: Server) -> int:
    with server.client() as admin:
        return len(admin.client_list()) - 1


# -- a server that goes and comes -------------------------------------------------------------------


def test_a_server_that_is_gone(start_server: StartServer, one_kind: servers.Kind) -> None:
    server = start_server(one_kind)
    with (
        proxied(server.url) as (gate, url),
        open_storage(url, policy=Policy(deadline=0.2)) as storage,
    ):
        run(storage, PUT)
        server.stop()
        with pytest.raises(StoreUnavailable, match=r"cannot be reached|keeps breaking"):
            run(storage, PUT)
        gate.target = start_server(one_kind).port
        live(storage)


def test_a_call_waits_for_a_server_that_restarts(
    start_server: StartServer, one_kind: servers.Kind
) -> None:
    server = start_server(one_kind)
    with proxied(server.url) as (gate, url), open_storage(url) as storage:
        run(storage, PUT)
        server.stop()
        successor = start_server(one_kind)
        restart = threading.Timer(0.2, setattr, (gate, "target", successor.port))
        restart.start()
        assert run(storage, "put 2 me q K klass {} 0") == "K"
        restart.join()
        assert run(storage, "length 3 q") == 1, "nothing was saved, so J is gone"


def test_a_connection_that_the_server_has_closed_for_idleness(one_redis_server: Server) -> None:
    one_redis_server.flush()
    with one_redis_server.client() as admin, open_storage(one_redis_server.url) as storage:
        run(storage, PUT)
        admin.client_kill_filter(_type="normal", skipme=True)
        assert run(storage, "put 2 me q K klass {} 0") == "K"
        assert storage.metrics.recoveries == 0, "nothing had been sent that might have been applied"


# -- sentinel ---------------------------------------------------------------------------------------


@pytest.fixture
def watched(
    start_server: StartServer, one_kind: servers.Kind, tmp_path: Path
) -> Iterator[tuple[Any, Server]]:
    """Give a sentinel, and the master that it watches; there is a replica, too."""
    master, replica = start_server(one_kind), start_server(one_kind)
    with master.client() as admin:
        admin.config_set("repl-diskless-sync-delay", 0)
    with replica.client() as admin:
        admin.replicaof("127.0.0.1", str(master.port))
    port = servers._free_port()
    config = tmp_path / "sentinel.conf"
    config.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {tmp_path}\n"
        f"sentinel monitor mymaster 127.0.0.1 {master.port} 1\n"
    )
    with subprocess.Popen(
        [servers.find(one_kind), config, "--sentinel"], stdout=subprocess.DEVNULL
    ) as process:
        found: Any = Sentinel([("127.0.0.1", port)], socket_timeout=5)  # type: ignore[no-untyped-call]
        wait_until(lambda: answers(found.sentinels[0]))
        yield found, master
        found.sentinels[0].close()
        process.kill()


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def fails_over(sentinel: Any) -> bool:
    """Ask for a failover, which a sentinel begins once it knows the replica well enough."""
    try:
        return bool(sentinel.sentinels[0].sentinel_failover("mymaster"))
    except redis.RedisError:
        return False


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_sentinel(watched: tuple[Any, Server]) -> None:
    """A call goes on where another server has become the master."""
    sentinel, server = watched
    with sentinel.master_for("mymaster") as master, Client(connection=master) as client:
        queue = client.queues["q"]
        queue.put("klass", {}, jid="first")
        wait_until(lambda: fails_over(sentinel))
        wait_until(lambda: sentinel.discover_master("mymaster") != ("127.0.0.1", server.port))
        server.stop()
        assert queue.put("klass", {}, jid="second") == "second"
        assert client.storage.url == "sentinel://mymaster/0"
        host, port = sentinel.discover_master("mymaster")
        with redis.Redis(host=host, port=port) as new:
            assert new.exists("ql:j:second") == 1


# -- what is said where there is no connection ------------------------------------------------------


def test_a_database_that_there_is_none_of_is_refused(one_redis_url: str) -> None:
    url = one_redis_url.rpartition("/")[0] + "/9999"
    with open_storage(url) as storage, pytest.raises(StoreRefused, match="no database 9999"):
        run(storage, PUT)


def test_a_port_without_tls_is_hinted_at(one_redis_url: str) -> None:
    url = one_redis_url.replace("redis://", "rediss://") + "?socket_connect_timeout=0.2"
    with open_storage(url) as storage, pytest.raises(StoreUnavailable, match="does it speak TLS"):
        run(storage, PUT)
