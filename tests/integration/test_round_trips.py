# SPDX-License-Identifier: MIT
"""What each call costs in round trips, and what goes over the wire in them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

import pytest
import redis

from pyqless.core.commands import COMMANDS, call
from pyqless.core.keyspace import READS, WRITES
from pyqless.core.putting import JobSpec, put_new
from pyqless.errors import QlessError
from pyqless.storage import Storage, open_storage
from tests import servers
from tests.proxy import proxied
from tests.servers import SCRIPTING, SCRIPTING_SINCE_7, Server
from tests.wires import Packet, is_safe, names, recorded, tapped, writes


class Row(NamedTuple):
    """A call, what comes before it, and its round trips where nobody interferes."""

    call: str
    trips: int
    given: tuple[str, ...] = ()
    note: str = ""


PUT: Final = ("put 1 me q J klass {} 0",)
RUNNING: Final = (*PUT, "pop 2 q w 1")
FAILED: Final = (*RUNNING, "fail 3 J w g message")
CHILD: Final = (*PUT, """put 1 me q C klass {} 0 depends '["J"]'""")
RECURRING: Final = ("recur 1 q R klass {} interval 60 0",)
LATER: Final = ("recur 1 q R klass {} interval 60 30",)
COMPLETED: Final = ("put 1 me q E klass {} 0", "pop 1 q w 1", "complete 1 E w q {}")

TABLE: Final = [
    # -- jobs -------------------------------------------------------------------------------------
    Row("put 5 me q J klass {} 0", 2),
    Row("put 5 me q J klass {} 0", 2, RUNNING, "over another"),
    Row("put 5 me q J klass {} 0", 3, FAILED, "over a failed one"),
    Row("""put 5 me q K klass {} 0 depends '["J"]'""", 2, PUT),
    Row("requeue 5 me other J klass {} 0", 2, PUT),
    Row("pop 5 q w 1", 3, PUT),
    Row("pop 5 q w 1", 3, (), "an empty queue"),
    Row("pop 5 q w 1", 1, ("pause 1 q", *PUT), "a paused queue"),
    Row("pop 5 q w 1", 4, RECURRING, "a recurring job makes one"),
    Row("pop 5 q w 1", 4, ("config.set 1 q-max-concurrency 2", *PUT), "a limited queue"),
    Row("pop 90 q w 1", 3, RUNNING, "an expired lock"),
    Row("pop 5 q w 10", 3, (*PUT, "put 1 me q K klass {} 0"), "many"),
    Row("peek 5 q 1", 3, PUT),
    Row("complete 5 J w q {}", 2, RUNNING),
    Row("complete 5 J w q {}", 3, (*CHILD, "pop 2 q w 1"), "a job waits for it"),
    Row(
        "complete 5 J w q {}",
        3,
        ("config.set 0 jobs-history-count 1", *COMPLETED, *RUNNING),
        "an old one goes",
    ),
    Row("complete 5 J w q {} next other", 2, RUNNING),
    Row("heartbeat 5 J w", 2, RUNNING),
    Row("heartbeat 5 J w", 1, (), "no such job"),
    Row("fail 5 J w g message", 2, RUNNING),
    Row("retry 5 J q w", 2, RUNNING),
    Row("timeout 5 J", 2, RUNNING),
    Row("cancel 5 J", 2, PUT),
    Row("cancel 5 J", 3, FAILED, "a failed one"),
    Row("depends 5 C on K", 2, (*CHILD, "put 1 me q K klass {} 0")),
    Row("depends 5 C off J", 2, CHILD),
    Row("unfail 5 q g", 3, FAILED),
    Row("priority 5 J 3", 2, PUT),
    Row("tag 5 add J red", 2, PUT),
    Row("tag 5 remove J red", 2, PUT),
    Row("track 5 track J", 2, PUT),
    Row("track 5 untrack J", 2, PUT),
    Row("log 5 J message", 2, PUT),
    # -- recurring jobs -----------------------------------------------------------------------------
    Row("recur 5 q R klass {} interval 60 0", 2),
    Row("recur.update 5 R priority 3", 2, RECURRING),
    Row("recur.update 5 R queue other", 3, RECURRING),
    Row("recur.tag 5 R red", 2, RECURRING),
    Row("recur.untag 5 R red", 2, RECURRING),
    Row("unrecur 5 R", 2, RECURRING),
    # -- what is written without a look -----------------------------------------------------------------
    Row("config.set 5 heartbeat 60", 2),
    Row("config.unset 5 heartbeat", 2),
    Row("pause 5 q", 2),
    Row("unpause 5 q", 2),
    Row("queue.forget 5 q", 2),
    Row("worker.deregister 5 w", 2),
    # -- views ----------------------------------------------------------------------------------------
    Row("get 5 J", 1, PUT),
    Row("multiget 5 J K", 1, PUT),
    Row("length 5 q", 1, PUT),
    Row("stats 5 q 5", 1, RUNNING),
    Row("config.get 5", 1),
    Row("config.get 5 heartbeat", 1),
    Row("recur.get 5 R", 1, RECURRING),
    Row("tag 5 get red", 1),
    Row("tag 5 top", 1),
    Row("failed 5 g", 1, FAILED),
    Row("failed 5", 2, FAILED, "a look at each group"),
    Row("track 5", 2, (*PUT, "track 1 track J"), "a look at each job"),
    *(
        Row(f"jobs 5 {state} q", 1, RUNNING)
        for state in ("running", "stalled", "scheduled", "depends", "recurring")
    ),
    Row("jobs 5 complete", 1, COMPLETED),
    Row("jobs 20 scheduled q", 5, ("put 1 me q J klass {} 5",), "one is promoted"),
    Row("queues 5 q", 1, PUT),
    Row("queues 5", 2, PUT),
    Row("queues 20 q", 5, ("put 1 me q J klass {} 5",), "one is promoted"),
    Row("workers 5", 3, RUNNING),
    Row("workers 100000", 4, RUNNING, "one is dropped"),
    Row("workers 5 w", 3, RUNNING),
]


def title(row: Row) -> str:
    return f"{row.call} ({row.note})" if row.note else row.call


def run(storage: Storage, words: str) -> Any:
    wanted = call(shlex.split(words))
    try:
        return wanted.render(storage.run(wanted.transition, wanted.now))
    except QlessError as error:
        return error


def prepare(storage: Storage, row: Row) -> None:
    """Bring the store to where the call begins; a call that leaves nothing behind opens the connection."""
    for words in ("length 0 q", *row.given):
        assert not isinstance(run(storage, words), Exception), words


@contextmanager
def opened(url: str, protocol: int) -> Iterator[Storage]:
    with open_storage(f"{url}?protocol={protocol}") as storage:
        yield storage


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("row", TABLE, ids=title)
def test_trips(redis_url: str, row: Row, protocol: int) -> None:
    with (
        recorded() as packets,
        opened(redis_url, protocol) as another,
        opened(redis_url, protocol) as storage,
    ):
        prepare(another, row)
        prepare(storage, row._replace(given=()))
        packets.clear()
        before = storage.metrics.trips
        run(storage, row.call)

        assert len(packets) == row.trips
        assert storage.metrics.trips - before == row.trips
        assert storage.metrics.conflicts == 0
    assert all(is_safe(packet) for packet in packets if writes(packet))


# -- calls of a client that has just made another ---------------------------------------------------

#: what the client of such a call has done before, and how often it has to go to the store for it then
POPPED: Final = "pop 2 q w 1"
COMPLETED_J: Final = "complete 3 J w q {}"
WAITING: Final = (*PUT, "put 1.5 me q K klass {} 0")


class Warm(NamedTuple):
    """A call, what others and then its client have done before, and its round trips."""

    call: str
    trips: int
    before: tuple[str, ...]
    given: tuple[str, ...] = WAITING


WARM: Final = [
    Warm("new 5 q N", 2, ()),
    Warm("new 5 q N", 1, ("new 4 q M",)),
    Warm("new 5 q N", 1, (POPPED,)),
    Warm("new 5 q N", 1, (POPPED, COMPLETED_J)),
    Warm("pop 5 q w 1", 3, ("new 4 q M",), ()),
    Warm("pop 5 q w 1", 1, ("pop 3 q w 1", "new 4 q M"), ()),
    Warm("pop 5 q w 1", 1, (POPPED, "new 4 q M")),
    Warm("pop 5 q w 1", 2, (POPPED,)),
    Warm("pop 5 q w 1", 1, (POPPED, COMPLETED_J)),
    Warm("pop 5 q w 1", 1, (POPPED, COMPLETED_J + " next other")),
    Warm("pop 5 q w 1", 2, (POPPED, COMPLETED_J), PUT),
    Warm("pop 5 q w 1", 1, (POPPED, COMPLETED_J, "pop 4 q w 1"), PUT),
    Warm("pop 5 q w 3", 1, ("pop 4 q w 3",), ()),
    Warm("pop 5 q w 2", 3, (POPPED, COMPLETED_J)),
    Warm("pop 5 other w 1", 3, (POPPED, COMPLETED_J)),
    Warm(
        "pop 90 q w 1",
        2,
        (POPPED, COMPLETED_J),
        ("put 0 me q L klass {} 0", "pop 0 q v 1", *WAITING),
    ),
    Warm(
        "pop 90 q w 1", 3, (POPPED, COMPLETED_J), ("recur 1 q R klass {} interval 60 30", *WAITING)
    ),
    Warm("pop 5 q w 1", 4, ("pop 4 other w 1",), RECURRING),
    Warm("pop 90 q w 1", 3, ("pop 3 q w 1", "pop 4 other w 1"), LATER),
    Warm("pop 90 q w 1", 2, ("pop 3 q w 1",), LATER),
    Warm("pop 62 q w 1", 2, ("pop 5 q w 1",), RECURRING),
    Warm("pop 62 q w 1", 2, ("pop 5 q w 1", "pop 60 other w 1"), RECURRING),
    Warm("pop 62 q w 1", 1, ("pop 5 q w 1", "pop 60 q w 1"), RECURRING),
    Warm("pop 62 q w 1", 1, ("pop 5 q w 1", "complete 61 R-1 w q {}"), RECURRING),
    Warm("pop 62 q w 1", 2, ("pop 5 q w 1", "complete 60 R-1 w q {}"), RECURRING),
    Warm("pop 62 q w 1", 2, ("pop 5 q w 1",), (*RECURRING, "put 1 me q J klass {} 0", *WAITING)),
    Warm("heartbeat 5 J w", 1, (POPPED,)),
    Warm("heartbeat 5 J w", 1, (POPPED, "heartbeat 4 J w")),
    Warm("heartbeat 5 J v", 1, (POPPED,)),
    Warm("complete 5 J w q {}", 1, (POPPED,)),
    Warm("complete 5 J w q {}", 1, (POPPED, "heartbeat 4 J w")),
    Warm("complete 5 K w q {}", 1, (POPPED, COMPLETED_J, "pop 4 q w 1")),
    Warm("complete 5 J w q {}", 2, (POPPED,), CHILD),
    Warm(
        "complete 5 J w q {}", 2, (POPPED,), ("config.set 0 jobs-history-count 1", *COMPLETED, *PUT)
    ),
    Warm("complete 5 J w q {}", 2, ("pop 2 q w 2",)),
    Warm("complete 5 J w q {} next other", 1, (POPPED,)),
    Warm("""complete 5 J w q {} next other depends '["K"]'""", 2, (POPPED,)),
    Warm("fail 5 J w g message", 2, (POPPED,)),
    Warm("retry 5 J q w", 2, (POPPED,)),
    Warm("timeout 5 J", 2, (POPPED,)),
    Warm("cancel 5 J", 2, (POPPED,)),
    Warm("put 5 me q J klass {} 0", 2, (POPPED,)),
    Warm("get 5 J", 1, (POPPED,)),
    Warm("stats 5 q 5", 1, (POPPED,)),
]


def run_warm(storage: Storage, words: str) -> Any:
    """As ``run``; ``new`` puts a job under a jid that nobody has."""
    name, *arguments = shlex.split(words)
    if name != "new":
        return run(storage, words)
    now, queue, jid = arguments
    spec = JobSpec("klass", "{}")
    return storage.run(partial(put_new, worker="me", queue=queue, jid=jid, spec=spec), float(now))


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize(
    "row", WARM, ids=lambda row: " : ".join([*row.given, *row.before, row.call])
)
def test_trips_behind_another_call(redis_url: str, row: Warm, protocol: int) -> None:
    with (
        recorded() as packets,
        opened(redis_url, protocol) as another,
        opened(redis_url, protocol) as storage,
    ):
        for words in row.given:
            assert not isinstance(run(another, words), Exception), words
        for words in ("length 0 q", *row.before):
            assert not isinstance(run_warm(storage, words), Exception), words
        packets.clear()
        before = storage.metrics.trips
        run_warm(storage, row.call)

        assert len(packets) == row.trips
        assert storage.metrics.trips - before == row.trips
        assert (storage.metrics.conflicts, storage.metrics.recoveries) == (0, 0)
    assert all(is_safe(packet) for packet in packets if writes(packet))


def test_trips_seen_from_the_network(one_redis_server: Server) -> None:
    with proxied(one_redis_server.url) as (proxy, url):
        for row in TABLE:
            one_redis_server.flush()
            with opened(one_redis_server.url, 2) as another, opened(url, 2) as storage:
                prepare(another, row)
                prepare(storage, row._replace(given=()))
                proxy.watch()
                run(storage, row.call)
            assert [direction for direction, _ in proxy.runs] == ["request", "reply"] * row.trips


def test_trips_of_calls_that_have_failed_are_the_next_ones(one_redis_url: str) -> None:
    """What an error leaves behind, DISCARD takes away in the next packet, not in one of its own."""
    with recorded() as packets, opened(one_redis_url, 2) as storage:
        run(storage, "heartbeat 5 J w")
        packets.clear()
        run(storage, PUT[0])
        assert names(packets[0])[:2] == ["DISCARD", "WATCH"]
        assert len(packets) == 2


def test_a_write_is_sent_only_behind_a_multi_that_was_acknowledged(redis_url: str) -> None:
    acknowledged = False
    seen = 0

    def check(packet: Packet, replies: list[Any]) -> None:
        nonlocal acknowledged, seen
        if writes(packet):
            assert acknowledged
            assert is_safe(packet)
            seen += 1
        acknowledged = names(packet)[-1] == "MULTI" and replies[-1] == "OK"

    with tapped(check), opened(redis_url, 2) as storage:
        for row in TABLE:
            storage.flush()
            prepare(storage, row)
            run(storage, row.call)
    assert seen > len(TABLE)


# -- no scripts -------------------------------------------------------------------------------------

#: what a connection says before it is ours
HANDSHAKE: Final = {"HELLO", "CLIENT", "SELECT", "FLUSHDB"}


def live(storage: Storage) -> None:
    """Call every command of the core."""
    called = set()
    for row in TABLE:
        storage.flush()
        for words in (*row.given, row.call):
            run(storage, words)
            called.add(words.split()[0])
    assert called == COMMANDS.keys()


@pytest.mark.parametrize("protocol", [2, 3])
def test_no_command_but_the_few_that_are_needed(redis_server: Server, protocol: int) -> None:
    sent = set()
    with redis_server.client() as client, client.monitor() as monitor:
        with opened(redis_server.url, protocol) as storage:
            live(storage)
        client.echo("the end")
        while (told := monitor.next_command()["command"]) != "ECHO the end":
            sent.add(told.split()[0].upper())

    scripts = {*SCRIPTING, *SCRIPTING_SINCE_7}
    assert not sent & scripts
    control = {"WATCH", "UNWATCH", "MULTI", "DISCARD", "EXEC", "EXPIRE", "PUBLISH"}
    assert sent - HANDSHAKE <= {*READS, *WRITES, *control}


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_whole_life_where_there_are_no_scripts(kind: servers.Kind, start_server: Any) -> None:
    url = start_server(kind, "renamed").url
    with open_storage(url) as storage, redis.Redis.from_url(url) as client:
        live(storage)
        with pytest.raises(redis.ResponseError, match="unknown command"):
            client.eval("return 1", 0)
