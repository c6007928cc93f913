# SPDX-License-Identifier: MIT
"""
The connection breaks at any byte: the caller gets the true outcome, and nothing is applied twice.

Of each call it is counted in the store itself how often it has been applied.
"""

from __future__ import annotations

import json
import random
import shlex
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import redis

from pyqless.core.commands import call
from pyqless.core.keys import Keys
from pyqless.core.putting import JobSpec, put_new
from pyqless.core.statistics import fold
from pyqless.errors import OutcomeUnknown, StoreUnavailable
from pyqless.storage import Storage, open_storage
from pyqless.storage.redis import Policy, RedisStorage
from pyqless.storage.redis.fence import FENCE_LIFE
from tests.blocking import BlockingStorage
from tests.proxy import Action, Direction, Fault, Proxy, proxied
from tests.servers import Server
from tests.wires import Packet, tapped

Dump = Mapping[str, Mapping[str, Any]]
Open = Callable[..., RedisStorage]

#: seconds after which a client gives up on a reply, where it has to
TIMEOUT: Final = 0.3


class Deed(NamedTuple):
    """A call, how to tell how often it was applied, and what it replies."""

    call: str
    given: tuple[str, ...]
    applied: Callable[[Dump], int]
    reply: Any
    #: what its client has called before, which has read ahead for it
    before: tuple[str, ...] = ()


def events(dump: Dump, what: str, jid: str = "J") -> int:
    """How often the history of a job tells of an event."""
    entries = dump.get(f"ql:j:{jid}-history", {"value": []})["value"]
    return sum(json.loads(entry)[1] == what for entry in entries)


def members(dump: Dump, key: str) -> int:
    return len(dump.get(key, {"value": []})["value"])


PUT: Final = "put 1 me q J klass {} 0"
POP: Final = "pop 2 q w 1"
THREE: Final = (PUT, "put 2 me q K klass {} 0", "put 3 me q L klass {} 0")

DEEDS: Final = [
    Deed(PUT, (), lambda dump: events(dump, "put"), "J"),
    Deed(
        "pop 5 q w 1",
        THREE,
        lambda dump: members(dump, "ql:q:q-locks"),
        ["J"],
    ),
    Deed("complete 5 J w q {}", (PUT, POP), lambda dump: events(dump, "done"), "complete"),
    Deed(
        "heartbeat 5 J w",
        (PUT, POP),
        lambda dump: int(dump["ql:j:J"]["value"]["expires"] == "65"),
        65,
    ),
    Deed("fail 5 J w g message", (PUT, POP), lambda dump: members(dump, "ql:f:g"), "J"),
    Deed(
        "retry 5 J q w",
        (PUT, POP),
        lambda dump: 5 - int(dump["ql:j:J"]["value"]["remaining"]),
        4,
    ),
]


#: calls that take one packet, in which EXEC is not the last command
WARM: Final = [
    Deed("new 5 q N", (), lambda dump: events(dump, "put", "N"), "N", ("new 4 q M",)),
    Deed("new 5 q N", (PUT,), lambda dump: events(dump, "put", "N"), "N", ("pop 4 q w 1",)),
    Deed(
        "pop 5 q w 1",
        THREE,
        lambda dump: events(dump, "popped", "K") + events(dump, "popped", "L"),
        ["K"],
        ("pop 4 q w 1", "complete 4 J w q {}"),
    ),
    Deed(
        "complete 5 J w q {}",
        THREE,
        lambda dump: events(dump, "done"),
        "complete",
        ("pop 4 q w 1",),
    ),
    Deed(
        "heartbeat 5 J w",
        THREE,
        lambda dump: int(dump["ql:j:J"]["value"]["expires"] == "65"),
        65,
        ("pop 4 q w 1",),
    ),
]


def name_of(deed: Deed) -> str:
    return " behind ".join(words.split()[0] for words in (deed.call, *deed.before[-1:]))


def run(storage: Storage, words: str) -> Any:
    """Run a call; ``new`` puts a job under a jid that nobody has."""
    if words.startswith("new"):
        _, now, queue, jid = words.split()
        spec = JobSpec("klass", "{}")
        return storage.run(
            partial(put_new, worker="me", queue=queue, jid=jid, spec=spec), float(now)
        )
    wanted = call(shlex.split(words))
    reply = wanted.render(storage.run(wanted.transition, wanted.now))
    if words.startswith("pop"):
        return [job["jid"] for job in json.loads(str(reply))]
    return reply


@pytest.fixture(params=[RedisStorage, BlockingStorage], ids=["threads", "asyncio"])
def storage_class(request: pytest.FixtureRequest) -> Open:
    chosen: Open = request.param
    return chosen


@pytest.fixture
def proxy(one_redis_url: str) -> Iterator[tuple[Proxy, str]]:
    with proxied(one_redis_url) as found:
        yield found


@contextmanager
def warm(url: str, opener: Open = RedisStorage, **options: Any) -> Iterator[RedisStorage]:
    """Open a storage whose connection has committed before."""
    with opener(url, **options) as storage:
        run(storage, "config.set 0 application outcomes")
        yield storage


class Bench:
    """Runs one call after the other on a server through a proxy, each on a store of its own."""

    def __init__(self, server: Server, proxy: Proxy, url: str, opener: Open) -> None:
        self._server = server
        self._proxy = proxy
        self._url = url
        self._opener = opener

    def watch(self, deed: Deed) -> dict[Direction, bytes]:
        """What goes over the wire where all is well."""
        with self._prepared(deed) as storage:
            self._proxy.watch()
            assert run(storage, deed.call) == deed.reply
            passed: dict[Direction, bytes] = {"request": b"", "reply": b""}
            for direction, data in self._proxy.runs:
                passed[direction] += data
        return passed

    def check(self, deed: Deed, fault: Fault) -> None:
        """Let the connection fail; the caller must get its reply, and the call must be applied once."""
        options = {"socket_timeout": TIMEOUT} if fault.action == "stall" else {}
        with self._prepared(deed, **options) as storage:
            self._proxy.arm(fault)
            assert run(storage, deed.call) == deed.reply
            assert deed.applied(storage.dump()) == 1
            self._proxy.calm()
            self._proxy.release()
            assert deed.applied(storage.dump()) == 1

    @contextmanager
    def _prepared(self, deed: Deed, **options: Any) -> Iterator[RedisStorage]:
        self._proxy.calm()
        self._server.flush()
        with (
            open_storage(self._server.url) as others,
            warm(self._url, self._opener, **options) as storage,
        ):
            for words in deed.given:
                run(others, words)
            for words in deed.before:
                run(storage, words)
            assert deed.applied(others.dump() | {"ql:q:q-locks": {"value": []}}) == 0
            yield storage


@pytest.fixture
def bench(one_redis_server: Server, proxy: tuple[Proxy, str], storage_class: Open) -> Bench:
    return Bench(one_redis_server, *proxy, storage_class)


def boundaries(stream: bytes) -> list[int]:
    """Where the parts of requests or replies end."""
    return [at + 2 for at in range(len(stream)) if stream.startswith(b"\r\n", at)]


def telling(stream: bytes, direction: Direction) -> list[int]:
    """A few bytes behind which something else happens."""
    mark = b"$5\r\nMULTI\r\n" if direction == "request" else b"+QUEUED"
    first = stream.index(mark) + (len(mark) if direction == "request" else 0)
    last = len(stream)
    return [0, first // 2, first, first + 1, (first + last) // 2, last - 1, last]


EXEC: Final = b"$4\r\nEXEC\r\n"


def telling_of_a_packet(stream: bytes, direction: Direction) -> list[int]:
    """As ``telling``, where what is read ahead stands behind EXEC in one packet."""
    start = stream.index(EXEC if direction == "request" else b"\r\n*") + 2
    end = stream.index(EXEC) + len(EXEC) if direction == "request" else start + 4
    last = len(stream)
    return [0, start // 2, start, end - 1, end, end + 1, (end + last) // 2, last - 1, last]


@pytest.mark.parametrize("deed", WARM, ids=name_of)
@pytest.mark.parametrize("action", ["cut", "lose", "park"])
def test_at_a_few_bytes_of_a_packet_that_reads_ahead(
    bench: Bench, deed: Deed, action: Action
) -> None:
    passed = bench.watch(deed)
    assert EXEC in passed["request"]
    assert not passed["request"].endswith(EXEC)
    for at in telling_of_a_packet(passed["request"], "request"):
        bench.check(deed, Fault(action, "request", at))
    for at in telling_of_a_packet(passed["reply"], "reply")[:-1]:
        bench.check(deed, Fault(action, "reply", at))


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.call.split()[0])
@pytest.mark.parametrize("action", ["cut", "lose", "park"])
def test_at_a_few_bytes(bench: Bench, deed: Deed, action: Action) -> None:
    passed = bench.watch(deed)
    for at in telling(passed["request"], "request"):
        bench.check(deed, Fault(action, "request", at))
    for at in telling(passed["reply"], "reply")[:-1]:
        bench.check(deed, Fault(action, "reply", at))


@pytest.mark.parametrize("deed", [*DEEDS, *WARM], ids=name_of)
def test_a_server_that_does_not_answer_in_time(bench: Bench, deed: Deed) -> None:
    passed = bench.watch(deed)
    for direction, stream in passed.items():
        bench.check(deed, Fault("stall", direction, len(stream) - 1))
    bench.check(deed, Fault("stall", "request", end_of_commit(passed["request"]) - 1))


@pytest.mark.parametrize("deed", [*DEEDS, *WARM], ids=name_of)
def test_in_single_bytes(bench: Bench, proxy: tuple[Proxy, str], deed: Deed) -> None:
    proxy[0].piece = 1
    bench.watch(deed)


@pytest.mark.soak
@pytest.mark.parametrize("deed", [*DEEDS, *WARM], ids=name_of)
@pytest.mark.parametrize("action", ["cut", "lose", "park"])
def test_at_every_byte(bench: Bench, deed: Deed, action: Action) -> None:
    passed = bench.watch(deed)
    for at in range(len(passed["request"]) + 1):
        bench.check(deed, Fault(action, "request", at))
    for at in range(len(passed["reply"])):
        bench.check(deed, Fault(action, "reply", at))


@pytest.mark.soak
@pytest.mark.parametrize("deed", [*DEEDS, *WARM], ids=name_of)
def test_a_server_that_does_not_answer_in_time_at_every_boundary(bench: Bench, deed: Deed) -> None:
    for direction, stream in bench.watch(deed).items():
        for at in boundaries(stream)[:-1]:
            bench.check(deed, Fault("stall", direction, at))


# -- the fence --------------------------------------------------------------------------------------


def test_a_parked_exec_lands_on_the_fence(proxy: tuple[Proxy, str], storage_class: Open) -> None:
    """The old EXEC lands after the call was tried again, and is answered with nil."""
    gate, url = proxy
    with warm(url, storage_class) as storage:
        gate.watch()
        run(storage, PUT)
        whole = sum(len(data) for direction, data in gate.runs if direction == "request")
        gate.arm(Fault("park", "request", whole - 1))
        assert run(storage, "put 1 me q K klass {} 0") == "K"
        gate.calm()
        gate.watch()
        gate.release()
        assert gate.runs[-1][1].endswith(b"*-1\r\n")
        assert storage.metrics.recoveries == 1


@pytest.mark.parametrize("opener", [warm, RedisStorage], ids=["warm", "fresh"])
@pytest.mark.parametrize("deed", [*DEEDS, *WARM], ids=name_of)
def test_a_parked_exec_lands_right_behind_the_recovery(
    proxy: tuple[Proxy, str], deed: Deed, opener: Callable[[str], AbstractContextManager[Storage]]
) -> None:
    """Before the call is tried again, which would write the fence, too."""
    gate, url = proxy

    def release(packet: Packet, _: object) -> None:
        if any(command[0] == "HGET" and command[-1] == "seq" for command in packet):
            gate.release()

    with open_storage(url) as others:
        for words in deed.given:
            run(others, words)
    with tapped(release), opener(url) as storage:
        for words in deed.before:
            run(storage, words)
        gate.choose = at_commit(
            "request", lambda data: Fault("park", "request", end_of_commit(data) - 1)
        )
        assert run(storage, deed.call) == deed.reply
        assert storage.metrics.recoveries == 1
        assert deed.applied(storage.dump()) == 1


@pytest.mark.parametrize(("lost", "trips"), [("reply", 3), ("request", 5)])
def test_the_first_commit_of_a_connection(
    proxy: tuple[Proxy, str], storage_class: Open, lost: Direction, trips: int
) -> None:
    """Its fence is as old as the transaction."""
    gate, url = proxy
    with storage_class(url) as storage:
        run(storage, "length 0 q")
        gate.choose = at_commit(lost, lambda data: Fault("park", lost, max(0, len(data) - 9)))
        before = storage.metrics.trips
        assert run(storage, PUT) == "J"
        assert storage.metrics.trips - before == trips
        gate.calm()
        gate.release()
        assert events(storage.dump(), "put") == 1


def lost_to_a_flush(client: redis.Redis) -> None:
    client.flushall()


def lost_to_an_eviction(client: redis.Redis) -> None:
    client.delete(*client.keys("ql:py:fence:*"))


@pytest.mark.parametrize("lose", [lost_to_a_flush, lost_to_an_eviction])
@pytest.mark.parametrize(
    "before",
    [(PUT,), (PUT, "pop 1 q w 1"), (PUT, "pop 1 empty w 1"), ("pop 1 empty w 1",)],
    ids=["a commit", "reading ahead", "guards", "guards alone"],
)
def test_a_fence_that_was_lost_expires_when_a_commit_has_brought_it_back(
    one_redis_url: str,
    storage_class: Open,
    before: tuple[str, ...],
    lose: Callable[[redis.Redis], None],
) -> None:
    """Also where that was the connection's last."""
    with storage_class(one_redis_url) as storage, redis.Redis.from_url(one_redis_url) as client:
        for words in before:
            run(storage, words)
        lose(client)
        run(storage, "put 2 me q L klass {} 0")
        (fence,) = client.keys("ql:py:fence:*")
        assert 0 < client.ttl(fence) <= FENCE_LIFE
        assert events(storage.dump(), "put", "L") == 1


def at_commit(
    wanted: Direction, fail: Callable[[bytes], Fault]
) -> Callable[[Direction, bytes], Fault | None]:
    """Let something happen to the next commit, or to the reply to it."""
    waiting, armed = True, False

    def choose(direction: Direction, data: bytes) -> Fault | None:
        nonlocal waiting, armed
        armed |= waiting and direction == "request" and is_commit(data)
        if not armed or direction != wanted:
            return None
        waiting = armed = False
        return fail(data)

    return choose


def is_commit(data: bytes) -> bool:
    before, exec_, _ = data.partition(EXEC)
    return bool(exec_) and b"MULTI" not in before


def end_of_commit(data: bytes) -> int:
    """The byte behind EXEC; there may be more, which is read ahead."""
    return data.index(EXEC) + len(EXEC)


@pytest.mark.parametrize("opener", [warm, RedisStorage], ids=["warm", "fresh"])
def test_a_fence_that_is_gone(
    one_redis_server: Server,
    proxy: tuple[Proxy, str],
    opener: Callable[[str], AbstractContextManager[Storage]],
) -> None:
    """Before the first commit of a connection, or a later one."""
    gate, url = proxy

    def flush(_: bytes) -> Fault:
        one_redis_server.flush()
        return Fault("cut", "request", 0)

    with opener(url) as storage:
        gate.choose = at_commit("request", flush)
        with pytest.raises(OutcomeUnknown, match="its fence is gone") as caught:
            run(storage, PUT)
        assert str(caught.value.argument).startswith(Keys().own)
        gate.calm()
        assert run(storage, PUT) == "J"
        assert events(storage.dump(), "put") == 1


def test_a_store_that_cannot_be_asked(proxy: tuple[Proxy, str], storage_class: Open) -> None:
    gate, url = proxy
    policy = Policy(deadline=0.2)
    with warm(url, storage_class, policy=policy) as storage:
        gate.choose = lambda direction, data: (
            None if b"WATCH" in data or direction == "reply" else Fault("cut", direction, 0)
        )
        with pytest.raises(OutcomeUnknown, match="the store cannot be asked"):
            run(storage, PUT)
        gate.calm()
        assert run(storage, PUT) == "J"


@pytest.mark.parametrize(
    ("meanwhile", "state"),
    [
        ("get 4 J", "complete"),
        ("priority 4 J 0", "running"),
        ("heartbeat 4 J w", "running"),
        ("complete 4 J w q {}", "complete"),
    ],
    ids=["a look", "another write to the job", "a heartbeat", "the same call"],
)
def test_what_is_on_its_way_when_the_outcome_is_unknown(
    one_redis_url: str,
    proxy: tuple[Proxy, str],
    storage_class: Open,
    meanwhile: str,
    state: str,
) -> None:
    """Whoever writes to the job voids it, and then a look is final; a look before that comes too early."""
    gate, url = proxy
    park = at_commit("request", lambda data: Fault("park", "request", end_of_commit(data) - 1))

    def choose(direction: Direction, data: bytes) -> Fault | None:
        asks = direction == "request" and b"epoch" in data
        return Fault("cut", "request", 0) if asks else park(direction, data)

    with (
        open_storage(one_redis_url) as others,
        storage_class(url, policy=Policy(deadline=0.2)) as storage,
    ):
        for words in (PUT, POP):
            run(others, words)
        run(storage, "length 0 q")
        gate.choose = choose
        with pytest.raises(OutcomeUnknown, match="a look at the job can come too early"):
            run(storage, "complete 3 J w q {}")
        run(others, meanwhile)
        gate.release()
        dump = others.dump()
    assert dump["ql:j:J"]["value"]["state"] == state
    assert events(dump, "done") == (state == "complete")


def test_a_connection_that_keeps_breaking_changes_nothing(
    proxy: tuple[Proxy, str], storage_class: Open
) -> None:
    gate, url = proxy
    with storage_class(url, policy=Policy(attempts=5)) as storage:
        gate.choose = lambda direction, data: (
            Fault("cut", direction, 0) if b"WATCH" in data else None
        )
        with pytest.raises(StoreUnavailable, match="keeps breaking"):
            run(storage, PUT)
        assert storage.metrics.attempts == 5
        gate.calm()
        assert storage.dump() == {}


@pytest.mark.parametrize("lost", ["request", "reply"])
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.call.split()[0])
def test_a_server_that_is_killed_in_a_commit_and_comes_back_with_its_data(
    start_server: Callable[..., Server], tmp_path: Path, deed: Deed, lost: Direction
) -> None:
    """Before or behind the commit; the fence comes back with the data."""
    files = ("--dir", str(tmp_path), "--appendonly", "yes")
    server = start_server("redis70", extra_args=files)
    with open_storage(server.url) as others:
        for words in deed.given:
            run(others, words)

    def kill(_: bytes) -> Fault:
        server.stop()
        # a server ends with the thread that has started it, and the proxy's ends soon
        gate.target = starter.submit(start_server, "redis70", extra_args=files).result().port
        return Fault("cut", lost, 0)

    with (
        ThreadPoolExecutor(1) as starter,
        proxied(server.url) as (gate, url),
        warm(url) as storage,
    ):
        gate.choose = at_commit(lost, kill)
        assert run(storage, deed.call) == deed.reply
        assert deed.applied(storage.dump()) == 1
        assert storage.metrics.recoveries == 1


# -- chaos ------------------------------------------------------------------------------------------


class Chaos:
    """
    Lives of jobs, by several clients at one moment, while one in five commits goes wrong.

    What each client was told is written down, and compared with the store in the end.
    """

    def __init__(self, proxy: Proxy, url: str, seed: int) -> None:
        self._proxy = proxy
        self._url = url
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self.faults: Counter[str] = Counter()
        #: (event, jid): how often a client was told that it happened
        self.told: Counter[tuple[str, str]] = Counter()
        self._proxy.choose = self._choose

    def _choose(self, direction: Direction, data: bytes) -> Fault | None:
        if direction == "reply" or not is_commit(data) or self._random.random() > 0.2:
            return None
        kind = self._random.choice(["dropped", "unanswered", "torn", "parked", "late"])
        with self._lock:
            self.faults[kind] += 1
        inside, end = self._random.randrange(len(data)), len(data)
        return {
            "dropped": Fault("cut", "request", 0),
            "unanswered": Fault("lose", "request", end),
            "torn": Fault("cut", "request", inside),
            "parked": Fault("park", "request", inside, self._random.random() * 0.03),
            "late": Fault(
                "park", "request", end_of_commit(data) - 1, self._random.random() * 0.003
            ),
        }[kind]

    def live(self, client: int, jobs: int) -> None:
        with RedisStorage(self._url) as storage:
            for number in range(jobs):
                jid = f"{client}-{number}"
                assert run(storage, f"put 1 me q {jid} klass {{}} 0 retries 99") == jid
                self._note("put", jid)
                for popped in run(storage, f"pop 1 q w{client} 1"):
                    self._note("popped", popped)
                    self._end(storage, popped, f"w{client}")

    def _end(self, storage: Storage, jid: str, worker: str) -> None:
        run(storage, f"heartbeat 1 {jid} {worker}")
        fate = self._random.choice(["complete", "complete", "fail", "retry", "timeout"])
        if fate == "complete":
            run(storage, f"complete 1 {jid} {worker} q {{}}")
            self._note("done", jid)
        elif fate == "fail":
            run(storage, f"fail 1 {jid} {worker} g message")
            self._note("failed", jid)
        elif fate == "retry":
            run(storage, f"retry 1 {jid} q {worker}")
            self._note("retried", jid)
        else:
            run(storage, f"timeout 1 {jid}")
            self._note("timed-out", jid)

    def _note(self, event: str, jid: str) -> None:
        with self._lock:
            self.told[event, jid] += 1


def seen(dump: Dump) -> Counter[tuple[str, str]]:
    """What has happened to each job, as the store tells it."""
    found: Counter[tuple[str, str]] = Counter()
    for key, entry in dump.items():
        if key.startswith("ql:j:") and key.endswith("-history"):
            jid = key.removeprefix("ql:j:").removesuffix("-history")
            found.update((json.loads(text)[1], jid) for text in entry["value"])
        elif key.startswith("ql:j:") and entry["type"] == "hash":
            jid = key.removeprefix("ql:j:")
            found["retried", jid] = 99 - int(entry["value"]["remaining"])
    return +found


def survive(proxy: Proxy, url: str, clients: int, jobs: int, seed: int) -> Chaos:
    chaos = Chaos(proxy, url, seed)
    with ThreadPoolExecutor(clients) as pool:
        for life in [pool.submit(chaos.live, client, jobs) for client in range(clients)]:
            life.result()
    proxy.calm()
    return chaos


def check_chaos(proxy: tuple[Proxy, str], server: Server, clients: int, jobs: int) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chaos = survive(*proxy, clients, jobs, seed)
    proxy[0].close()  # waits for all that is still on its way
    with open_storage(server.url) as storage:
        storage.run(fold)
        dump = storage.dump()
    found = seen(dump)
    completed = {jid for event, jid in chaos.told if event == "done"}
    for jid in completed:
        # complete sets back what remains
        found["retried", jid] = chaos.told["retried", jid]
    assert +found == +chaos.told
    assert sum(chaos.faults.values()) > clients * jobs * 0.3
    wait = dump[next(key for key in dump if key.startswith("ql:s:wait"))]["value"]
    popped = sum(number for (event, _), number in chaos.told.items() if event == "popped")
    assert int(wait["total"]) == popped


def test_chaos(proxy: tuple[Proxy, str], one_redis_server: Server) -> None:
    check_chaos(proxy, one_redis_server, clients=4, jobs=150)


@pytest.mark.soak
@pytest.mark.parametrize("_round", range(5))
def test_much_chaos(proxy: tuple[Proxy, str], one_redis_server: Server, _round: int) -> None:
    check_chaos(proxy, one_redis_server, clients=8, jobs=2000)
