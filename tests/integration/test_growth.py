# SPDX-License-Identifier: MIT
"""
No transaction grows with the number of jobs: neither its guards, nor its writes, nor the replies to its reads.

What it sends is counted on a simulated server; how long that keeps a real one busy is measured where there is time.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pytest

from pyqless.client import Client, NewJob
from pyqless.client.references import MOST_PARENTS
from pyqless.core.commands import call
from pyqless.core.effects import Command
from pyqless.storage import open_storage
from tests.servers import Server
from tests.unit.storage.simulated import Bench, Packet

#: what a packet may have: guarded keys, commands, and elements in one reply to them
GUARDS: Final = 220
COMMANDS: Final = 750
ELEMENTS: Final = 220

#: for how long one command may keep a server busy, microseconds
LIMIT: Final = 10_000.0


def job(jid: str, state: str, **fields: str) -> list[Command]:
    """A job's hash and its history."""
    whole = {"jid": jid, "klass": "klass", "data": "{}", "priority": "0", "tags": "[]"}
    whole |= {"state": state, "worker": "", "expires": "0", "queue": "q", "failure": "{}"}
    whole |= {"retries": "5", "remaining": "5", "time": "1.0", **fields}
    pairs = [text for pair in whole.items() for text in pair]
    return [
        ("HSET", f"ql:j:{jid}", *pairs),
        ("RPUSH", f"ql:j:{jid}-history", '[1,"put",{"q":"q"}]'),
    ]


def jobs(number: int, state: str, key: str, score: float, **fields: str) -> Iterator[Command]:
    """Many jobs that stand in one set."""
    for at in range(number):
        yield from job(f"J{at}", state, **fields)
        yield ("ZADD", key, score, f"J{at}")


def dependents(number: int) -> Iterator[Command]:
    yield from job("P", "running", worker="w")
    yield ("ZADD", "ql:q:q-locks", 9000.0, "P")
    yield from jobs(number, "depends", "ql:q:q-depends", 1.0)
    for at in range(number):
        yield ("SADD", "ql:j:P-dependents", f"J{at}")
        yield ("SADD", f"ql:j:J{at}-dependencies", "P")


def completed(number: int) -> Iterator[Command]:
    yield from job("P", "running", worker="w")
    yield ("ZADD", "ql:q:q-locks", 9000.0, "P")
    yield ("HSET", "ql:config", "jobs-history", "100")
    yield from jobs(number, "complete", "ql:completed", 1.0, queue="")


def stalled(number: int) -> Iterator[Command]:
    yield from jobs(number, "running", "ql:q:q-locks", 1.0, worker="w")


def running(number: int) -> Iterator[Command]:
    yield from jobs(number, "running", "ql:q:q-locks", 9000.0, worker="w")


def waiting(number: int) -> Iterator[Command]:
    yield from jobs(number, "waiting", "ql:q:q-work", 1.0)


def scheduled(number: int) -> Iterator[Command]:
    yield from jobs(number, "scheduled", "ql:q:q-scheduled", 100.0)


def failed(number: int) -> Iterator[Command]:
    yield ("SADD", "ql:failures", "g")
    for at in range(number):
        failure = '{"group":"g","message":"","when":1,"worker":"w"}'
        yield from job(f"J{at}", "failed", failure=failure)
        yield ("LPUSH", "ql:f:g", f"J{at}")


def named(number: int) -> str:
    return " ".join(f"J{at}" for at in range(number))


class Load(NamedTuple):
    """Many jobs, and a call that has to do with all of them."""

    jobs: Callable[[int], Iterator[Command]]
    call: Callable[[int], str]
    #: how many there are on a simulated server, and on a real one
    few: int
    many: int
    #: keys of which many elements have to be read or written at once
    whole: tuple[str, ...] = ()


def always(words: str) -> Callable[[int], str]:
    return lambda _: words


LOADS: Final = {
    "a job with many dependents is completed": Load(
        dependents, always("complete 1000 P w q {}"), 700, 10_000, ("ql:j:P-dependents",)
    ),
    "many completed jobs are too old": Load(
        completed, always("complete 1000 P w q {}"), 700, 50_000
    ),
    "one job is popped where many locks have expired": Load(
        stalled, always("pop 1000 q w 1"), 700, 100_000
    ),
    "one job is popped where many are due": Load(scheduled, always("pop 1000 q w 1"), 700, 10_000),
    "jobs are counted where many are due": Load(scheduled, always("queues 1000 q"), 700, 10_000),
    "delayed jobs are listed where many are due": Load(
        scheduled, always("jobs 1000 scheduled q"), 700, 10_000
    ),
    "many jobs are popped": Load(waiting, lambda n: f"pop 1000 q w {n}", 700, 10_000),
    "many jobs that were delayed are popped": Load(
        scheduled, lambda n: f"pop 1000 q w {n}", 700, 10_000
    ),
    "many jobs whose locks have expired are popped": Load(
        stalled, lambda n: f"pop 1000 q w {n}", 700, 10_000
    ),
    "many jobs are cancelled": Load(waiting, lambda n: f"cancel 1000 {named(n)}", 700, 10_000),
    "many failed jobs are cancelled": Load(
        failed, lambda n: f"cancel 1000 {named(n)}", 700, 10_000
    ),
    "many jobs are taken from their workers": Load(
        running, lambda n: f"timeout 1000 {named(n)}", 700, 10_000
    ),
    "many failures are put back": Load(failed, lambda n: f"unfail 1000 q g {n}", 700, 10_000),
}


@pytest.mark.parametrize("name", LOADS)
def test_transactions_do_not_grow(name: str) -> None:
    load, bench = LOADS[name], Bench()
    for write in load.jobs(load.few):
        bench.server.keyspace.write(write)
    sizes: list[tuple[str, int]] = []

    def measure(packet: Packet, replies: list[Any]) -> list[Any]:
        sizes.extend(
            (f"{command[0]} {command[1]}", len(reply))
            for command, reply in zip(packet, replies, strict=True)
            if isinstance(reply, list) and command[0] != "EXEC" and command[1] not in load.whole
        )
        return replies

    bench.server.meddle = measure
    assert not isinstance(bench.call(load.call(load.few)), Exception)
    for packet in bench.server.packets:
        assert sum(len(command) - 1 for command in packet if command[0] == "WATCH") <= GUARDS
        assert len(packet) <= COMMANDS
    assert max(size for _, size in sizes) <= ELEMENTS, max(sizes, key=lambda pair: pair[1])


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", LOADS)
def test_no_command_keeps_a_server_busy(start_server: Callable[..., Server], name: str) -> None:
    load = LOADS[name]
    server = start_server("redis70")
    with server.client() as client:
        for part in batched(load.jobs(load.many), 10_000):
            pipeline = client.pipeline(transaction=False)
            for command in part:
                pipeline.execute_command(*command)
            pipeline.execute()
        # not the slowest of all: a machine with other work takes the server off its processor in the middle of anything
        client.config_set("latency-tracking-info-percentiles", "99")
        client.config_resetstat()
        wanted = call(shlex.split(load.call(load.many)))
        with open_storage(server.url) as storage:
            storage.run(wanted.transition, wanted.now)
        slowest = {
            name.removeprefix("latency_percentiles_usec_"): told["p99"]
            for name, told in client.info("latencystats").items()
        }
    assert max(slowest.values()) < LIMIT, slowest


@pytest.mark.soak
def test_a_job_that_waits_for_many_keeps_no_server_busy(
    start_server: Callable[..., Server],
) -> None:
    """As many as a call may name, which WATCH takes longest for, and as many as there are in the end."""
    server = start_server("redis70")
    with server.client() as observer, Client(server.url) as client:
        queue = client.queues["q"]
        jids = [f"P{number:04}" for number in range(10_000)]
        queue.put_many(NewJob("k", jid=jid) for jid in jids)
        observer.config_resetstat()
        job = client.jobs[queue.put("k", jid="J", depends=["J", *jids[: MOST_PARENTS - 1]])]
        for start in range(MOST_PARENTS - 1, len(jids), MOST_PARENTS):
            job.depend(*jids[start : start + MOST_PARENTS])
        job.undepend("J")
        assert sorted(client.jobs["J"].dependencies) == jids
        stats = observer.info("commandstats")
    mean = {name: told["usec_per_call"] for name, told in stats.items()}
    assert max(mean.values()) < LIMIT, mean


def batched(commands: Iterator[Command], size: int) -> Iterator[list[Command]]:
    part: list[Command] = []
    for command in commands:
        part.append(command)
        if len(part) == size:
            yield part
            part = []
    yield part
