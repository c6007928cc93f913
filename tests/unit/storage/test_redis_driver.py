# SPDX-License-Identifier: MIT
"""The driver on a server that is simulated, and that says whatever a test wants it to say."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import pytest

from pyqless.core.effects import Ahead, Command, Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import (
    ConflictError,
    OutcomeUnknown,
    StoreCorrupted,
    StoreRefused,
    StoreUnavailable,
    StoreUnsupported,
)
from pyqless.storage.redis.fence import FENCE_LIFE
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.protocol import ServerError
from pyqless.storage.redis.steps import LinkLost
from tests.unit.storage.simulated import Bench, Packet, last, lose, once


@pytest.fixture
def bench() -> Bench:
    return Bench()


# -- transitions ------------------------------------------------------------------------------------


def count(tx: Transaction) -> Transition[int]:
    """Count one up, by reading and writing."""
    (text,) = yield from tx.read(("HGET", "a", "n"), last=True)
    number = int(text or 0) + 1
    tx.hset("a", "n", str(number))
    return number


def blind(tx: Transaction) -> Transition[str]:
    tx.hset("a", "n", "1")
    return "written"
    yield


def reading_on(*further: Command, first: Command = ("HGET", "a", "n")) -> Factory[Any]:
    """Read on behind what seemed to be the last batch, and write."""

    def transition(tx: Transaction) -> Transition[Any]:
        seen = yield from tx.read(first, last=True, tolerant=True)
        more = yield from tx.read(*further, last=True)
        tx.hset("c", "seen", str(more))
        return seen, more

    return transition


def opening(tx: Transaction) -> Transition[None]:
    """Leave MULTI open."""
    yield from tx.read(("HGET", "a", "n"), last=True)


def view(*reads: Command) -> Factory[Any]:
    def transition(tx: Transaction) -> Transition[Any]:
        return (yield from tx.snapshot(*reads))

    return transition


# -- conflicts --------------------------------------------------------------------------------------


def test_a_conflict_begins_afresh(bench: Bench) -> None:
    def interfere(replies: list[Any]) -> list[Any]:
        bench.others_set("a", "n", "5")
        return replies

    bench.server.meddle = once("HGET", interfere)
    assert bench.run(count) == 6
    assert (bench.storage.metrics.attempts, bench.storage.metrics.conflicts) == (2, 1)


def test_a_conflict_that_does_not_end_names_the_keys(bench: Bench) -> None:
    def interfere(packet: Packet, replies: list[Any]) -> list[Any]:
        bench.others_set("a", "n", str(len(bench.server.packets)))
        return replies

    def both(tx: Transaction) -> Transition[None]:
        yield from tx.read(("HGET", "a", "n"), ("HGET", "b", "n"), last=True)
        tx.hset("b", "n", "1")

    bench.server.meddle = interfere
    with pytest.raises(ConflictError, match=r"5 times: a$") as caught:
        bench.run(both)
    assert caught.value.value == {"a": True, "b": False}
    assert bench.storage.metrics.conflicts == 5


def test_a_conflict_over_nothing_that_was_read(bench: Bench) -> None:
    """Only the fence can be to blame: somebody else writes to it."""

    def interfere(_: Packet, replies: list[Any]) -> list[Any]:
        bench.others_set(bench.lane.fence.key, "epoch", "1")
        return replies

    bench.server.meddle = interfere
    with pytest.raises(ConflictError, match="unknown") as caught:
        bench.run(blind)
    assert caught.value.value == {}


def test_a_last_look_that_fails_does_not_hide_the_conflict(bench: Bench) -> None:
    def interfere(packet: Packet, replies: list[Any]) -> list[Any]:
        if packet[0][0] in ("UNWATCH", "HGET"):
            raise LinkLost("lost", sent=True)
        bench.others_set("a", "n", str(len(bench.server.packets)))
        return replies

    bench.server.meddle = interfere
    with pytest.raises(ConflictError) as caught:
        bench.run(count)
    assert caught.value.value == {"a": False}


def test_the_deadline_ends_the_tries(bench: Bench) -> None:
    def interfere(_: Packet, replies: list[Any]) -> list[Any]:
        bench.time += 4
        bench.others_set("a", "n", str(int(bench.time)))
        return replies

    bench.server.meddle = interfere
    with pytest.raises(ConflictError):
        bench.run(count)
    assert bench.storage.metrics.attempts == 2, "each took 8 of 10 seconds"


# -- reading on behind the last batch ---------------------------------------------------------------


def test_reading_on(bench: Bench) -> None:
    bench.others_set("b", "n", "2")
    assert bench.run(reading_on(("HGET", "b", "n"))) == ([None], ["2"])
    assert bench.sent() == [
        ["HSET", "EXPIRE", "WATCH", "HGET", "MULTI"],
        ["DISCARD", "WATCH", "HGET", "HGET", "MULTI"],
        ["HSET", "HSET", "EXEC"],
    ]
    assert bench.storage.metrics.reopenings == 1
    _, watch, again, *_ = bench.server.packets[1]
    assert watch == ("WATCH", bench.lane.fence.key, "a", "b")
    assert again == ("HGET", "a", "n")


def test_reading_on_notices_what_has_changed_meanwhile(bench: Bench) -> None:
    def interfere(replies: list[Any]) -> list[Any]:
        bench.others_set("a", "n", "5")
        return replies

    bench.server.meddle = once("MULTI", interfere)
    assert bench.run(reading_on(("HGET", "b", "n"))) == (["5"], [None])
    assert bench.storage.metrics.conflicts == 1


def test_reading_on_notices_what_changes_afterwards(bench: Bench) -> None:
    def interfere(replies: list[Any]) -> list[Any]:
        bench.others_set("a", "n", "5")
        return replies

    bench.server.meddle = once("DISCARD", interfere)
    assert bench.run(reading_on(("HGET", "b", "n"))) == (["5"], [None])
    assert bench.storage.metrics.conflicts == 1


def test_reading_on_past_a_key_of_another_type(bench: Bench) -> None:
    """It is as wrong as before, which is no change."""
    bench.others_set("a", "n", "1")
    (fault,), more = bench.run(reading_on(("HGET", "b", "n"), first=("LRANGE", "a", 0, -1)))
    assert isinstance(fault, StoreCorrupted)
    assert more == [None]
    assert bench.storage.metrics.attempts == 1


def test_reading_on_twice(bench: Bench) -> None:
    def transition(tx: Transaction) -> Transition[None]:
        for key in "abc":
            yield from tx.read(("HGET", key, "n"), free=[("HGET", "free", key)], last=True)
        tx.hset("d", "n", "1")

    bench.run(transition)
    assert bench.server.packets[2][1] == ("WATCH", bench.lane.fence.key, "a", "b", "c")
    assert [command for command in bench.server.packets[2] if command[0] == "HGET"] == [
        ("HGET", "a", "n"),
        ("HGET", "b", "n"),
        ("HGET", "c", "n"),
        ("HGET", "free", "c"),
    ]


# -- commits that are needed, and others ------------------------------------------------------------


def test_several_batches_that_write_nothing_end_with_a_commit(bench: Bench) -> None:
    def transition(tx: Transaction) -> Transition[None]:
        yield from tx.read(("HGET", "a", "n"))
        yield from tx.read(("HGET", "b", "n"), last=True)

    bench.run(transition)
    assert bench.sent()[-1] == ["EXEC"]
    bench.server.meddle = once("EXEC", lose)
    bench.run(transition)
    assert bench.storage.metrics.recoveries == 0, "there was nothing to be applied"


def test_one_batch_that_writes_nothing_needs_none(bench: Bench) -> None:
    bench.run(opening)
    assert bench.sent() == [["HSET", "EXPIRE", "WATCH", "HGET", "MULTI"]]


def test_a_view_of_one_read_is_one_command(bench: Bench) -> None:
    assert bench.run(view(("HLEN", "a"))) == [0]
    assert bench.run(view(("HLEN", "a"), ("HLEN", "b"))) == [0, 0]
    assert bench.run(view()) == []
    assert bench.sent() == [["HLEN"], ["MULTI", "HLEN", "HLEN", "EXEC"]]


@pytest.mark.parametrize("reads", [[("HLEN", "a")], [("HLEN", "a"), ("HLEN", "b")]])
def test_a_view_leaves_what_the_call_before_has_opened(bench: Bench, reads: list[Command]) -> None:
    bench.run(opening)
    assert bench.run(view(*reads)) == [0] * len(reads)
    assert bench.run(view(*reads)) == [0] * len(reads)
    assert [names.count("DISCARD") for names in bench.sent()] == [0, 1, 0]


# -- the server does not do as it should ------------------------------------------------------------


def hesitant(tx: Transaction) -> Transition[None]:
    """Find out after reading that no more is to be read."""
    yield from tx.read(("HGET", "a", "n"))
    tx.hset("a", "n", "1")


@pytest.mark.parametrize("transition", [count, blind, hesitant, reading_on(("HGET", "b", "n"))])
@pytest.mark.parametrize("reply", ["maybe", ServerError("NOPERM no"), None])
def test_a_control_command_that_is_not_acknowledged_is_the_last_on_its_connection(
    transition: Factory[Any], reply: Any
) -> None:
    """Each of them in turn: so no write is ever sent behind it."""
    chosen, came = 0, True
    while came:
        came = spoil_reply(transition, chosen, reply)
        chosen += came
    assert chosen >= 2


def spoil_reply(transition: Factory[Any], chosen: int, reply: Any) -> bool:
    """Replace one of the OK replies; returns whether there are so many."""
    bench, oks = Bench(), itertools.count()
    spoilt: list[int] = []

    def spoil(_: Packet, replies: list[Any]) -> list[Any]:
        assert bench.server.connection not in spoilt
        for position, answer in enumerate(replies):
            if answer == "OK" and next(oks) == chosen:
                replies[position] = reply
                spoilt.append(bench.server.connection)
        return replies

    bench.server.meddle = spoil
    with suppress(StoreUnsupported):
        bench.run(transition)
    return bool(spoilt)


def test_a_view_behind_a_discard_that_is_not_acknowledged(bench: Bench) -> None:
    """What comes behind it is no reply to the read."""
    bench.run(opening)
    bench.server.meddle = once("DISCARD", lambda _: ["maybe", "QUEUED"])
    assert bench.run(view(("HLEN", "a"))) == [0]
    assert bench.server.connection == 2


def test_an_exec_that_makes_no_sense_is_looked_up(bench: Bench) -> None:
    bench.server.meddle = once("EXEC", last("QUEUED"))
    assert bench.run(count) == 1
    assert bench.server.keyspace.read(("HGET", "a", "n")) == "1"
    assert bench.storage.metrics.recoveries == 1


def test_an_error_in_the_middle_of_a_commit(bench: Bench) -> None:
    bench.server.keyspace.write(("SADD", "a", "member"))
    with pytest.raises(StoreCorrupted, match="a: HSET failed in the middle of a commit") as caught:
        bench.run(blind)
    assert (caught.value.argument, caught.value.value) == ("a", "HSET")
    assert bench.storage.metrics.attempts == 1


READONLY: Final = ServerError("EXECABORT Transaction discarded because of: READONLY You can't")


def test_a_replica_from_the_beginning(bench: Bench) -> None:
    bench.server.meddle = once("EXEC", last(READONLY))
    with pytest.raises(StoreRefused, match="read-only replica"):
        bench.run(count)
    assert bench.storage.metrics.attempts == 1


def test_a_master_that_has_become_a_replica(bench: Bench) -> None:
    def demote(replies: list[Any]) -> list[Any]:
        bench.server.keyspace.flush()  # what it has just carried out
        return [*replies[:-1], READONLY]

    bench.run(count)
    bench.server.meddle = once("EXEC", demote)
    assert bench.run(count) == 1
    assert bench.storage.metrics.attempts == 3


# -- the connection breaks --------------------------------------------------------------------------


def test_what_the_old_connection_was_in_is_not_left_on_the_new_one(bench: Bench) -> None:
    bench.run(count)
    bench.server.meddle = once("EXEC", lose)
    bench.run(count)
    assert [names[-1] for names in bench.sent()] == ["MULTI", "EXEC", "MULTI", "EXEC", "EXPIRE"]
    assert bench.run(count) == 3


def test_a_store_that_has_never_answered_is_not_waited_for(bench: Bench) -> None:
    bench.server.is_reachable = False
    with pytest.raises(StoreUnavailable, match="nobody is there"):
        bench.run(count)
    assert bench.storage.metrics.attempts == 1


def test_a_store_that_has_answered_before_is_waited_for(bench: Bench) -> None:
    bench.run(count)

    def vanish(_: list[Any]) -> list[Any]:
        bench.server.is_reachable = False
        raise LinkLost("lost", sent=True)

    bench.server.meddle = once("HGET", vanish)
    with pytest.raises(StoreUnavailable, match="nobody is there"):
        bench.run(count)
    assert bench.storage.metrics.attempts == 6


def test_so_it_is_on_a_connection_that_is_new(bench: Bench) -> None:
    bench.run(count)
    bench.lane = Lane(bench.storage.keys, bench.policy, bench.storage.metrics)
    bench.server.is_reachable = False
    with pytest.raises(StoreUnavailable, match="nobody is there"):
        bench.run(count)
    assert bench.storage.metrics.attempts == 6


@pytest.mark.parametrize("words", ["", "a sentence"])
def test_a_connection_that_keeps_breaking(bench: Bench, words: str) -> None:
    def fail(*_: object) -> list[Any]:
        raise LinkLost(OSError(words), sent=False)

    bench.server.meddle = fail
    with pytest.raises(StoreUnavailable, match=f"keeps breaking: {words or 'OSError'}"):
        bench.run(count)
    assert bench.storage.metrics.attempts == 5


def test_an_exec_that_was_never_sent_needs_no_recovery(bench: Bench) -> None:
    def refuse(_: list[Any]) -> list[Any]:
        bench.server.keyspace.flush()  # it was never there
        raise LinkLost("lost", sent=False)

    bench.server.meddle = once("EXEC", refuse)
    assert bench.run(count) == 1
    assert bench.storage.metrics.recoveries == 0


def test_a_recovery_that_is_interrupted_goes_on(bench: Bench) -> None:
    def interrupt(packet: Packet, replies: list[Any]) -> list[Any]:
        if packet[-1][0] == "EXEC" or (packet[0][0] == "HINCRBY" and len(bench.server.packets) < 5):
            raise LinkLost("lost", sent=True)
        return replies

    bench.server.meddle = interrupt
    assert bench.run(count) == 1
    assert bench.sent()[2:] == [["HINCRBY", "HGET", "HGET", "EXPIRE"]] * 3
    assert bench.storage.metrics.recoveries == 1


def test_a_fence_that_cannot_be_written_tells_of_a_commit_all_the_same(bench: Bench) -> None:
    def refuse(packet: Packet, replies: list[Any]) -> list[Any]:
        if packet[-1][0] == "EXEC":
            raise LinkLost("lost", sent=True)
        if packet[0][0] == "HINCRBY":
            replies[0] = ServerError("OOM command not allowed")
        return replies

    bench.server.meddle = refuse
    assert bench.run(count) == 1


def test_a_fence_that_cannot_be_written_does_not_tell_that_nothing_was_committed(
    bench: Bench,
) -> None:
    """For the old EXEC may still come."""

    def refuse(packet: Packet, replies: list[Any]) -> list[Any]:
        if packet[-1][0] == "EXEC":
            bench.server.keyspace.flush()
            raise LinkLost("lost", sent=True)
        if packet[0][0] == "HINCRBY":
            replies[0] = ServerError("OOM command not allowed")
            bench.time += 1
        return replies

    bench.server.meddle = refuse
    with pytest.raises(OutcomeUnknown, match="OOM"):
        bench.run(count)


def test_a_refused_recovery_is_tried_on_another_connection(bench: Bench) -> None:
    """Which may lead to another server."""

    def refuse(packet: Packet, replies: list[Any]) -> list[Any]:
        if packet[-1][0] == "EXEC":
            raise LinkLost("lost", sent=True)
        if packet[0][0] == "HINCRBY" and bench.server.connection < 4:
            return [ServerError("READONLY no"), None, None, 0]
        return replies

    bench.server.meddle = refuse
    assert bench.run(count) == 1
    assert bench.server.connection == 4


@pytest.mark.parametrize("before", [0, 1])
def test_a_fence_that_is_gone_tells_nothing_of_any_commit(bench: Bench, before: int) -> None:
    for _ in range(before):
        bench.run(count)

    def lose_and_flush(packet: Packet, replies: list[Any]) -> list[Any]:
        if packet[-1][0] == "EXEC":
            bench.server.keyspace.flush()
            raise LinkLost("lost", sent=True)
        return replies

    bench.server.meddle = lose_and_flush
    with pytest.raises(OutcomeUnknown, match="its fence is gone"):
        bench.run(count)


def test_a_birth_that_lands_late_does_not_make_up_for_a_fence_that_is_gone(bench: Bench) -> None:
    late: list[Command] = []

    def lose(packet: Packet, replies: list[Any]) -> list[Any]:
        if not late:
            late.append(packet[0])
            raise LinkLost("lost", sent=True)
        if packet[-1][0] == "EXEC":
            bench.server.keyspace.flush()
            bench.server.keyspace.write(late[0])
            raise LinkLost("lost", sent=True)
        return replies

    bench.server.meddle = lose
    with pytest.raises(OutcomeUnknown, match="its fence is gone"):
        bench.run(count)
    assert late == [("HSET", bench.lane.fence.key, "birth", "1")]


def test_a_first_commit_that_did_not_take_place_is_tried_again(bench: Bench) -> None:
    """The fence was there before it."""

    def cut(command: Command) -> None:
        if command == ("EXEC",):
            bench.server.before = lambda _: None
            raise LinkLost("lost", sent=True)

    bench.server.before = cut
    assert bench.run(count) == 1
    assert (bench.storage.metrics.recoveries, bench.storage.metrics.attempts) == (1, 2)


# -- the fence --------------------------------------------------------------------------------------


def expiries_of(bench: Bench) -> list[Command]:
    return [each for packet in bench.server.packets for each in packet if each[0] == "EXPIRE"]


@pytest.mark.parametrize("transition", [count, opening])
def test_a_fence_expires_a_day_after_its_last_use(bench: Bench, transition: Factory[Any]) -> None:
    """Which is put off once an hour, also where nothing is written."""
    for bench.time in (0.0, 1.0, 3599.0, 3600.0, 7000.0, 7201.0):
        bench.run(transition)
    assert expiries_of(bench) == [("EXPIRE", bench.lane.fence.key, FENCE_LIFE)] * 3


def test_the_expiry_is_put_off_where_each_commit_opens_the_next(bench: Bench) -> None:
    def reading_ahead(tx: Transaction) -> Transition[str]:
        tx.ahead = Ahead("topic")
        return (yield from blind(tx))

    for bench.time in range(0, 7202, 30):
        bench.run(reading_ahead)
    assert sum(names[0] == "HSET" and "MULTI" not in names for names in bench.sent()) == 0
    assert expiries_of(bench) == [("EXPIRE", bench.lane.fence.key, FENCE_LIFE)] * 3


def test_a_fence_that_was_not_made_is_made_with_the_next_connection(bench: Bench) -> None:
    bench.server.is_reachable = False
    with pytest.raises(StoreUnavailable):
        bench.run(count)
    bench.server.is_reachable = True
    bench.run(opening)
    assert expiries_of(bench) == [("EXPIRE", bench.lane.fence.key, FENCE_LIFE)]


def losing_its_fence(bench: Bench, transition: Factory[Any] = count) -> list[list[str]]:
    """Commit, lose the fence, commit again; returns what was sent for that, and for one more commit."""
    bench.run(transition)
    bench.server.keyspace.write(("DEL", bench.lane.fence.key))
    bench.server.packets.clear()
    bench.run(transition)
    bench.run(count)
    return bench.sent()


def test_a_fence_that_comes_back_with_a_commit_is_made_to_expire_at_once(bench: Bench) -> None:
    reading, committing = ["WATCH", "HGET", "MULTI"], ["HSET", "HSET", "EXEC"]
    sent = losing_its_fence(bench)
    assert sent == [reading, committing, ["EXPIRE"], reading, committing]


def test_so_it_is_where_the_next_commit_is_open(bench: Bench) -> None:
    def reading_ahead(tx: Transaction) -> Transition[int]:
        tx.ahead = Ahead("topic")
        return (yield from count(tx))

    *_, expiring, _, _ = losing_its_fence(bench, reading_ahead)
    assert expiring == ["DISCARD", "EXPIRE"]


def test_what_comes_of_that_is_no_part_of_the_commit(bench: Bench) -> None:
    """The next transaction makes the fence anew."""
    bench.run(count)
    bench.server.keyspace.write(("DEL", bench.lane.fence.key))
    bench.server.meddle = once("EXPIRE", lose)
    assert bench.run(count) == 2
    assert bench.run(count) == 3
    assert expiries_of(bench) == [("EXPIRE", bench.lane.fence.key, FENCE_LIFE)] * 3


def test_a_fence_that_may_not_expire_is_tried_again(bench: Bench) -> None:
    bench.run(count)
    bench.server.keyspace.write(("DEL", bench.lane.fence.key))
    bench.server.forbidden = {"EXPIRE"}
    assert bench.run(count) == 2
    bench.server.forbidden = set()
    assert bench.run(count) == 3
    assert len(expiries_of(bench)) == 3


def test_views_make_no_fence(bench: Bench) -> None:
    bench.run(view(("HLEN", "a"), ("HLEN", "b")))
    assert bench.server.keyspace.dump() == {}


def test_a_fence_that_cannot_be_made_is_no_reason_to_give_up(bench: Bench) -> None:
    """Whoever refuses it refuses the commit, too; and of what writes nothing there is none."""
    bench.server.forbidden = {"HSET"}
    bench.run(opening)
    assert bench.storage.metrics.attempts == 1


def test_each_lane_has_a_fence_of_its_own(bench: Bench) -> None:
    other = Lane(bench.storage.keys, bench.policy, bench.storage.metrics)
    assert bench.lane.fence.key != other.fence.key
    assert {lane.fence.key.startswith(bench.storage.keys.own) for lane in (bench.lane, other)} == {
        True
    }


# -- chains -----------------------------------------------------------------------------------------


def chain(moments: list[float], links: int) -> Factory[Any]:
    def link(tx: Transaction) -> Transition[Any]:
        moments.append(tx.now)
        number = yield from count(tx)
        return Continue(link) if number < links else number

    return link


def test_a_chain_goes_on_at_its_first_moment(bench: Bench) -> None:
    times: Iterable[float] = iter([1.0, 2.0, 3.0])
    bench.storage.clock = lambda: next(iter(times))
    moments: list[float] = []
    assert bench.run(chain(moments, 3)) == 3
    assert moments == [1.0, 1.0, 1.0]


def test_housekeeping_that_fails_is_left_to_others(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    def housekeeping(_: Transaction) -> Transition[None]:
        raise StoreRefused("out of memory")
        yield

    def transition(tx: Transaction) -> Transition[FollowedBy]:
        return FollowedBy((yield from count(tx)), housekeeping)

    with caplog.at_level(logging.WARNING, "pyqless"):
        assert bench.run(transition) == 1
    assert caplog.messages == ["housekeeping is left to a later call: out of memory"]
