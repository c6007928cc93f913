# SPDX-License-Identifier: MIT
"""Turns: where many want the head of a queue, each waits for a token; whatever becomes of it, jobs are handed out."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, Final

import pytest

from pyqless.core.busyness import Busy
from pyqless.core.keys import Keys
from pyqless.core.working import complete_and_pop
from pyqless.errors import QlessError
from pyqless.storage.redis.policy import Policy
from pyqless.storage.redis.protocol import ServerError
from tests.unit.storage.simulated import Bench, Packet, last, lose, once

TOKEN: Final = Keys().turn("q")
LATEST: Final = "ql:py:latest-turn:q"
SOON: Final = Policy(attempts=5, monotonic=lambda: 0.0, chance=lambda: 0.0)


def crowd(bench: Bench, *jids: str) -> None:
    """Let jobs wait in a queue in which many want the same one, and the connection know how near the store is."""
    bench.storage.memory["busy", "q"] = Busy(math.inf, 16, is_scarce=True)
    assert bench.call("pop 1 other A 1") == []
    fill(bench, *jids)


def fill(bench: Bench, *jids: str) -> None:
    for number, jid in enumerate(jids):
        assert bench.call(f"put 1.{number:02} me q {jid} klass {{}} 0") == jid
    bench.server.packets.clear()


@pytest.fixture
def bench() -> Bench:
    bench = Bench(SOON)
    crowd(bench, "J", "K", "L", "M")
    return bench


def tokens(bench: Bench) -> list[str]:
    return list(bench.server.keyspace.read(("LRANGE", TOKEN, 0, -1)))


def latest(bench: Bench) -> str | None:
    name: str | None = bench.server.keyspace.read(("HGET", LATEST, "name"))
    return name


def waits(bench: Bench) -> list[float]:
    """For how long it was waited, seconds; 0 where it was only looked."""
    commands = [command for packet in bench.server.packets for command in packet]
    looks = [command for command in commands if TOKEN in command and command[0].endswith("LPOP")]
    return [float(command[2]) if command[0] == "BLPOP" else 0.0 for command in looks]


def test_who_pops_waits_before_it_reads_and_lets_others_go_on_behind_exec(bench: Bench) -> None:
    assert bench.call("pop 2 q A 1") == ["J"]
    reading, _, committing, *_ = bench.sent()
    assert reading[:4] == ["WATCH", "LPOP", "HGET", "HMGET"]
    behind = committing[committing.index("EXEC") + 1 :]
    assert behind[:5] == ["HSET", "EXPIRE", "RPUSH", "EXPIRE", "WATCH"]
    assert tokens(bench) == [latest(bench)]


def test_the_next_takes_the_same_token(bench: Bench) -> None:
    bench.call("pop 2 q A 1")
    first = tokens(bench)
    others = Bench(SOON, others=bench)
    crowd(others)
    assert others.call("pop 3 q B 1") == ["K"]
    assert bench.call("pop 4 q A 1") == ["L"]
    assert tokens(bench) == first == [latest(bench)]


def test_who_completes_and_pops_waits_once(bench: Bench) -> None:
    bench.call("pop 2 q A 1")
    bench.server.packets.clear()
    turn = bench.run(partial(complete_and_pop, jid="J", worker="A", queue="q", data="{}"), 3.0)
    assert [job.jid for job in turn.jobs] == ["K"]
    assert waits(bench) == [0.5]
    assert tokens(bench) == [latest(bench)]


def test_a_token_under_an_old_name_is_not_given_back(bench: Bench) -> None:
    bench.call("pop 2 q A 1")
    bench.server.keyspace.write(("HSET", LATEST, "name", "another"))
    assert bench.call("pop 3 q A 1") == ["K"]
    assert tokens(bench) == []
    assert latest(bench) == "another"


def test_a_token_without_a_name_gets_one(bench: Bench) -> None:
    bench.call("pop 2 q A 1")
    bench.server.keyspace.write(("DEL", LATEST))
    bench.call("pop 3 q A 1")
    assert tokens(bench) == [latest(bench)]


def test_it_is_waited_only_where_a_token_should_be(bench: Bench) -> None:
    for jid in ("J", "K", "L", "M"):
        assert bench.call("pop 2 q A 1") == [jid]
        bench.server.keyspace.write(("DEL", TOKEN))
    assert waits(bench) == [0.0, 0.5, 0.0, 0.5]


def test_not_all_give_up_at_once() -> None:
    bench = Bench(Policy(monotonic=lambda: 0.0, chance=lambda: 0.5))
    crowd(bench, "J")
    bench.call("pop 2 q A 1")
    bench.call("pop 3 q A 1")
    assert waits(bench) == [0.0, 0.625]


@pytest.mark.parametrize(("command", "looks"), [("LPOP", 1), ("HGET", 1), ("BLPOP", 2)])
def test_a_store_that_refuses_is_not_asked_again(bench: Bench, command: str, looks: int) -> None:
    bench.server.forbidden = {command}
    assert bench.call("pop 2 q A 1") == ["J"]
    assert bench.call("pop 3 q A 1") == ["K"]
    assert bench.call("pop 4 q A 1") == ["L"]
    assert len(waits(bench)) == looks


def test_who_is_woken_by_somebodys_command_goes_on_without(bench: Bench) -> None:
    def unblock(replies: list[Any]) -> list[Any]:
        unblocked = ServerError("UNBLOCKED client unblocked via CLIENT UNBLOCK")
        return [
            unblocked if isinstance(reply, list) and reply[:1] == [TOKEN] else reply
            for reply in replies
        ]

    bench.call("pop 2 q A 1")
    bench.server.meddle = once("BLPOP", unblock)
    assert bench.call("pop 3 q A 1") == ["K"]
    assert bench.call("pop 4 q A 1") == ["L"]
    assert waits(bench) == [0.0, 0.5, 0.0]
    assert tokens(bench) == [latest(bench)]


def test_queues_of_any_names_are_kept_apart() -> None:
    bench = Bench(SOON)
    crowd(bench, "J", "K")
    for queue in ("q:latest", "q:turn:q", ":turn:"):
        bench.storage.memory["busy", queue] = Busy(math.inf, 16, is_scarce=True)
        assert bench.call(f"put 2 me {queue} of-{queue} klass {{}} 0") == f"of-{queue}"
        assert bench.call(f"pop 3 {queue} A 1") == [f"of-{queue}"]
    assert bench.call("pop 4 q A 1") == ["J"]
    assert waits(bench) == [0.0]
    assert tokens(bench) == [latest(bench)]


def test_another_connection_asks_anew(bench: Bench) -> None:
    bench.server.forbidden = {"LPOP"}
    bench.call("pop 2 q A 1")
    bench.server.forbidden = set()
    bench.server.meddle = once("EXEC", lose)
    bench.call("put 3 me q N klass {} 0")
    bench.call("pop 4 other A 1")
    bench.call("pop 5 q A 1")
    assert len(waits(bench)) == 2


def test_far_from_the_store_nobody_waits() -> None:
    moments = count()
    bench = Bench(Policy(monotonic=lambda: float(next(moments))))
    crowd(bench, "J")
    assert bench.call("pop 2 q A 1") == ["J"]
    assert waits(bench) == []


def test_a_commit_that_could_not_be_opened_does_not_tell_how_far_away_the_store_is() -> None:
    moments = count()
    bench = Bench(Policy(monotonic=lambda: float(next(moments)), chance=lambda: 0.0))
    crowd(bench, "J", "K")
    bench.server.meddle = once("EXEC", last("maybe"))
    assert bench.call("pop 2 q A 1") == ["J"]
    assert bench.call("pop 3 q A 1") == ["K"]
    assert bench.server.connection == 2
    assert waits(bench) == []


def test_in_a_queue_where_many_stand_level_nobody_waits(bench: Bench) -> None:
    bench.storage.memory["busy", "q"] = Busy(math.inf, 16)
    fill(bench, *map(str, range(20)))
    assert len(bench.call("pop 2 q A 1")) == 1
    assert waits(bench) == []


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("pause 3 q", list),
        ("config.set 1 q-max-concurrency 1", list),
        ("config.set 1 heartbeat x", QlessError),
    ],
)
def test_who_changes_nothing_lets_others_go_on_all_the_same(
    bench: Bench, before: str, expected: type[Any]
) -> None:
    bench.call("pop 2 q A 1")
    bench.call(before)
    assert isinstance(bench.call("pop 3 q A 1"), expected)
    assert tokens(bench) == [latest(bench)]


def taken(bench: Bench, jid: str) -> Callable[[Packet, list[Any]], list[Any]]:
    """Let somebody take a job between its being read and the commit."""
    others = Bench(others=bench)

    def take(replies: list[Any]) -> list[Any]:
        assert others.call("pop 3 q B 1") == [jid]
        return replies

    return once("ZSCORE", take)


def test_who_meets_a_conflict_lets_others_go_on(bench: Bench) -> None:
    bench.call("pop 2 q A 1")
    bench.server.meddle = taken(bench, "K")
    assert bench.call("pop 4 q A 1") == ["L"]
    assert bench.storage.metrics.conflicts == 1
    assert tokens(bench) == [latest(bench)]


@pytest.mark.parametrize("name", ["RPUSH", "ZSCORE"])
def test_a_token_may_be_lost_with_the_connection(bench: Bench, name: str) -> None:
    bench.call("pop 2 q A 1")
    bench.server.meddle = once(name, lose)
    first = tokens(bench)
    assert bench.call("pop 3 q A 1") == ["K"]
    assert bench.call("pop 4 q A 1") == ["L"]
    assert bench.call("pop 5 q A 1") == ["M"]
    assert tokens(bench) == [latest(bench)]
    assert (tokens(bench) == first) is (name == "RPUSH")


def test_who_may_not_wait_as_long_as_that_looks_instead(bench: Bench) -> None:
    bench.call("pop 2 q A 1")
    bench.server.keyspace.write(("DEL", TOKEN))
    bench.server.meddle = once("BLPOP", lose)
    assert bench.call("pop 3 q A 1") == ["K"]
    assert bench.call("pop 4 q A 1") == ["L"]
    assert waits(bench) == [0.0, 0.5, 0.0]


def test_who_cannot_give_a_token_back_has_its_answer_all_the_same(bench: Bench) -> None:
    bench.call("pop 2 q A 1")
    bench.call("pause 3 q")
    bench.server.meddle = once("RPUSH", lose)
    assert bench.call("pop 3 q A 1") == []


def test_who_has_waited_comes_as_late_as_that(bench: Bench) -> None:
    moments = count(7)
    bench.storage.clock = lambda: float(next(moments))

    def popping(tx: Any) -> Any:
        yield from tx.read(("HGET", "a", "b"), turn=TOKEN)
        return tx.now

    bench.call("pop 2 q A 1")
    assert bench.run(popping) == 8.0
    assert bench.run(popping, 3.0) == 3.0
