# SPDX-License-Identifier: MIT
"""
Reading ahead, on a server that is simulated: what it saves, and that no answer is another for it.

Each call that has something read ahead is compared with the same call on a connection that has not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core.effects import Ahead, Batch, Command
from pyqless.core.putting import JobSpec, put_new
from pyqless.core.statistics import fold
from pyqless.errors import (
    InvalidSetting,
    JobLost,
    JobNotFound,
    NotRunning,
    QlessError,
    StoreUnsupported,
    WrongQueue,
)
from pyqless.storage.described import Hints
from pyqless.storage.redis.foresight import Foresight, Trust
from pyqless.storage.redis.lane import State
from pyqless.storage.redis.protocol import ServerError
from pyqless.storage.redis.steps import Exchange, LinkLost
from tests.unit.storage.simulated import Bench, Packet, faithful

#: A has J, whose lock it may renew, or which it may complete; K and L wait
RUNNING: Final = (
    "put 1 me q J klass {} 0",
    "put 2 me q K klass {} 0",
    "put 3 me q L klass {} 0",
    "put 3 me other I klass {} 0",
    "pop 3 other B 1",
)
POP: Final = "pop 4 q A 1"
COMPLETE: Final = "complete 5 J A q {}"


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def others(bench: Bench) -> Bench:
    return Bench(others=bench)


def told(bench: Bench, *calls: str) -> None:
    """Make calls that succeed."""
    for words in calls:
        reply = bench.call(words)
        assert not isinstance(reply, Exception), (words, reply)


def packets_of(bench: Bench, words: str) -> list[list[str]]:
    """Make a call; returns the names of the commands of its packets."""
    bench.server.packets.clear()
    bench.call(words)
    return bench.sent()


def stored(bench: Bench) -> Mapping[str, Any]:
    """What is in the store, with what was deferred, and less what is pyqless's own."""
    copy = cold(bench)
    copy.run(fold)
    dump = copy.server.keyspace.dump()
    return {key: dump[key] for key in sorted(dump) if not key.startswith(bench.storage.keys.own)}


def cold(bench: Bench) -> Bench:
    """The same store, for one that has read nothing ahead, and whose fence is kept."""
    fresh = Bench()
    fresh.server.keyspace.load(bench.server.keyspace.dump())
    fresh.server.perform(Exchange(fresh.lane.fence.birth()))
    fresh.lane.fence.put_off()
    fresh.server.packets.clear()
    return fresh


def check(bench: Bench, words: str) -> Any:
    """Make a call, and see to it that all is as if nothing had been read ahead; returns the reply."""
    twin = cold(bench)
    bench.server.messages.clear()
    reply, expected = bench.call(words), twin.call(words)
    if isinstance(expected, Exception):
        assert (type(reply), str(reply)) == (type(expected), str(expected))
    else:
        assert reply == expected
    assert stored(bench) == stored(twin)
    assert bench.server.messages == twin.server.messages
    return reply


# -- right guesses ----------------------------------------------------------------------------------


class Right(NamedTuple):
    """Calls of one client, and one more that needs no read."""

    before: tuple[str, ...]
    call: str
    reply: Any


RIGHT: Final = [
    Right((POP,), "heartbeat 5 J A", 65),
    Right((POP,), COMPLETE, "complete"),
    Right((POP,), "complete 5 J A q {} next other", "waiting"),
    Right((POP, "heartbeat 5 J A"), "heartbeat 6 J A", 66),
    Right((POP, "heartbeat 5 J A"), "complete 6 J A q {}", "complete"),
    Right((POP, COMPLETE), "pop 6 q A 1", ["K"]),
    Right((POP, COMPLETE, "pop 6 q A 1"), "complete 7 K A q {}", "complete"),
    Right((POP, COMPLETE, "pop 6 q A 1", "complete 7 K A q {}"), "pop 8 q A 1", ["L"]),
]


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: " : ".join([*case.before, case.call]))
def test_a_right_guess_takes_one_packet(bench: Bench, others: Bench, case: Right) -> None:
    told(others, *RUNNING)
    told(bench, *case.before)
    bench.server.packets.clear()
    before = bench.storage.metrics.guesses
    assert check(bench, case.call) == case.reply
    assert len(bench.sent()) == 1
    assert "EXEC" in bench.sent()[0]
    assert bench.storage.metrics.guesses == before + 1
    assert bench.storage.metrics.misguesses == 0


def test_guards_stand_before_reads_and_the_fence_first(bench: Bench, others: Bench) -> None:
    told(others, *RUNNING)
    told(bench, POP)
    packet = bench.server.packets[-1]
    behind = packet[packet.index(("EXEC",)) + 1 :]
    assert behind[0][:2] == ("WATCH", bench.lane.fence.key)
    assert behind[-1] == ("MULTI",)
    guarded = set(behind[0][2:])
    free = {read[1] for read in behind[1:-1]} - guarded
    assert "ql:completed" in free
    assert all(key.startswith(bench.storage.keys.own) for key in free - {"ql:completed"})


def new(queue: str, jid: str, delay: float = 0.0) -> Callable[..., Any]:
    """Put a job under a jid that nobody has."""
    spec = JobSpec("klass", "{}", delay)
    return partial(put_new, worker="me", queue=queue, jid=jid, spec=spec)


def test_a_new_job_takes_one_packet_behind_any_commit(bench: Bench) -> None:
    bench.run(new("q", "J"), 1.0)
    assert [names[-1] for names in bench.sent()] == ["MULTI", "MULTI"]
    bench.server.packets.clear()
    bench.run(new("q", "K"), 2.0)
    bench.run(new("q", "L", 10.0), 2.0)
    assert [names.count("EXEC") for names in bench.sent()] == [1, 1]
    assert bench.storage.metrics.guesses == 0
    assert bench.call("pop 3 q A 9") == ["J", "K"]


def test_a_new_job_in_an_empty_queue_is_popped_in_one_packet(bench: Bench) -> None:
    told(bench, "pop 1 q A 1")
    bench.run(new("q", "J"), 2.0)
    bench.server.packets.clear()
    assert check(bench, "pop 3 q A 1") == ["J"]
    assert len(bench.sent()) == 1


def test_a_delayed_job_is_not_guessed_to_go_next(bench: Bench) -> None:
    told(bench, "pop 1 q A 1")
    bench.run(new("q", "J", 10.0), 2.0)
    assert "HGETALL" not in bench.sent()[-1]
    assert check(bench, "pop 3 q A 1") == []


# -- wrong guesses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "fail 5 J A g message",
        "retry 5 J q A",
        "put 5 me q J klass {} 0",
        "pop 5 other A 1",
        "cancel 5 J",
    ],
)
def test_what_was_not_guessed_is_answered_as_usual(bench: Bench, others: Bench, words: str) -> None:
    told(others, *RUNNING)
    told(bench, POP)
    usual = packets_of(cold(bench), words)
    bench.server.packets.clear()
    check(bench, words)
    assert bench.sent()[0] == ["DISCARD", *usual[0]]
    assert len(bench.sent()) == len(usual)
    assert bench.storage.metrics.guesses == 0
    assert bench.storage.metrics.misguesses == 0


def test_what_was_not_guessed_meets_conflicts_as_usual(bench: Bench, others: Bench) -> None:
    told(others, *RUNNING)
    told(bench, POP)

    def interfere(command: Command) -> None:
        if command == ("EXEC",):
            bench.server.before = lambda _: None
            told(others, "heartbeat 4 J A")

    bench.server.before = interfere
    assert bench.call("fail 5 J A g message") == "J"
    assert (bench.storage.metrics.conflicts, bench.storage.metrics.misguesses) == (1, 0)


GUARDED: Final = ("HGET", "a", "n")
AGING: Final = ("HGET", "b", "n")


def known() -> Foresight:
    """What was read ahead: ``1`` under a guard, ``2`` without."""
    ahead = Ahead("topic", (GUARDED, AGING), {"b"})
    return Foresight(ahead, ahead.guards, ["1", "2"])


def test_what_was_read_without_a_guard_does_not_answer_where_one_is_wanted() -> None:
    assert known().answer(Batch((GUARDED, AGING), guarded=1)) == ["1", "2"]
    assert known().answer(Batch((GUARDED, AGING), guarded=2)) is None


def test_what_was_not_read_is_not_answered() -> None:
    assert known().answer(Batch((GUARDED, ("HGET", "a", "m")), guarded=1)) is None


@pytest.mark.parametrize(
    "batches",
    [[(GUARDED,), (AGING,)], [(AGING,), (GUARDED,)], [(AGING, GUARDED)], [(), (AGING,), (AGING,)]],
)
def test_what_was_read_answers_in_any_order(batches: list[tuple[Command, ...]]) -> None:
    foresight, replies = known(), {GUARDED: "1", AGING: "2"}
    for reads in batches:
        assert foresight.answer(Batch(reads)) == [replies[read] for read in reads]


def test_a_snapshot_is_never_answered_with_what_was_read_before() -> None:
    assert known().answer(Batch((GUARDED,), snapshot=True)) is None


class Half(NamedTuple):
    """A call of which only the first batch was guessed."""

    given: tuple[str, ...]
    before: tuple[str, ...]
    call: str
    reply: Any


HALF: Final = {
    "a lock expires in time": Half(
        ("config.set 0 grace-period 0", "pop 3 q B 1"),
        (POP, "complete 5 K A q {}"),
        "pop 90 q A 1",
        ["J"],
    ),
    "a recurring job is due in time": Half(
        ("recur 1 q R klass {} interval 60 60 priority 7",),
        (POP, COMPLETE),
        "pop 70 q A 1",
        ["R-1"],
    ),
    "a delayed job is due in time": Half(
        ("put 1 me q D klass {} 60 priority 7",), (POP, COMPLETE), "pop 70 q A 1", ["D"]
    ),
    "a job waits for the one that is completed": Half(
        ("""put 3 me q C klass {} 0 depends '["J"]'""",), (POP,), COMPLETE, "complete"
    ),
    "an old one goes": Half(
        ("config.set 0 jobs-history-count 1", "complete 4 I B other {}"),
        (POP,),
        COMPLETE,
        "complete",
    ),
}


@pytest.mark.parametrize("name", HALF)
def test_a_guess_of_which_only_the_first_batch_is_right(
    bench: Bench, others: Bench, name: str
) -> None:
    """The guards are set anew, and what they guard must read as before."""
    case = HALF[name]
    told(others, *RUNNING, *case.given)
    told(bench, *case.before)
    usual = packets_of(cold(bench), case.call)
    bench.server.packets.clear()
    assert check(bench, case.call) == case.reply
    assert bench.sent()[0][:2] == ["DISCARD", "WATCH"]
    assert len(bench.sent()) == len(usual) - 1
    assert bench.storage.metrics.misguesses == 0


@pytest.mark.parametrize("name", HALF)
@pytest.mark.parametrize(
    "act", ["config.set 6 heartbeat 5", "track 6 track K", "cancel 6 L", "pop 6 q B 1"]
)
def test_others_change_what_half_a_guess_rests_on(
    bench: Bench, others: Bench, name: str, act: str
) -> None:
    case = HALF[name]
    told(others, *RUNNING, *case.given)
    told(bench, *case.before)
    others.call(act)
    check(bench, case.call)


# -- others come between ----------------------------------------------------------------------------

#: what others do while J runs, and whether it touches anything that complete or heartbeat has to know
MEANWHILE_RUNNING: Final = {
    "cancel 6 J": True,
    "fail 6 J A g message": True,
    "retry 6 J q A": True,
    "timeout 6 J": True,
    "put 6 me other J klass {} 0": True,
    "complete 6 J A q {}": True,
    "complete 6 J A q {} next other": True,
    "heartbeat 6 J A": True,
    "heartbeat 6 J A '{\"a\": 1}'": True,
    "priority 6 J 7": True,
    "tag 6 add J red": True,
    "log 6 J message": True,
    """put 6 me q C klass {} 0 depends '["J"]'""": True,
    "config.set 6 heartbeat 5": True,
    "config.set 6 jobs-history-count 1": True,
    "track 6 track J": True,
    "pause 6 q": False,
    "put 6 me q M klass {} 0": False,
    "pop 6 q B 1": False,
    "complete 6 I B other {}": False,
    "cancel 6 K": False,
}


@pytest.mark.parametrize(
    "words", ["complete 10 J A q {}", "complete 10 J A q {} next other", "heartbeat 10 J A"]
)
@pytest.mark.parametrize("act", MEANWHILE_RUNNING)
def test_others_act_between_a_pop_and_what_follows(
    bench: Bench, others: Bench, act: str, words: str
) -> None:
    told(others, *RUNNING)
    told(bench, POP)
    told(others, act)
    bench.server.packets.clear()
    check(bench, words)
    touched = MEANWHILE_RUNNING[act]
    assert bench.storage.metrics.misguesses == touched
    assert (len(bench.sent()) > 1) == touched


#: what others do when K is to be popped, and whether it touches anything that pop has to know
MEANWHILE_WAITING: Final = {
    "cancel 6 K": True,
    "put 6 me other K klass {} 0": True,
    "put 6 me q K klass {} 30": True,
    "priority 6 K -1": True,
    "priority 6 L 9": True,
    "put 6 me q H klass {} 0 priority 5": True,
    "put 6 me q M klass {} 0": True,
    "put 6 me q M klass {} 0.5 priority 5": True,
    "recur 6 q R klass {} interval 60 0 priority 5": True,
    "pop 6 q B 1": True,
    "pop 6 q B 2": True,
    "pause 6 q": True,
    "pause 6 other": True,
    "config.set 6 heartbeat 5": True,
    "config.set 6 q-max-concurrency 1": True,
    "config.set 6 application test": True,
    "track 6 track K": True,
    "track 6 track J": True,
    "tag 6 add K red": True,
    """put 6 me q C klass {} 0 depends '["K"]'""": True,
    """put 6 me q K klass {} 0 depends '["L"]'""": True,
    "tag 6 add L red": False,
    "complete 6 I B other {}": False,
    "put 6 me other M klass {} 0": False,
}


@pytest.mark.parametrize("words", ["pop 10 q A 1", "pop 80 q A 1"])
@pytest.mark.parametrize("act", MEANWHILE_WAITING)
def test_others_act_between_a_completion_and_the_next_pop(
    bench: Bench, others: Bench, act: str, words: str
) -> None:
    told(others, *RUNNING)
    told(bench, POP, COMPLETE)
    told(others, act)
    bench.server.packets.clear()
    check(bench, words)
    touched = MEANWHILE_WAITING[act]
    assert bench.storage.metrics.misguesses == touched or words.startswith("pop 80")
    assert (len(bench.sent()) > 1) == touched


def test_what_was_read_ahead_does_not_outlive_its_guards(bench: Bench, others: Bench) -> None:
    """The packet of a void commit reads ahead, too; the call then reads afresh, and fails."""
    told(others, *RUNNING)
    told(bench, POP)
    told(others, "cancel 5 J")
    assert isinstance(bench.call(COMPLETE), JobNotFound)
    assert others.call("pop 6 q B 1") == ["K"]
    assert check(bench, "pop 7 q A 1") == ["L"]


def test_a_commit_that_is_void_reads_ahead_all_the_same(bench: Bench, others: Bench) -> None:
    """The next attempt is of the same call, so it begins with DISCARD."""
    told(others, *RUNNING)

    def interfere(command: Command) -> None:
        if command == ("EXEC",):
            bench.server.before = lambda _: None
            others.call("priority 4 J -1")

    bench.server.before = interfere
    assert bench.call(POP) == ["K"]
    exec_, again, *_ = bench.sent()[2:]
    assert exec_[-1] == "MULTI"
    assert again[0] == "DISCARD"
    assert bench.storage.metrics.conflicts == 1
    assert bench.storage.metrics.misguesses == 0


JIDS: Final = st.sampled_from("JKLMN")
QUEUES: Final = st.sampled_from(["q", "q", "q", "other"])
CALLS: Final = st.one_of(
    *(
        st.builds(words.format, jid=JIDS, queue=QUEUES, worker=st.sampled_from("AB"))
        for words in [
            "put {{now}} me {queue} {jid} klass {{{{}}}} 0",
            "put {{now}} me {queue} {jid} klass {{{{}}}} 0 priority 1",
            "put {{now}} me {queue} {jid} klass {{{{}}}} 3",
            "pop {{now}} {queue} {worker} 1",
            "pop {{now}} {queue} {worker} 1",
            "pop {{now}} {queue} {worker} 2",
            "heartbeat {{now}} {jid} {worker}",
            "complete {{now}} {jid} {worker} {queue} {{{{}}}}",
            "complete {{now}} {jid} {worker} {queue} {{{{}}}}",
            "complete {{now}} {jid} {worker} {queue} {{{{}}}} next other",
            "fail {{now}} {jid} {worker} g message",
            "retry {{now}} {jid} {queue} {worker}",
            "cancel {{now}} {jid}",
            "timeout {{now}} {jid}",
            "priority {{now}} {jid} 2",
            "track {{now}} track {jid}",
            "pause {{now}} {queue}",
            "unpause {{now}} {queue}",
            "config.set {{now}} {queue}-max-concurrency 2",
            "config.set {{now}} heartbeat 4",
            "config.set {{now}} jobs-history-count 1",
            "recur {{now}} {queue} R klass {{{{}}}} interval 5 0",
            """put {{now}} me {queue} {jid} klass {{{{}}}} 0 depends '["J"]'""",
        ]
    )
)


@given(calls=st.lists(st.tuples(st.integers(0, 2), CALLS), max_size=40))
def test_whatever_two_clients_do_by_turns(calls: list[tuple[int, str]]) -> None:
    """No call of either is told, or does, anything else than if it had read nothing ahead."""
    bench = Bench()
    clients = bench, Bench(others=bench)
    told(bench, *RUNNING)
    for now, (who, words) in enumerate(calls, 10):
        check(clients[who // 2], words.format(now=now))
    assert [client.storage.metrics.conflicts for client in clients] == [0, 0]


# -- nothing rests on a guess alone -----------------------------------------------------------------


class Denied(NamedTuple):
    """A call that fails on what was read ahead, and how."""

    call: str
    error: type[QlessError]
    #: done by others right behind the commit, and right before the call
    spoil: str | None = None
    mend: str | None = None
    before: tuple[str, ...] = (POP,)


DENIED: Final = {
    "complete: another holds it": Denied("complete 9 J B q {}", JobLost),
    "complete: it does not run": Denied("complete 9 J A q {}", NotRunning, "timeout 5 J"),
    "complete: there is none": Denied("complete 9 J A q {}", JobNotFound, "cancel 5 J"),
    "complete: a bad setting": Denied(
        "complete 9 J A q {}",
        InvalidSetting,
        "config.set 5 jobs-history-count many",
        "config.unset 8 jobs-history-count",
    ),
    "heartbeat: another holds it": Denied("heartbeat 9 J B", JobLost),
    "heartbeat: it does not run": Denied("heartbeat 9 J A", NotRunning, "timeout 5 J"),
    "heartbeat: there is none": Denied("heartbeat 9 J A", JobNotFound, "cancel 5 J"),
    "heartbeat: a bad setting": Denied(
        "heartbeat 9 J A", InvalidSetting, "config.set 5 heartbeat a", "config.unset 8 heartbeat"
    ),
    "pop: a bad setting": Denied(
        "pop 9 q A 1",
        InvalidSetting,
        "config.set 5 heartbeat a",
        "config.unset 8 heartbeat",
        (POP, COMPLETE),
    ),
}


def behind_the_commit(bench: Bench, act: Callable[[], object]) -> None:
    """Let something happen between the next EXEC and what is read behind it."""

    def interfere(command: Command) -> None:
        if command[0] == "WATCH" and ("EXEC",) in bench.server.packets[-1]:
            bench.server.before = lambda _: None
            act()

    bench.server.before = interfere


def doubtful(bench: Bench, others: Bench, case: Denied) -> None:
    """Let the client read ahead what will be in its way."""
    *first, words = case.before
    told(others, *RUNNING)
    told(bench, *first)
    if case.spoil is not None:
        behind_the_commit(bench, partial(told, others, case.spoil))
    told(bench, words)


@pytest.mark.parametrize("name", DENIED)
def test_no_error_rests_on_a_guess(bench: Bench, others: Bench, name: str) -> None:
    case = DENIED[name]
    doubtful(bench, others, case)
    bench.server.packets.clear()
    assert isinstance(check(bench, case.call), case.error)
    assert bench.sent()[0][:2] == ["DISCARD", "WATCH"]
    assert bench.storage.metrics.misguesses == 1


@pytest.mark.parametrize("name", [name for name in DENIED if DENIED[name].mend])
def test_an_error_that_is_none_any_more(bench: Bench, others: Bench, name: str) -> None:
    case = DENIED[name]
    doubtful(bench, others, case)
    told(others, str(case.mend))
    assert not isinstance(check(bench, case.call), Exception)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("complete 9 J A other {}", WrongQueue),
        ("heartbeat 9 K A", NotRunning),
        ("fail 9 K A g message", NotRunning),
        ("timeout 9 M", JobNotFound),
    ],
)
def test_what_was_not_guessed_fails_as_usual(
    bench: Bench, others: Bench, words: str, error: type[QlessError]
) -> None:
    told(others, *RUNNING)
    told(bench, POP)
    usual = packets_of(cold(bench), words)
    bench.server.packets.clear()
    assert isinstance(check(bench, words), error)
    assert bench.sent() == [["DISCARD", *usual[0]], *usual[1:]]
    assert (bench.storage.metrics.guesses, bench.storage.metrics.misguesses) == (0, 0)


PAUSED: Final = Denied("pop 9 q A 1", QlessError, "pause 5 q", "unpause 8 q", (POP, COMPLETE))


def test_no_empty_answer_rests_on_a_guess(bench: Bench, others: Bench) -> None:
    doubtful(bench, others, PAUSED)
    bench.server.packets.clear()
    assert check(bench, PAUSED.call) == []
    assert bench.sent()[0][:2] == ["DISCARD", "WATCH"]


def test_an_empty_answer_that_is_none_any_more(bench: Bench, others: Bench) -> None:
    doubtful(bench, others, PAUSED)
    told(others, str(PAUSED.mend))
    assert check(bench, PAUSED.call) == ["K"]


def test_an_empty_queue_is_confirmed_by_a_commit(bench: Bench, others: Bench) -> None:
    """Pop notes that the worker was there, under guards of all that it has seen to be empty."""
    told(bench, "pop 1 q A 1")
    behind_the_commit(bench, partial(told, others, "cancel 3 J"))
    bench.run(new("q", "J"), 2.0)
    told(others, "put 4 me q K klass {} 0")
    assert check(bench, "pop 5 q A 1") == ["K"]


def refused(packet: Packet, replies: list[Any], *, read: str, code: str) -> list[Any]:
    """The server would not carry out one of the reads behind EXEC."""
    if ("EXEC",) in packet:
        for at in range(packet.index(("EXEC",)) + 1, len(packet)):
            if packet[at][0] == read:
                replies[at] = ServerError(f"{code} not now")
    return replies


@pytest.mark.parametrize("read", ["HMGET", "HGETALL", "SMEMBERS", "LRANGE", "ZRANGE", "ZSCORE"])
@pytest.mark.parametrize("code", ["NOPERM", "BUSY", "ERR", "WRONGTYPE"])
@pytest.mark.parametrize("words", [COMPLETE, "heartbeat 5 J A"])
def test_a_read_ahead_that_was_refused_is_made_again(
    bench: Bench, others: Bench, read: str, code: str, words: str
) -> None:
    told(others, *RUNNING)
    bench.server.meddle = partial(refused, read=read, code=code)
    told(bench, POP)
    assert not isinstance(check(bench, words), Exception)


# -- time -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("age", "guesses"), [(59.9, 1), (60.0, 0), (3600.0, 0)])
def test_what_was_read_a_minute_ago_is_read_again(
    bench: Bench, others: Bench, age: float, guesses: int
) -> None:
    told(others, *RUNNING)
    told(bench, POP)
    bench.time += age
    bench.server.packets.clear()
    assert check(bench, COMPLETE) == "complete"
    assert bench.storage.metrics.guesses == guesses
    assert len(bench.sent()) == 2 - guesses


@pytest.mark.parametrize(("age", "trips"), [(59.9, 1), (60.0, 2)])
def test_a_commit_that_was_opened_a_minute_ago_is_opened_again(
    bench: Bench, age: float, trips: int
) -> None:
    bench.run(new("q", "J"), 1.0)
    bench.time += age
    bench.server.packets.clear()
    bench.run(new("q", "K"), 2.0)
    assert len(bench.sent()) == trips


def test_what_was_read_ahead_is_used_once(bench: Bench, others: Bench) -> None:
    told(others, *RUNNING)
    told(bench, POP)
    assert isinstance(bench.call("heartbeat 5 J B"), JobLost)
    assert isinstance(bench.call("heartbeat 5 J B"), JobLost)
    assert check(bench, "heartbeat 5 J A") == 65
    assert bench.storage.metrics.guesses == 1


# -- the server does not do as it should ------------------------------------------------------------


@pytest.mark.parametrize("name", ["WATCH", "MULTI"])
def test_a_right_that_is_taken_behind_the_commit_is_missed_by_the_next_call(
    bench: Bench, others: Bench, name: str
) -> None:
    told(others, *RUNNING)
    behind_the_commit(bench, lambda: bench.server.forbidden.add(name))
    assert bench.call(POP) == ["J"]
    assert bench.lane.state is State.CLOSED
    before = stored(bench)
    assert isinstance(bench.call(COMPLETE), StoreUnsupported)
    assert stored(bench) == before
    bench.server.forbidden.clear()
    assert check(bench, COMPLETE) == "complete"


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("reply", ["maybe", "QUEUED", None, ServerError("ERR no")])
def test_an_opening_that_is_not_acknowledged_is_closed(
    bench: Bench, others: Bench, place: str, reply: Any
) -> None:
    """No write is ever sent behind it."""

    def meddle(packet: Packet, replies: list[Any]) -> list[Any]:
        if ("EXEC",) in packet:
            replies[packet.index(("EXEC",)) + 1 if place == "first" else -1] = reply
        return replies

    told(others, *RUNNING)
    bench.server.meddle = meddle
    assert bench.call(POP) == ["J"]
    assert bench.lane.state is State.CLOSED
    assert check(bench, "heartbeat 5 J A") == 65
    assert bench.server.connection == 2


# -- the connection breaks --------------------------------------------------------------------------


class Applied(NamedTuple):
    """A commit with something read ahead behind it, and how to tell how often it was applied."""

    before: tuple[str, ...]
    call: str
    reply: Any


APPLIED: Final = [
    Applied((), POP, ["J"]),
    Applied((POP,), "heartbeat 5 J A", 65),
    Applied((POP,), COMPLETE, "complete"),
    Applied((POP, COMPLETE), "pop 6 q A 1", ["K"]),
]


def commit_packet(case: Applied) -> Packet:
    """The packet in which a call is committed."""
    bench = Bench()
    told(Bench(others=bench), *RUNNING)
    told(bench, *case.before, case.call)
    return bench.server.packets[-1]


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("case", APPLIED, ids=lambda case: " : ".join([*case.before, case.call]))
def test_the_connection_breaks_at_each_point_of_a_commit(case: Applied, *, sent: bool) -> None:
    """What stands behind EXEC may be all that was not sent, so the fence is asked in any case."""
    packet = commit_packet(case)
    assert packet.index(("EXEC",)) < len(packet) - 2
    for carried_out in range(len(packet) + 1):
        bench = Bench()
        told(Bench(others=bench), *RUNNING)
        told(bench, *case.before)
        twin = cold(bench)
        break_at(bench, carried_out, sent=sent)
        assert bench.call(case.call) == case.reply
        assert twin.call(case.call) == case.reply
        assert stored(bench) == stored(twin), packet[:carried_out]
        assert bench.storage.metrics.recoveries == 1


def break_at(bench: Bench, carried_out: int, *, sent: bool) -> None:
    """Let the connection break in the next packet with EXEC, behind so many commands."""
    server, left = bench.server, carried_out

    def fail() -> None:
        server.before, server.meddle = lambda _: None, faithful
        raise LinkLost("lost", sent=sent)

    def interfere(_: Command) -> None:
        nonlocal left
        if ("EXEC",) in server.packets[-1]:
            if not left:
                fail()
            left -= 1

    def lose(packet: Packet, replies: list[Any]) -> list[Any]:
        if ("EXEC",) in packet:
            fail()
        return replies

    server.before, server.meddle = interfere, lose


@pytest.mark.parametrize("sent", [False, True])
def test_a_new_job_is_put_once(*, sent: bool) -> None:
    for carried_out in range(12):
        bench = Bench()
        bench.run(new("q", "J"), 1.0)
        break_at(bench, carried_out, sent=sent)
        bench.run(new("q", "K"), 2.0)
        assert bench.server.keyspace.read(("LLEN", "ql:j:K-history")) == 1
        assert bench.storage.metrics.recoveries == 1


def test_what_was_read_ahead_on_another_connection_is_not_used(bench: Bench, others: Bench) -> None:
    told(others, *RUNNING)
    break_at(bench, 10**6, sent=True)
    told(bench, POP)
    told(others, "heartbeat 5 J A")
    assert check(bench, "heartbeat 6 J A") == 66
    assert bench.storage.metrics.guesses == 0


# -- what else may come while a commit is open ------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "length 5 q",
        "get 5 J",
        "stats 5 q 5",
        "queues 5 q",
        "config.get 5",
        "failed 5",
        "peek 5 q 1",
    ],
)
def test_a_view_while_a_commit_is_open(bench: Bench, others: Bench, words: str) -> None:
    told(others, *RUNNING)
    told(bench, POP)
    usual = packets_of(cold(bench), words)
    bench.server.packets.clear()
    check(bench, words)
    assert bench.sent()[0] == ["DISCARD", *usual[0]]
    assert len(bench.sent()) == len(usual)
    assert check(bench, COMPLETE) == "complete"
    assert bench.storage.metrics.guesses == 0


def test_closing_while_a_commit_is_open(bench: Bench, others: Bench) -> None:
    told(others, *RUNNING)
    told(bench, POP)
    before = stored(bench)
    for step in bench.lane.close():
        bench.server.perform(step)
    assert stored(bench) == before
    told(others, "heartbeat 5 J A")
    assert check(bench, "heartbeat 6 J A") == 66
    assert (bench.server.connection, bench.storage.metrics.guesses) == (2, 0)


# -- trust ------------------------------------------------------------------------------------------


def refusals(trust: Trust, topic: str) -> int:
    """How often no guess is made before the next."""
    return next(count for count in range(1000) if trust.allows(topic))


def test_trust_is_lost_topic_by_topic() -> None:
    trust = Trust()
    while trust.allows("a"):
        trust.wrong("a")
    assert trust.allows("b")


def test_trust_that_is_lost_comes_back_after_a_while() -> None:
    trust, waits = Trust(), []
    for _ in range(40):
        waits.append(refusals(trust, "a"))
        trust.wrong("a")
    assert waits[0] == 0
    assert min(waits[-10:]) > 1


def test_no_topic_is_lost_for_ever() -> None:
    trust = Trust()
    for _ in range(1000):
        trust.wrong("a")
    assert 10 < refusals(trust, "a") < 100


def test_trust_that_was_earned_again_is_whole() -> None:
    trust = Trust()
    for _ in range(5):
        trust.wrong("a")
    refusals(trust, "a")
    for _ in range(100):
        trust.right("a")
    trust.wrong("a")
    assert trust.allows("a")


def test_a_guess_of_no_use_costs_less_trust_than_a_wrong_one() -> None:
    def lasts(note: Callable[[Trust, str], None]) -> int:
        trust = Trust()
        for count in range(1000):
            if not trust.allows("a"):
                return count
            note(trust, "a")
        raise AssertionError("it lasts for ever")

    assert 1 < lasts(Trust.wrong) < lasts(Trust.unused) < 100


def test_a_topic_that_keeps_failing_is_left_alone_and_comes_back(
    bench: Bench, others: Bench
) -> None:
    """In one queue others always act between a completion and the next pop; in the end they do not."""
    for number in range(99):
        told(others, f"put 1.{number:02} me q J{number:02} klass {{}} 0")
    told(bench, "pop 2 q A 1")
    looked: list[bool] = []
    for number in range(60):
        jid = f"J{number:02}"
        bench.server.packets.clear()
        told(bench, f"complete 4 {jid} A q {{}}")
        looked.append("ZREVRANGE" in bench.sent()[-1])
        if number < 30:
            told(others, f"put 3 me q K{number:02} klass {{}} 0 priority -1")
        told(bench, "pop 3 q A 1")
    assert looked[:3] == [True] * 3
    assert looked[:30].count(True) < 10
    assert looked[-10:] == [True] * 10
    assert bench.storage.metrics.conflicts == 0


# -- hints --------------------------------------------------------------------------------------------


def test_hints_do_not_pile_up_with_ever_new_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hints, "MANY", 3)
    hints = Hints()
    for number in range(10):
        hints["next", f"q{number}"] = number
        assert hints["next", f"q{number}"] == number
        assert len(hints) <= 3


def test_a_hint_that_is_changed_drives_out_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hints, "MANY", 2)
    hints = Hints()
    hints["a"], hints["b"] = 1, 2
    hints["a"] = 3
    assert hints == {"a": 3, "b": 2}
