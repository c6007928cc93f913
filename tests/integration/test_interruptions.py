# SPDX-License-Identifier: MIT
"""Whatever comes in the middle of a call, the storage is of use afterwards, and no bad connection is used again."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest
import redis

from pyqless.core.commands import call
from pyqless.errors import ClientClosed, OutcomeUnknown, StoreUnavailable
from pyqless.storage import Storage, open_storage
from pyqless.storage.redis import AsyncRedisStorage, Policy, RedisStorage
from tests.proxy import Direction, proxied
from tests.servers import Server
from tests.wires import Packet, names, tapped
from tests.workers import until

StartServer = Callable[..., Server]

PUT: Final = "put 1 me q J klass {} 0"

#: milliseconds; a busy machine may let a good part of it go by before the process that is to feel it has its turn
PAUSE: Final = 1000
LIFE: Final = (PUT, "pop 2 q w 1", "heartbeat 3 J w", "complete 4 J w q {}")


def run(storage: Storage, words: str) -> Any:
    wanted = call(shlex.split(words))
    return wanted.render(storage.run(wanted.transition, wanted.now))


def live(storage: Storage) -> None:
    for words in LIFE:
        run(storage, words)


async def run_async(storage: AsyncRedisStorage, words: str) -> Any:
    wanted = call(shlex.split(words))
    return wanted.render(await storage.run(wanted.transition, wanted.now))


def history(url: str, jid: str = "J") -> list[str]:
    """What has happened to a job."""
    with redis.Redis.from_url(url) as client:
        return [json.loads(entry)[1] for entry in client.lrange(f"ql:j:{jid}-history", 0, -1)]


# -- the server ends the connection, or is stopped --------------------------------------------------


@pytest.mark.parametrize("packet", range(1, 8))
def test_client_kill_behind_each_packet(redis_server: Server, redis_url: str, packet: int) -> None:
    sent = 0

    def kill(*_: object) -> None:
        nonlocal sent
        sent += 1
        if sent == packet:
            with redis_server.client() as admin:
                admin.client_kill_filter(_type="normal", skipme=True)

    with tapped(kill), open_storage(redis_url) as storage:
        live(storage)
        assert sent >= packet
        assert storage.metrics.conflicts == 0
    assert history(redis_url) == ["put", "popped", "done"]


def test_client_pause(redis_server: Server, redis_url: str) -> None:
    """The server takes nothing for longer than anybody waits for a reply."""
    with redis_server.client() as admin, open_storage(redis_url, socket_timeout=0.1) as storage:
        run(storage, "config.set 0 application pause")
        admin.client_pause(PAUSE)
        assert run(storage, PUT) == "J"
        assert storage.metrics.attempts > 2
    assert history(redis_url) == ["put"]


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """The server does nothing, and its connections stay."""
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def test_a_frozen_server(start_server: StartServer, redis_server: Server) -> None:
    server = start_server(redis_server.kind)
    with open_storage(server.url, socket_timeout=0.1, policy=Policy(deadline=0.2)) as storage:
        run(storage, "config.set 0 application frozen")
        with frozen(server), pytest.raises(StoreUnavailable):
            run(storage, PUT)
        assert run(storage, "put 2 me q K klass {} 0") == "K"
        assert history(server.url) == [], "no EXEC had been sent"


def test_a_server_that_freezes_before_exec(start_server: StartServer, redis_server: Server) -> None:
    """EXEC waits in the kernel, and is carried out when nobody waits for it any more."""
    server = start_server(redis_server.kind)

    def freeze(packet: Packet, _: object) -> None:
        if names(packet)[-1] == "MULTI" and "LRANGE" in names(packet):
            server.process.send_signal(signal.SIGSTOP)

    policy = Policy(deadline=0.2)
    with tapped(freeze), open_storage(server.url, socket_timeout=0.1, policy=policy) as storage:
        run(storage, "config.set 0 application frozen")
        with pytest.raises(OutcomeUnknown):
            run(storage, PUT)
        server.process.send_signal(signal.SIGCONT)
        assert run(storage, "config.set 0 application thawed") is None
        assert history(server.url) == ["put"]


# -- signals ----------------------------------------------------------------------------------------


@contextmanager
def alarm(seconds: float, handle: Callable[..., object]) -> Iterator[None]:
    """Let a signal come after some time."""
    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_in_the_middle_of_a_call(redis_server: Server, redis_url: str) -> None:
    with open_storage(redis_url) as storage:
        run(storage, "config.set 0 application interrupt")
        with frozen(redis_server), pytest.raises(KeyboardInterrupt), alarm(0.05, interrupt):
            run(storage, PUT)
        assert run(storage, "put 2 me q K klass {} 0") == "K"
        assert json.loads(run(storage, "get 3 K"))["jid"] == "K"
    assert history(redis_url) == [], "the connection was closed before EXEC was sent"


def test_an_interrupt_while_connecting(redis_server: Server) -> None:
    """The connection is not used as if it had been opened well: in the wrong database, replies to come."""
    redis_server.flush()
    url = redis_server.url.removesuffix("/0") + "/7"
    with redis_server.client() as admin, open_storage(url) as storage:
        with frozen(redis_server), pytest.raises(KeyboardInterrupt), alarm(0.05, interrupt):
            run(storage, PUT)
        live(storage)
        assert set(admin.info("keyspace")) == {"db7"}


def test_an_interrupt_behind_each_packet(redis_url: str) -> None:
    """Its replies have been read, so the caller does not know what became of the call."""
    for interrupted in range(1, 8):
        sent = 0

        def raise_once(*_: object, last: int = interrupted) -> None:
            nonlocal sent
            sent += 1
            if sent == last:
                raise KeyboardInterrupt

        with open_storage(redis_url) as others:
            others.flush()
        with tapped(raise_once), open_storage(redis_url) as storage:
            with pytest.raises(KeyboardInterrupt):
                live(storage)
            assert run(storage, "put 6 me other K klass {} 0") == "K"
            assert json.loads(run(storage, "get 7 K"))["queue"] == "other"


# redis-py forgets a socket that it is about to open
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("tries", [200, pytest.param(20_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("first", [None, "length 0 q"], ids=["connecting", "connected"])
def test_an_interrupt_at_any_time(one_redis_server: Server, first: str | None, tries: int) -> None:
    """Not only where a call waits; and in redis-py, too, which keeps what it has opened half."""
    url = one_redis_server.url.removesuffix("/0") + "/7"
    one_redis_server.flush()
    interrupted = 0
    for number in range(tries):
        with open_storage(url) as storage:
            if first:
                run(storage, first)
            try:
                with alarm(1e-6 + number % 200 * 1e-5, interrupt):
                    run(storage, f"put 1 me q J{number} klass {{}} 0")
            except KeyboardInterrupt:
                interrupted += 1
            assert run(storage, f"put 2 me other K{number} klass {{}} 0") == f"K{number}"
            assert json.loads(run(storage, "pop 3 other v 1"))[0]["jid"] == f"K{number}"
            assert run(storage, f"complete 4 K{number} v other {{}}") == "complete"
    assert interrupted > tries / 10
    with one_redis_server.client() as admin:
        assert set(admin.info("keyspace")) == {"db7"}


def test_a_call_from_a_signal_handler(redis_server: Server, redis_url: str) -> None:
    nested = []

    def handle(*_: object) -> None:
        redis_server.process.send_signal(signal.SIGCONT)
        nested.append(run(storage, "put 2 me q K klass {} 0"))

    with open_storage(redis_url) as storage:
        run(storage, "config.set 0 application nested")
        with frozen(redis_server), alarm(0.03, handle):
            assert run(storage, PUT) == "J"
        assert nested == ["K"]
    assert history(redis_url) == ["put"]
    assert history(redis_url, "K") == ["put"]


# -- threads and processes --------------------------------------------------------------------------


def test_threads_share_a_storage(redis_url: str) -> None:
    faults: list[BaseException] = []

    def live(name: str) -> None:
        try:
            for number in range(30):
                jid = f"{name}-{number}"
                assert run(storage, f"put 1 me {name} {jid} klass {{}} 0") == jid
                assert json.loads(run(storage, f"get 1 {jid}"))["jid"] == jid
                (popped,) = json.loads(run(storage, f"pop 2 {name} {name} 1"))
                assert popped["jid"] == jid
                assert run(storage, f"complete 3 {jid} {name} {name} {{}}") == "complete"
        except BaseException as fault:
            faults.append(fault)
            raise

    with open_storage(redis_url) as storage:
        threads = [threading.Thread(target=live, args=(f"w{number}",)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        assert len(json.loads(json.dumps(run(storage, "jobs 5 complete 0 1000")))) == 180


def test_a_fork_with_an_open_connection(redis_url: str, tmp_path: Path) -> None:
    """Parent and child both go on, and neither reads the other's replies."""
    script = textwrap.dedent("""
        import json, os, sys
        from pyqless.core.commands import call
        from pyqless.storage import open_storage

        def run(*words):
            wanted = call(words)
            return wanted.render(storage.run(wanted.transition, wanted.now))

        def live(name):
            for number in range(100):
                jid = f"{name}-{number}"
                assert run("put", "1", "me", "q", jid, "klass", "{}", "0") == jid
                assert json.loads(run("get", "1", jid))["jid"] == jid

        storage = open_storage(sys.argv[1])
        live("before")
        child = os.fork()
        live(f"behind-{bool(child)}")
        if not child:
            grandchild = os.fork()
            live(f"further-{bool(grandchild)}")
            if grandchild:
                assert os.waitpid(grandchild, 0)[1] == 0
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert run("length", "1", "q") == 500
        assert len(storage.client().keys("ql:py:*")) == 3, "each process has its own fence"
        storage.close()
    """)
    subprocess.run(
        [sys.executable, "-W", "error", "-c", script, redis_url],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=60,
        check=True,
    )


def test_a_fork_while_others_wait_for_their_turn(one_redis_url: str, tmp_path: Path) -> None:
    """In the child nobody waits any more; in the parent they go on, and have their replies to themselves."""
    script = textwrap.dedent("""
        import math, os, sys, threading
        from itertools import count, takewhile
        import redis
        from pyqless import Client
        from pyqless.core.busyness import Busy
        from pyqless.storage.redis import Policy

        def work(name, numbers):
            for number in numbers:
                queue.put("klass", jid=f"{name}-{number}", priority=number)
                take()

        def take():
            job = queue.pop()
            if job:
                job.complete()
                os.write(1, f"{job.jid} ".encode())
            return job

        client = Client(sys.argv[1], policy=Policy(near=math.inf))
        client.storage.memory["busy", "q"] = Busy(math.inf, 16, is_scarce=True)
        queue, is_over, children = client.queues["q"], threading.Event(), []
        for name in "abc":
            numbers = takewhile(lambda _: not is_over.is_set(), count())
            threading.Thread(target=work, args=(name, numbers), daemon=True).start()
        with redis.Redis.from_url(sys.argv[1]) as plain:
            for name in "defgh":
                while not plain.info("clients")["blocked_clients"]:
                    pass
                children.append(os.fork())
                if not children[-1]:
                    work(name, range(20))
                    client.close()
                    os._exit(0)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
        is_over.set()
        for thread in threading.enumerate():
            if thread.daemon:
                thread.join()
        while take():
            pass
        client.close()
    """)
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-W",
            "ignore::DeprecationWarning",
            "-c",
            script,
            one_redis_url,
        ],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=60,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    taken = done.stdout.split()
    assert len(set(taken)) == len(taken)
    assert {f"{name}-{number}" for name in "defgh" for number in range(20)} <= set(taken)
    with redis.Redis.from_url(one_redis_url, decode_responses=True) as client:
        assert sorted(client.zrange("ql:completed", 0, -1)) == sorted(taken)


# -- cancellation -----------------------------------------------------------------------------------


class CancelledAt:
    """Awaits a coroutine, and has the task cancelled at one of the points where it waits."""

    def __init__(self, inner: Coroutine[Any, Any, Any], point: int) -> None:
        self._inner = inner
        self._left = point

    @property
    def is_cancelled(self) -> bool:
        """Whether the point was reached."""
        return self._left <= 0

    def __await__(self) -> Generator[Any, Any, Any]:
        send: Callable[[Any], Any] = self._inner.send
        value: Any = None
        while True:
            try:
                waited = send(value)
            except StopIteration as end:
                return end.value
            self._left -= 1
            if self._left == 0:
                task = asyncio.current_task()
                assert task
                task.cancel()
            try:
                send, value = self._inner.send, (yield waited)
            except BaseException as error:  # noqa: BLE001 - it goes to whom it is for
                send, value = self._inner.throw, error


async def cancelled(inner: Coroutine[Any, Any, Any], point: int) -> bool:
    """Cancel a call at the point; returns whether it came so far."""
    awaited = CancelledAt(inner, point)

    async def outer() -> None:
        await awaited

    # before Python 3.12, wait_for, which redis-py uses while connecting, may swallow the cancellation
    with suppress(asyncio.CancelledError):
        await asyncio.create_task(outer())
    return awaited.is_cancelled


@pytest.mark.parametrize("words", [PUT, "pop 5 q w 1", "complete 5 J w q {}", "get 5 J"])
@pytest.mark.parametrize("first", ["length 0 q", "the call"])
@pytest.mark.parametrize("piece", [30, pytest.param(3, marks=pytest.mark.soak)])
async def test_cancellation_wherever_a_call_waits(
    one_redis_server: Server, words: str, first: str, piece: int
) -> None:
    """Also while it connects, if it is the first."""
    url = one_redis_server.url.removesuffix("/0") + "/5"
    with proxied(url) as (proxy, slow_url):
        # replies come in small pieces, so that there are many points
        proxy.piece = piece
        point, was_cancelled = 0, True
        while was_cancelled:
            point += 1
            one_redis_server.flush()
            with open_storage(url) as others:
                for before in (PUT, "pop 2 q w 1") if "complete" in words else (PUT,):
                    run(others, before)
            pool = redis.asyncio.ConnectionPool.from_url(slow_url, max_connections=1)
            storage = AsyncRedisStorage(connection=pool)
            if first != "the call":
                await run_async(storage, first)
            proxy.pace = 0.0005
            was_cancelled = await cancelled(run_async(storage, words), point)
            proxy.pace = 0.0
            await check_use(storage)
            await storage.close()
            client = redis.asyncio.Redis(connection_pool=pool)
            assert await client.hget("ql:j:K", "state") == b"complete"
            await pool.disconnect()
            with one_redis_server.client() as admin:
                assert set(admin.info("keyspace")) == {"db5"}
            assert history(url).count("put") in {1, 2}
    assert point > 2


async def check_use(storage: AsyncRedisStorage) -> None:
    """On the same connection object as before, since the pool has but one."""
    for words in ("put 6 me other K klass {} 0", "pop 6 other v 1", "complete 6 K v other {}"):
        await run_async(storage, words)
    assert json.loads(await run_async(storage, "get 7 K"))["state"] == "complete"


async def test_what_a_cancelled_call_has_not_sent_is_not_sent_later(
    one_redis_server: Server,
) -> None:
    one_redis_server.flush()
    size, passed = 30_000_000, 0
    begun, cancelled_now = threading.Event(), threading.Event()

    def hold(_: Direction, data: bytes) -> None:
        nonlocal passed
        passed += len(data)
        if passed > 100_000:
            begun.set()
            cancelled_now.wait(10)

    with proxied(one_redis_server.url) as (proxy, url):
        proxy.choose = hold
        async with AsyncRedisStorage(url) as storage:
            large = call(("put", "1", "me", "q", "J", "klass", json.dumps("x" * size), "0"))
            task = asyncio.create_task(storage.run(large.transition, large.now))
            assert await asyncio.to_thread(begun.wait, 10)
            task.cancel()
            await asyncio.wait([task])
            cancelled_now.set()
            await asyncio.to_thread(proxy.wait)
            assert await run_async(storage, "put 2 me q K klass {} 0") == "K"
    assert passed < size
    assert history(one_redis_server.url) == []


class SlowCredentials(redis.CredentialProvider):
    """Fetches the password from somewhere."""

    def get_credentials(self) -> tuple[str, str]:
        return ("slow", "password")

    async def get_credentials_async(self) -> tuple[str, str]:
        await asyncio.sleep(0)
        return self.get_credentials()


async def test_cancellation_before_the_password_is_sent(one_redis_server: Server) -> None:
    one_redis_server.flush()
    url = one_redis_server.url.removesuffix("/0") + "/5"
    with one_redis_server.client() as admin:
        rules = {"passwords": ["+password"], "categories": ["+@all"], "channels": ["*"]}
        admin.acl_setuser("slow", enabled=True, keys=["*"], **rules)
        point, was_cancelled = 0, True
        while was_cancelled:
            point += 1
            async with AsyncRedisStorage(url, credential_provider=SlowCredentials()) as storage:
                was_cancelled = await cancelled(run_async(storage, PUT), point)
                await check_use(storage)
        assert set(admin.info("keyspace")) == {"db5"}
        admin.acl_deluser("slow")


async def test_a_cancelled_call_gives_its_place_to_the_next(one_redis_server: Server) -> None:
    one_redis_server.flush()
    async with AsyncRedisStorage(one_redis_server.url, lanes=1) as storage:
        for point in range(1, 6):
            await cancelled(run_async(storage, PUT), point)
        assert await run_async(storage, PUT) == "J"


async def test_a_timeout_around_a_call(one_redis_server: Server) -> None:
    one_redis_server.flush()
    async with AsyncRedisStorage(one_redis_server.url) as storage:
        await run_async(storage, "config.set 0 application timeout")
        with frozen(one_redis_server), pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await run_async(storage, PUT)
        assert await run_async(storage, "put 2 me q K klass {} 0") == "K"
    assert history(one_redis_server.url) == []


# -- closing ----------------------------------------------------------------------------------------


def test_a_storage_that_is_closed(redis_url: str) -> None:
    storage = open_storage(redis_url)
    run(storage, PUT)
    storage.close()
    storage.close()
    with pytest.raises(ClientClosed, match="closed"):
        run(storage, PUT)


def test_closing_while_a_call_is_under_way(one_redis_server: Server) -> None:
    """The call ends well, and leaves no connection behind."""
    one_redis_server.flush()
    results: list[Any] = []
    with one_redis_server.client() as admin:
        before = len(admin.client_list())
        storage = RedisStorage(one_redis_server.url)
        run(storage, "config.set 0 application closing")
        thread = threading.Thread(target=lambda: results.append(run(storage, PUT)))
        with frozen(one_redis_server):
            thread.start()
            until(lambda: storage.metrics.attempts > 1, "the call is under way")
            storage.close()
        thread.join()
        assert results == ["J"]
        assert len(admin.client_list()) == before


async def test_closing_while_a_call_is_under_way_with_asyncio(one_redis_server: Server) -> None:
    one_redis_server.flush()
    with one_redis_server.client() as admin:
        before = len(admin.client_list())
        storage = AsyncRedisStorage(one_redis_server.url)
        await run_async(storage, "config.set 0 application closing")
        task = asyncio.create_task(run_async(storage, PUT))
        await asyncio.sleep(0)
        await storage.close()
        assert await task == "J"
        assert len(admin.client_list()) == before
