# SPDX-License-Identifier: MIT
"""Others act between what a client reads ahead and the call it was read for, on a real server."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NamedTuple

import pytest

from pyqless.core.commands import call
from pyqless.errors import QlessError
from pyqless.storage import Storage, open_storage
from pyqless.storage.redis import RedisStorage
from tests.blocking import BlockingStorage
from tests.servers import Server

Open = Callable[[str], RedisStorage]

GIVEN: Final = (
    "put 1 me q J klass {} 0",
    "put 2 me q K klass {} 0",
    "put 3 me q L klass {} 0",
    "put 3 me other I klass {} 0",
    "pop 3 other B 1",
)
POP: Final = "pop 4 q A 1"
COMPLETE: Final = "complete 5 J A q {}"


class Race(NamedTuple):
    """What a client has done, what others do then, and its next call."""

    before: tuple[str, ...]
    act: str
    call: str
    #: what had been read ahead was of no use
    misguessed: bool = True


#: what others do to a job in hand
TO_J: Final = [
    "cancel 6 J",
    "fail 6 J A g message",
    "retry 6 J q A",
    "timeout 6 J",
    "put 6 me other J klass {} 0",
    "heartbeat 6 J A",
    "complete 6 J A q {}",
    "track 6 track J",
    "config.set 6 heartbeat 5",
    """put 6 me q C klass {} 0 depends '["J"]'""",
]

#: what others do to the next job, or to its queue
TO_K: Final = [
    "cancel 6 K",
    "put 6 me other K klass {} 0",
    "pop 6 q B 1",
    "put 6 me q H klass {} 0 priority 5",
    "put 6 me q D klass {} 1 priority 5",
    "priority 6 L 7",
    "pause 6 q",
    "track 6 track K",
    "config.set 6 q-max-concurrency 1",
    "recur 6 q R klass {} interval 60 0 priority 5",
]

RACES: Final = [
    *(Race((POP,), act, "heartbeat 10 J A") for act in TO_J),
    *(Race((POP,), act, "complete 10 J A q {}") for act in TO_J),
    *(Race((POP, COMPLETE), act, "pop 10 q A 1") for act in TO_K),
    Race((POP,), "pause 6 q", "complete 10 J A q {}", misguessed=False),
    Race((POP,), "pop 6 q B 1", "heartbeat 10 J A", misguessed=False),
    Race((POP, COMPLETE), "complete 6 I B other {}", "pop 10 q A 1", misguessed=False),
]


def run(storage: Storage, words: str) -> Any:
    """Run a call; returns what a client gets, of jobs their jids, or the error that it is told."""
    wanted = call(shlex.split(words))
    try:
        reply = wanted.render(storage.run(wanted.transition, wanted.now))
    except QlessError as error:
        return type(error), str(error)
    if words.startswith("pop"):
        return [job["jid"] for job in json.loads(str(reply)) or []]
    return reply


@pytest.fixture(params=[RedisStorage, BlockingStorage], ids=["threads", "asyncio"])
def opener(request: pytest.FixtureRequest) -> Open:
    """Give the storage of either kind."""
    chosen: Open = request.param
    return chosen


@contextmanager
def prepared(server: Server, opener: Open, race: Race) -> Iterator[tuple[RedisStorage, Storage]]:
    """Give a client that has read ahead, and others that have acted then."""
    server.flush()
    with ExitStack() as stack:
        others = stack.enter_context(open_storage(server.url))
        storage = stack.enter_context(opener(server.url))
        for words in GIVEN:
            run(others, words)
        for words in race.before:
            assert not isinstance(run(storage, words), tuple), words
        assert not isinstance(run(others, race.act), tuple)
        yield storage, others


@pytest.mark.parametrize("race", RACES, ids=lambda race: f"{race.act} : {race.call}")
def test_all_is_as_if_nothing_had_been_read_ahead(
    one_redis_server: Server, opener: Open, race: Race
) -> None:
    with prepared(one_redis_server, opener, race) as (_, others):
        expected = run(others, race.call), others.dump()
    with prepared(one_redis_server, opener, race) as (storage, others):
        assert (run(storage, race.call), others.dump()) == expected
        assert storage.metrics.misguesses == race.misguessed
        assert storage.metrics.conflicts == 0


def test_a_job_is_handed_out_once_however_often_others_interfere(
    one_redis_server: Server, opener: Open
) -> None:
    """Two clients take turns at one queue, so that each spoils what the other has read ahead."""
    one_redis_server.flush()
    with ExitStack() as stack:
        clients = [stack.enter_context(opener(one_redis_server.url)) for _ in range(2)]
        for number in range(40):
            run(clients[0], f"put {number} me q J{number} klass {{}} 0")
        handed: list[str] = []
        for turn in range(40):
            client, worker = clients[turn % 2], f"w{turn % 2}"
            (jid,) = run(client, f"pop {100 + turn} q {worker} 1")
            handed.append(jid)
            if turn % 3:
                assert run(client, f"complete {100 + turn} {jid} {worker} q {{}}") == "complete"
        assert handed == [f"J{number}" for number in range(40)]
        assert sum(client.metrics.misguesses for client in clients) > 0
        assert sum(client.metrics.conflicts for client in clients) == 0


def test_what_was_read_ahead_does_not_outlive_its_guards(
    one_redis_server: Server, opener: Open
) -> None:
    """A void commit reads ahead, too; the call then reads afresh, and fails."""
    race = Race((POP,), "cancel 5 J", COMPLETE)
    with prepared(one_redis_server, opener, race) as (storage, others):
        assert isinstance(run(storage, race.call), tuple)
        assert run(others, "pop 6 q B 1") == ["K"]
        assert run(storage, "pop 7 q A 1") == ["L"]
