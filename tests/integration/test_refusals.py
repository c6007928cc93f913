# SPDX-License-Identifier: MIT
"""What a store refuses: one clear error, and nothing has changed."""

from __future__ import annotations

import shlex
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import pytest
import redis

from pyqless.core.commands import call
from pyqless.errors import (
    InvalidArgument,
    JobNotFound,
    StorageError,
    StoreCorrupted,
    StoreRefused,
    StoreUnavailable,
    StoreUnsupported,
)
from pyqless.storage import Storage, open_storage
from pyqless.storage.redis import Policy, RedisStorage
from tests.proxy import Fault, proxied
from tests.servers import Server
from tests.wires import tapped

StartServer = Callable[..., Server]

PUT: Final = "put 1 me q J klass {} 0"
RUNNING: Final = (PUT, "pop 2 q w 1")


def run(storage: Storage, words: str) -> Any:
    wanted = call(shlex.split(words))
    return wanted.render(storage.run(wanted.transition, wanted.now))


@contextmanager
def unchanged(url: str) -> Iterator[None]:
    """What is stored is the same at the end of the block."""
    with open_storage(url) as others:
        before = others.dump()
        yield
        assert others.dump() == before


# -- rights -----------------------------------------------------------------------------------------


@pytest.fixture
def limited(redis_server: Server) -> Iterator[tuple[redis.Redis, str]]:
    """Give an administrator, and the URL for a user who may do everything but scripting."""
    redis_server.flush()
    with redis_server.client() as admin:
        set_user(admin, "limited", "on nopass ~* &* +@all -@scripting")
        yield admin, redis_server.url.replace("redis://", "redis://limited:any@")
        admin.acl_deluser("limited")


def set_user(admin: redis.Redis, name: str, rules: str) -> None:
    admin.execute_command("ACL", "SETUSER", name, *rules.split())  # type: ignore[no-untyped-call]


def forbid(admin: redis.Redis, what: str) -> None:
    set_user(admin, "limited", what)


#: what a transaction cannot do without
NEEDED: Final = ["-watch", "-multi", "-exec", "-publish", "resetchannels", "-hset", "-hgetall"]


@pytest.mark.parametrize("what", NEEDED)
def test_a_command_forbidden_from_the_beginning(
    limited: tuple[redis.Redis, str], redis_url: str, what: str
) -> None:
    admin, url = limited
    forbid(admin, what)
    with unchanged(redis_url), open_storage(url) as storage:
        with pytest.raises(StoreUnsupported) as caught:
            run(storage, PUT)
        assert what.lstrip("-").upper() in str(caught.value) or what == "resetchannels"
        assert caught.value.value == "NOPERM"
        assert storage.metrics.attempts == 1


@pytest.mark.parametrize("what", NEEDED)
def test_a_command_forbidden_between_two_calls(
    limited: tuple[redis.Redis, str], redis_url: str, what: str
) -> None:
    admin, url = limited
    with open_storage(url) as storage:
        run(storage, PUT)
        forbid(admin, what)
        with unchanged(redis_url), pytest.raises(StoreUnsupported):
            run(storage, "put 2 me q J klass {} 0")
        forbid(admin, "+@all")
        forbid(admin, "allchannels")
        assert run(storage, "put 3 me q J klass {} 0") == "J"


@pytest.mark.parametrize("what", ["-exec", "-publish", "resetchannels", "-hset"])
def test_a_command_forbidden_in_the_middle_of_a_call(
    limited: tuple[redis.Redis, str], redis_url: str, what: str
) -> None:
    admin, url = limited
    with unchanged(redis_url), tapped(lambda *_: forbid(admin, what)):  # noqa: SIM117
        with open_storage(url) as storage, pytest.raises(StoreUnsupported):
            run(storage, PUT)


def test_a_forbidden_discard(limited: tuple[redis.Redis, str], redis_url: str) -> None:
    """What an earlier call left open cannot be left, so the connection is closed."""
    admin, url = limited
    forbid(admin, "-discard")
    with open_storage(url) as storage:
        assert run(storage, PUT) == "J"
        with pytest.raises(JobNotFound):
            run(storage, "heartbeat 2 missing w")
        with unchanged(redis_url), pytest.raises(StoreUnsupported, match="DISCARD"):
            run(storage, "put 3 me q J klass {} 0")
        assert run(storage, "put 3 me q J klass {} 0") == "J"


@pytest.mark.parametrize("name", ["WATCH", "MULTI", "EXEC"])
def test_a_command_that_the_server_does_not_know(start_server: StartServer, name: str) -> None:
    server = start_server("redis70", "plain", extra_args=("--rename-command", name, ""))
    with (
        unchanged(server.url),
        open_storage(server.url) as storage,
        pytest.raises(StoreUnsupported, match=f"lacks or forbids {name}"),
    ):
        run(storage, PUT)


def test_other_keys_are_forbidden(limited: tuple[redis.Redis, str], redis_url: str) -> None:
    admin, url = limited
    set_user(admin, "limited", "resetkeys ~other:*")
    with unchanged(redis_url), open_storage(url) as storage, pytest.raises(StoreUnsupported):
        run(storage, PUT)
    with open_storage(url, namespace="other") as storage:
        assert run(storage, PUT) == "J"


# -- passwords --------------------------------------------------------------------------------------


def test_a_wrong_password(one_redis_server: Server) -> None:
    with one_redis_server.client() as admin:
        set_user(admin, "known", "on >right ~* &* +@all")
    url = one_redis_server.url.replace("redis://", "redis://known:wrong@")
    with open_storage(url) as storage:
        with pytest.raises(StoreRefused, match="does not let us in"):
            run(storage, PUT)
        with pytest.raises(StoreRefused, match="refuses the subscription"):
            storage.subscribe("ql:log")


def test_no_password(start_server: StartServer) -> None:
    server = start_server("redis70", "plain")
    with server.client() as admin:
        admin.config_set("requirepass", "secret")
    with open_storage(server.url) as storage, pytest.raises(StoreRefused, match=r"password|NOAUTH"):
        run(storage, PUT)
    with open_storage(server.url.replace("redis://", "redis://:secret@")) as storage:
        assert run(storage, PUT) == "J"


def test_a_user_that_is_deleted(limited: tuple[redis.Redis, str]) -> None:
    admin, url = limited
    with open_storage(url) as storage:
        run(storage, PUT)
        admin.acl_deluser("limited")
        with pytest.raises(StoreRefused, match="does not let us in"):
            run(storage, PUT)


def test_a_database_that_is_not_there(one_redis_server: Server) -> None:
    url = one_redis_server.url.removesuffix("/0") + "/99"
    with open_storage(url) as storage, pytest.raises(StoreRefused, match="out of range"):
        run(storage, PUT)


# -- the state of the server ------------------------------------------------------------------------


@pytest.fixture
def own_server(start_server: StartServer, redis_server: Server) -> Server:
    """Repeat the test on each kind, on a server that it may ruin."""
    return start_server(redis_server.kind)


def set_memory(admin: redis.Redis, limit: int) -> None:
    admin.config_set("maxmemory-policy", "noeviction")
    admin.config_set("maxmemory", limit)


def test_out_of_memory(own_server: Server) -> None:
    with own_server.client() as admin, open_storage(own_server.url) as storage:
        run(storage, PUT)
        set_memory(admin, 1)
        with unchanged(own_server.url), pytest.raises(StoreRefused, match="memory") as caught:
            run(storage, "put 2 me q K klass {} 0")
        assert caught.value.value == "OOM"
        assert run(storage, "length 3 q") == 1
        set_memory(admin, 0)
        assert run(storage, "put 4 me q K klass {} 0") == "K"


def test_a_store_that_is_nearly_full_is_drained(own_server: Server) -> None:
    """Without the headroom it would fill up to where nothing can be written, before Redis 7.4 not even an end."""
    with own_server.client() as admin:
        used = admin.info("memory")["used_memory"]
        set_memory(admin, used + 2_000_000)
        now = 0.0
        policy = Policy(monotonic=lambda: now)
        with open_storage(own_server.url, headroom=0.3, policy=policy) as storage:
            put, caught = 0, None
            while caught is None and put < 5000:
                now += 1
                try:
                    run(storage, f"put 1 me q J{put} {'x' * 5000} {{}} 0")
                    put += 1
                except StoreRefused as error:
                    caught = error
            assert caught is not None
            assert caught.argument == "headroom"
            assert "for the work that is there" in str(caught)
            assert put > 10
            with pytest.raises(StoreRefused):
                run(storage, "put 1 me q K klass {} 0")
            for number in range(put):
                now += 1
                run(storage, "pop 2 q w 1")
                run(storage, f"cancel 3 J{number}")
            assert run(storage, "length 3 q") == 0
            now += 1
            assert run(storage, "put 4 me q K klass {} 0") == "K"


@pytest.mark.parametrize("headroom", [-0.1, 1, "much", True])
def test_a_headroom_that_makes_no_sense(headroom: object) -> None:
    with pytest.raises(InvalidArgument) as caught:
        open_storage("redis://localhost", headroom=headroom)
    assert (caught.value.argument, caught.value.value) == ("headroom", headroom)


def test_out_of_memory_while_in_doubt(own_server: Server) -> None:
    """The fence cannot be written any more, but it tells that the commit took place."""
    with (
        own_server.client() as admin,
        proxied(own_server.url) as (gate, url),
        open_storage(url) as storage,
    ):
        run(storage, PUT)

        def choose(direction: str, data: bytes) -> Fault | None:
            if direction == "request" or b"QUEUED" not in data:
                return None
            gate.calm()
            set_memory(admin, 1)
            return Fault("cut", "reply", 0)

        gate.choose = choose
        assert run(storage, "put 2 me q K klass {} 0") == "K"
        assert storage.metrics.recoveries == 1
        assert run(storage, "length 3 q") == 2


def test_too_few_replicas(own_server: Server) -> None:
    with own_server.client() as admin, open_storage(own_server.url) as storage:
        run(storage, PUT)
        admin.config_set("min-replicas-to-write", 1)
        with unchanged(own_server.url), pytest.raises(StoreRefused, match="replicas") as caught:
            run(storage, "put 2 me q K klass {} 0")
        assert caught.value.value == "NOREPLICAS"
        admin.config_set("min-replicas-to-write", 0)
        assert run(storage, "put 4 me q K klass {} 0") == "K"


def test_a_server_that_cannot_save(own_server: Server) -> None:
    with own_server.client() as admin, open_storage(own_server.url) as storage:
        run(storage, PUT)
        shutil.rmtree(own_server.directory)
        admin.config_set("save", "3600 1")
        with pytest.raises(redis.ResponseError):
            admin.save()
        with suppress(redis.ResponseError):
            admin.bgsave()
        wait_until(lambda: admin.info("persistence")["rdb_last_bgsave_status"] == "err")
        with unchanged(own_server.url), pytest.raises(StoreRefused, match="save") as caught:
            run(storage, "put 2 me q K klass {} 0")
        assert caught.value.value == "MISCONF"
        admin.config_set("stop-writes-on-bgsave-error", "no")
        assert run(storage, "put 4 me q K klass {} 0") == "K"


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_replica(own_server: Server, start_server: StartServer) -> None:
    master = start_server(own_server.kind)
    with own_server.client() as admin, open_storage(own_server.url) as storage:
        admin.replicaof("127.0.0.1", str(master.port))
        with pytest.raises(StoreRefused, match="read-only replica") as caught:
            run(storage, PUT)
        assert caught.value.value == "READONLY"
        assert run(storage, "length 1 q") == 0


def test_a_master_that_becomes_a_replica(own_server: Server, start_server: StartServer) -> None:
    """One more connection is tried, since that may lead to the new master; here it does not."""
    other = start_server(own_server.kind)
    with own_server.client() as admin, open_storage(own_server.url) as storage:
        run(storage, PUT)
        admin.replicaof("127.0.0.1", str(other.port))
        attempts = storage.metrics.attempts
        with pytest.raises(StoreRefused, match="read-only replica"):
            run(storage, PUT)
        assert storage.metrics.attempts - attempts == 2
        admin.replicaof("NO", "ONE")
        assert run(storage, PUT) == "J"


def test_a_connection_that_leads_to_the_new_master(
    own_server: Server, start_server: StartServer
) -> None:
    other = start_server(own_server.kind)
    with (
        own_server.client() as admin,
        proxied(own_server.url) as (gate, url),
        open_storage(url) as storage,
    ):
        run(storage, PUT)
        gate.target = other.port
        admin.replicaof("127.0.0.1", str(other.port))
        assert run(storage, "put 2 me q K klass {} 0") == "K"
        with open_storage(other.url) as new:
            assert run(new, "length 3 q") == 1


@pytest.fixture
def loading(start_server: StartServer) -> Iterator[tuple[str, Callable[[], None]]]:
    """Give the URL of a server, and what makes it load its data for half a second."""
    server = start_server("redis70", extra_args=("--enable-debug-command", "yes"))
    with server.client() as admin:
        for number in range(50):
            admin.set(f"filling-{number}", "x" * 1024)
        admin.config_set("key-load-delay", 10_000)
        admin.config_set("loading-process-events-interval-bytes", 1024)
        threads = []

        def load() -> None:
            with server.client() as client:
                client.execute_command("DEBUG", "RELOAD")

        def begin() -> None:
            threads.append(threading.Thread(target=load))
            threads[-1].start()
            wait_until(lambda: admin.info("persistence").get("loading") == 1)

        yield server.url, begin
        for thread in threads:
            thread.join()


def test_a_server_that_loads_its_data(loading: tuple[str, Callable[[], None]]) -> None:
    url, begin = loading
    with open_storage(url, policy=Policy(deadline=0.0)) as storage:
        run(storage, PUT)
        begin()
        with pytest.raises(StoreUnavailable, match="LOADING"):
            run(storage, "put 2 me q K klass {} 0")


def test_a_call_waits_for_a_server_that_loads_its_data(
    loading: tuple[str, Callable[[], None]],
) -> None:
    url, begin = loading
    with open_storage(url) as storage:
        run(storage, PUT)
        begin()
        assert run(storage, "put 2 me q K klass {} 0") == "K"
        assert storage.metrics.attempts > 2


def test_a_port_where_something_else_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(1024)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"redis://127.0.0.1:{listener.getsockname()[1]}"
        with open_storage(url) as storage, pytest.raises(StoreUnavailable):
            run(storage, PUT)
        thread.join()


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    begun = time.monotonic()
    with open_storage(f"redis://127.0.0.1:{port}") as storage, pytest.raises(StoreUnavailable):
        run(storage, PUT)
    assert time.monotonic() - begun < 1


# -- what lies in the store -------------------------------------------------------------------------

#: a key of ours, a call that reads it, and its state before
READ: Final = [
    ("ql:j:J", "get 3 J", ()),
    ("ql:j:J", "heartbeat 3 J w", ()),
    ("ql:j:J", PUT, ()),
    ("ql:j:J-history", "complete 3 J w q {}", RUNNING),
    ("ql:j:J-dependents", "complete 3 J w q {}", RUNNING),
    ("ql:config", "pop 3 q w 1", ()),
    ("ql:q:q-work", "pop 3 q w 1", ()),
    ("ql:q:q-locks", "length 3 q", ()),
    ("ql:f:g", "unfail 3 q g", ()),
    ("ql:r:R", "recur.get 3 R", ()),
]

#: a key of ours that a call writes without reading it, and the write
BLIND: Final = [
    ("ql:q:q-work", PUT, "ZADD", ()),
    ("ql:queues", PUT, "ZADD", ()),
    ("ql:workers", "heartbeat 3 J w", "ZADD", RUNNING),
    ("ql:config", "config.set 3 heartbeat 60", "HSET", ()),
]


def spoil(url: str, key: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.set(key, "no data of qless")


@pytest.mark.parametrize(("key", "words", "given"), READ)
def test_a_key_of_another_type_that_is_read(
    redis_url: str, key: str, words: str, given: tuple[str, ...]
) -> None:
    with open_storage(redis_url) as storage:
        for before in given:
            run(storage, before)
        spoil(redis_url, key)
        with unchanged(redis_url), pytest.raises(StoreCorrupted, match=key) as caught:
            run(storage, words)
        assert caught.value.argument == key


@pytest.mark.parametrize(("key", "words", "write", "given"), BLIND)
def test_a_key_of_another_type_that_is_written(
    redis_url: str, key: str, words: str, write: str, given: tuple[str, ...]
) -> None:
    with open_storage(redis_url) as storage:
        for before in given:
            run(storage, before)
        spoil(redis_url, key)
        attempts = storage.metrics.attempts
        with pytest.raises(StoreCorrupted, match=f"{key}: {write} failed") as caught:
            run(storage, words)
        assert (caught.value.argument, caught.value.value) == (key, write)
        assert storage.metrics.attempts == attempts + 1, "it must not be tried again"
        assert run(storage, "length 4 other") == 0


def test_a_fence_of_another_type(one_redis_url: str) -> None:
    """It cannot be told by it whether a commit took place."""
    with (
        proxied(one_redis_url) as (gate, url),
        open_storage(url, policy=Policy(deadline=0.1)) as storage,
    ):
        run(storage, PUT)
        with redis.Redis.from_url(one_redis_url) as client:
            (fence,) = client.keys("ql:py:*")

            def choose(direction: str, data: bytes) -> Fault | None:
                if direction == "request" or b"QUEUED" not in data:
                    return None
                gate.calm()
                client.set(fence, "spoilt")
                return Fault("cut", "reply", 0)

            gate.choose = choose
            with pytest.raises(StorageError, match="WRONGTYPE") as caught:
                run(storage, "put 2 me q K klass {} 0")
            assert caught.value.code == "outcome_unknown"


# -- what cannot be sent ----------------------------------------------------------------------------


@pytest.mark.parametrize("storage_url", ["redis", "fakeredis"])
def test_half_a_surrogate_pair(one_redis_url: str, storage_url: str) -> None:
    url = one_redis_url if storage_url == "redis" else "fakeredis://"
    with open_storage(url) as storage:
        for words in ("put 1 me q J\ud800 klass {} 0", "put 1 me q\ud800 J klass {} 0"):
            with pytest.raises(InvalidArgument, match="UTF-8"):
                run(storage, words)
        assert storage.dump() == {}
        assert run(storage, PUT) == "J"


def test_bytes_that_are_no_utf_8_come_back_as_they_were(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client, open_storage(redis_url) as storage:
        assert run(storage, "put 1 me q \udcff\udcfe klass {} 0") == "\udcff\udcfe"
        assert client.hget("ql:j:\udcff\udcfe".encode("utf-8", "surrogateescape"), "jid") == (
            b"\xff\xfe"
        )
        assert "ql:j:\udcff\udcfe" in storage.dump()


# -- how a storage is opened ------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["redis://h:port/", "redis://h/0?socket_timeout=soon"])
def test_urls_that_make_no_sense(url: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        open_storage(url)
    assert caught.value.argument == "url"


def test_options_that_make_no_sense() -> None:
    with pytest.raises(InvalidArgument, match="decode_respones"):
        RedisStorage("redis://h", decode_respones=True)
    with pytest.raises(InvalidArgument, match="attempts"):
        Policy(attempts=0)


@pytest.mark.parametrize("connection", ["redis://h", 1, object(), redis.asyncio.Redis()])
def test_connections_that_are_none(connection: object) -> None:
    with pytest.raises(InvalidArgument) as caught:
        open_storage(connection=connection)
    assert caught.value.argument == "connection"
