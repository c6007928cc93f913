# SPDX-License-Identifier: MIT
"""
The ordeal: one in five packets with an EXEC goes wrong, and all that clients are told is true. See ``tests.ordeal``.

No transaction takes effect twice; none that was reported as not done takes effect, not even later; none is lost.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle
from typing import Any, Final, NamedTuple

import pytest

from pyqless import Client
from pyqless.core.effects import Command
from pyqless.storage.redis import committing
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.recovery import recover
from pyqless.storage.redis.steps import Steps
from tests.bench.tables import circumstances, show
from tests.ordeal import book
from tests.ordeal.book import Entry
from tests.ordeal.clerk import RETRIES, Call, Orders, Told, live
from tests.ordeal.faults import KINDS, SHARE, FaultyGate
from tests.ordeal.verdict import WRONG, Life, Verdict, judge, read_lives
from tests.servers import KINDS as SERVERS
from tests.servers import Kind, NotInstalled, Server, Variant

#: of the full form
SEEDS: Final = 10
TRANSACTIONS: Final = 200_000
CLIENTS: Final = 8


class Ordeal(NamedTuple):
    """What went wrong, and how it ended."""

    verdict: Verdict
    gate: FaultyGate
    recoveries: int


def undergo(server: Server, pool: Executor, seed: int, clients: int, transactions: int) -> Ordeal:
    """Let clients work until so many transactions are acknowledged; judge when all has landed."""
    server.flush()
    with Client(server.url) as client:
        client.config["heartbeat"] = 86400  # however slow it goes, no lock expires
    with FaultyGate(server.port, clients, seed) as gate:
        orders = [
            Orders(f"redis://127.0.0.1:{port}/0", number, seed, -(-transactions // clients))
            for number, port in enumerate(gate.ports)
        ]
        accounts = list(pool.map(live, orders))
    with server.client(decode_responses=True) as plain:
        calls = [call for account in accounts for call in account.calls]
        verdict = judge(calls, book.read(plain), read_lives(plain))
    return Ordeal(verdict, gate, sum(account.recoveries for account in accounts))


@pytest.fixture
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_what_clients_are_told_is_true(one_redis_server: Server, threads: Executor) -> None:
    verdict, gate, recoveries = undergo(one_redis_server, threads, 1, 4, 1200)
    assert verdict.faults == {}
    assert verdict.acknowledged >= 1200
    assert abs(gate.faults.total() / gate.passed - SHARE) < 0.05
    assert gate.faults.keys() == KINDS.keys()
    assert gate.landed["void"] > gate.landed["done"]
    assert recoveries > 100
    assert gate.hindered > 10


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("one_kind")
def test_what_clients_are_told_is_true_two_hundred_thousand_times(
    shared_server: Callable[[Kind, Variant], Server],
) -> None:
    """On each kind of server in turn; prints what the documentation shows."""
    servers = cycle(_installed(shared_server))
    began, ordeals = time.monotonic(), {}
    with ProcessPoolExecutor(CLIENTS, multiprocessing.get_context("spawn")) as pool:
        for seed, server in zip(range(SEEDS), servers, strict=False):
            ordeal = undergo(server, pool, seed, CLIENTS, TRANSACTIONS // SEEDS)
            ordeals[f"{seed}, {server.kind}"] = ordeal
    rows = [_numbers(ordeal) for ordeal in ordeals.values()]
    total = [sum(column) for column in zip(*rows, strict=True)]
    show(
        f"{time.monotonic() - began:,.0f} s; {circumstances(f'{CLIENTS} clients')}",
        COLUMNS,
        [[name, *row] for name, row in zip([*ordeals, "all"], [*rows, total], strict=True)],
    )
    assert {name: it.verdict.faults for name, it in ordeals.items() if it.verdict.faults} == {}
    assert total[0] >= TRANSACTIONS


def _installed(shared_server: Callable[[Kind, Variant], Server]) -> Iterator[Server]:
    for kind in SERVERS:
        with suppress(NotInstalled):
            yield shared_server(kind, "acl")


COLUMNS: Final = (
    *("seed, server", "transactions", "EXECs", "faulty", "landed late", "recoveries"),
    *("not done", "unknown", *WRONG),
)


def _numbers(ordeal: Ordeal) -> list[int]:
    verdict, gate, recoveries = ordeal
    return [
        *(verdict.acknowledged, gate.passed, gate.faults.total(), gate.landed.total()),
        *(recoveries, verdict.undone, verdict.unknown, *map(len, verdict.wrong.values())),
    ]


# -- that it can fail -----------------------------------------------------------------------------

_exchange = Lane.exchange


def _says_no(lane: Lane) -> Steps[bool]:
    """Take an EXEC that was not answered for one that did not take place."""
    lane.metrics.recoveries += 1
    return False
    yield


def _says_yes(lane: Lane) -> Steps[bool]:
    """Take it for one that did."""
    yield from recover(lane)
    return True


def _only_looks(self: Lane, *commands: Command) -> Steps[list[Any]]:
    """Read the fence without writing to it first, so that an EXEC that is still on its way can succeed."""
    if commands[0][:2] == ("HINCRBY", self.fence.key):
        look = ("HGET", self.fence.key, "epoch")
        commands = (look, *commands[1:-1], look)
    return (yield from _exchange(self, *commands))


def _leaves_the_fence_unguarded(self: Lane, *commands: Command) -> Steps[list[Any]]:
    def without_fence(command: Command) -> Command:
        keys = [word for word in command[1:] if word != self.fence.key]
        return ("WATCH", *(keys or ["nothing"])) if command[0] == "WATCH" else command

    return (yield from _exchange(self, *map(without_fence, commands)))


def _guards_the_fence_alone(self: Lane, *commands: Command) -> Steps[list[Any]]:
    commands = tuple(("WATCH", self.fence.key) if it[0] == "WATCH" else it for it in commands)
    return (yield from _exchange(self, *commands))


@pytest.mark.parametrize(
    ("owner", "name", "broken", "faults"),
    [
        (committing, "recover", _says_no, {"doubles", "ghosts"}),
        (committing, "recover", _says_yes, {"lost"}),
        (Lane, "exchange", _only_looks, {"doubles", "ghosts"}),
        (Lane, "exchange", _leaves_the_fence_unguarded, {"doubles", "ghosts"}),
        (Lane, "exchange", _guards_the_fence_alone, {"shared", "baseless"}),
    ],
    ids=[
        *("no without asking", "yes without asking", "looks without writing"),
        *("no guard of the fence", "no other guard"),
    ],
)
def test_that_it_can_fail(
    one_redis_server: Server,
    threads: Executor,
    monkeypatch: pytest.MonkeyPatch,
    owner: object,
    name: str,
    broken: Callable[..., Any],
    faults: set[str],
) -> None:
    monkeypatch.setattr(owner, name, broken)
    found = undergo(one_redis_server, threads, 1, 4, 1200).verdict.faults
    assert found.keys() & faults, found


# -- the judge itself -----------------------------------------------------------------------------

PUT: Final = Entry(1, "put", "J", "ann")
POP: Final = Entry(2, "pop", "J", "ann")
DONE: Final = Entry(3, "complete", "J", "ann")

WAITING: Final = Life("waiting", "", 1, RETRIES, {"put": 1})
COMPLETE: Final = Life("complete", "", 3, RETRIES, {"put": 1, "popped": 1, "done": 1})


def told(entry: Entry, told: Told = "done") -> Call:
    return Call(entry.number, entry.event, entry.jid, told)


@pytest.mark.parametrize(
    ("calls", "entries", "life", "faults"),
    [
        ([told(PUT), told(POP), told(DONE)], [PUT, POP, DONE], COMPLETE, {}),
        ([told(PUT), told(POP, "unknown")], [PUT], WAITING, {}),
        ([told(PUT, "unknown"), told(PUT._replace(number=2), "refused")], [PUT], WAITING, {}),
        ([told(PUT)], [PUT, PUT], WAITING._replace(events={"put": 2}), {"doubles": [1]}),
        ([told(PUT, "undone")], [PUT], WAITING, {"ghosts": [1]}),
        ([], [PUT], WAITING, {"ghosts": [1]}),
        ([told(PUT), told(POP)], [PUT], WAITING, {"lost": [2]}),
        (
            [told(PUT), told(POP._replace(jid="K"))],
            [PUT, POP],
            None,
            {"lost": [2], "astray": ["J"]},
        ),
        ([told(PUT), told(PUT._replace(number=2), "refused")], [PUT], WAITING, {"baseless": [2]}),
        (
            [told(PUT), told(POP), told(POP._replace(number=4)), told(DONE)],
            [PUT, POP, POP._replace(number=4, worker="bob"), DONE],
            COMPLETE._replace(events={"put": 1, "popped": 2, "done": 1}),
            {"shared": [4]},
        ),
        ([told(PUT)], [PUT], WAITING._replace(state="waiting in []"), {"astray": ["J"]}),
        ([told(PUT)], [PUT], WAITING._replace(number=7), {"astray": ["J"]}),
        ([told(PUT)], [PUT], WAITING._replace(events={"put": 2}), {"astray": ["J"]}),
    ],
    ids=[
        *("all is well", "in doubt and not done", "in doubt and done"),
        *("twice", "after all", "by nobody", "not at all", "another job", "refused for nothing"),
        *("in two hands", "in no place", "overwritten", "put twice"),
    ],
)
def test_the_verdict(
    calls: list[Call],
    entries: list[Entry],
    life: Life | None,
    faults: dict[str, Sequence[int | str]],
) -> None:
    assert judge(calls, entries, {} if life is None else {"J": life}).faults == faults
