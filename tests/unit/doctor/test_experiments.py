# SPDX-License-Identifier: MIT
"""The experiments find out a store that does not keep what it promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pyqless.core.effects import Command
from pyqless.doctor.commands import learn_faults
from pyqless.doctor.report import Check, Verdict
from pyqless.doctor.session import Session
from pyqless.doctor.transactions import Laboratory, messages, scores, snapshots, transactions
from pyqless.errors import StoreUnsupported
from pyqless.storage import open_storage
from pyqless.storage.redis import RedisStorage
from pyqless.storage.redis.protocol import ServerError

#: What becomes of a command on its way: the reply, given what sends commands on.
Lie = Callable[[Command, Callable[..., Any]], Any]


class LyingSession(Session):
    """A connection to a store that does not do what it is told."""

    def __init__(self, pool: Any, lie: Lie) -> None:
        super().__init__(pool)
        self._lie = lie

    def ask(self, *commands: Command) -> list[Any]:
        honest = super().ask
        return [self._lie(command, lambda *sent: honest(*sent)[-1]) for command in commands]


@pytest.fixture
def storage() -> Iterator[RedisStorage]:
    with open_storage("fakeredis://") as storage:
        assert isinstance(storage, RedisStorage)
        yield storage


def examine(storage: RedisStorage, lie: Lie, experiment: Callable[[Laboratory], Check]) -> Check:
    with LyingSession(storage.pool, lie) as one, Session(storage.pool) as other:
        return experiment(Laboratory(storage, "ql:py:doctor:x", one, other))


def honest(command: Command, send: Callable[..., Any]) -> Any:
    return send(command)


def ignores_watch(command: Command, send: Callable[..., Any]) -> Any:
    return "OK" if command[0] == "WATCH" else send(command)


def never_commits(command: Command, send: Callable[..., Any]) -> Any:
    return send(("DISCARD",)) and None if command[0] == "EXEC" else send(command)


def forgets_errors(command: Command, send: Callable[..., Any]) -> Any:
    return ServerError("ERR no") if command[0] == "HSET" and len(command) == 3 else send(command)


def rounds(command: Command, send: Callable[..., Any]) -> Any:
    shortened = (float(f"{word:.14g}") if isinstance(word, float) else word for word in command)
    return send(tuple(shortened))


def publishes_at_once(command: Command, send: Callable[..., Any]) -> Any:
    return "OK" if command[0] in ("MULTI", "EXEC", "DISCARD") else send(command)


@pytest.mark.parametrize("experiment", [transactions, messages, scores])
def test_an_honest_store_passes(
    storage: RedisStorage, experiment: Callable[[Laboratory], Check]
) -> None:
    assert examine(storage, honest, experiment).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("lie", "experiment", "problem"),
    [
        (ignores_watch, transactions, "EXEC takes place although a watched key has changed"),
        (never_commits, transactions, "a transaction without a conflict does not take place"),
        (forgets_errors, transactions, "half a transaction takes place"),
        (rounds, scores, "scores come back as"),
        (publishes_at_once, messages, "of the messages first, second there arrive ['never', "),
    ],
)
def test_a_lie_is_found_out(
    storage: RedisStorage, lie: Lie, experiment: Callable[[Laboratory], Check], problem: str
) -> None:
    check = examine(storage, lie, experiment)
    assert check.verdict is Verdict.FAILURE
    assert check.seen.startswith(problem)
    assert check.advice


def test_reads_that_are_not_queued_are_no_snapshot(storage: RedisStorage) -> None:
    with LyingSession(storage.pool, publishes_at_once) as session:
        assert snapshots(session, "ql:py:doctor:x").verdict is Verdict.FAILURE
    with Session(storage.pool) as session:
        assert snapshots(session, "ql:py:doctor:x").verdict is Verdict.OK


def test_nothing_is_written_where_multi_does_not_queue(
    storage: RedisStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pyqless.doctor.commands.Session", lambda pool: LyingSession(pool, publishes_at_once)
    )
    with pytest.raises(StoreUnsupported, match="where it should say QUEUED"):
        learn_faults(storage.pool, storage.keys, "ql:py:doctor:x")
    assert storage.client().keys() == []


def test_what_was_written_goes_away(storage: RedisStorage) -> None:
    with Session(storage.pool) as one, Session(storage.pool) as other:
        laboratory = Laboratory(storage, "ql:py:doctor:x", one, other)
        transactions(laboratory)
        scores(laboratory)
        client = storage.client()
        written = client.keys()
        assert written
        assert all(0 < client.ttl(key) <= 60 for key in written)
        laboratory.clean_up()
        assert client.keys() == []
