# SPDX-License-Identifier: MIT
"""Spans of time: wherever a call takes seconds, a timedelta does the same, and what is neither is refused by name."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from typing import Any, Final

import pytest

import pyqless
from pyqless import AsyncClient, Client, Job, NewJob, OnCommit
from pyqless.client import JobFunction, checks, waiting
from pyqless.client.requests import enqueueing
from pyqless.errors import InvalidArgument
from pyqless.testing import Clock, drain
from tests.api_reference import members

_stores = count()

SECONDS: Final = 90.5
BAD: Final = [timedelta(seconds=-1), "5", math.nan, True, datetime.now(UTC)]


class Mail:
    @staticmethod
    def default_job_options(data: Any) -> dict[str, Any]:
        return {"delay": data["delay"]}


class Digest:
    @staticmethod
    def default_job_options(data: Any) -> dict[str, Any]:
        return {"offset": data["offset"]}


def declared(client: Any = None, **options: Any) -> JobFunction[[int], int]:
    return pyqless.job(**{"queue": "q", "name": "n", "client": client, **options})(lambda n: n)


def on_commit(client: Client, **options: Any) -> None:
    later: list[Callable[[], None]] = []
    OnCommit(client, later.append).put("q", "k", **options)
    later[0]()


def built(delay: Any) -> tuple[str, float]:
    job = Job.build("k", jid="built", delay=delay)
    left = (job.explain().until or 0.0) - job.client.storage.clock()
    return job.state, round(left / 10)


def setting(name: str) -> Callable[[dict[str, Any], Any], Any]:
    return lambda has, span: has["client"].config.set(name, span)


#: what both clients have, as methods of a handle: the argument, and the call
METHODS: Final[dict[str, tuple[str, Callable[[dict[str, Any], Any], Any]]]] = {
    "put": ("delay", lambda has, span: has["queue"].put("k", jid="new", delay=span)),
    "recur": ("interval", lambda has, span: has["queue"].recur("k", {}, span, jid="new")),
    "recur later": (
        "offset",
        lambda has, span: has["queue"].recur("k", {}, 60, jid="new", offset=span),
    ),
    "pop": ("timeout", lambda has, span: has["queue"].pop(5, timeout=span)),
    "consumer": (
        "interval",
        lambda has, span: has["client"].consumer("q", interval=span)._waiting.interval,
    ),
    "consumer's pop": ("timeout", lambda has, span: has["consumer"].pop(5, timeout=span)),
    "get": ("timeout", lambda has, span: has["events"].get(span)),
    "wait": ("timeout", lambda has, span: has["done"].wait(span)),
    "wait looking": ("interval", lambda has, span: has["done"].wait(5, interval=span)),
    "jobs.wait": ("timeout", lambda has, span: has["client"].jobs.wait("done", span)),
    "jobs.wait looking": (
        "interval",
        lambda has, span: has["client"].jobs.wait("done", 5, interval=span),
    ),
    "purge_failed": ("older_than", lambda has, span: has["client"].jobs.purge_failed(span)),
    "complete": ("delay", lambda has, span: has["job"].complete("next", delay=span)),
    "complete_and_pop": (
        "delay",
        lambda has, span: has["job"].complete_and_pop("next", delay=span),
    ),
    "complete_many": (
        "delay",
        lambda has, span: has["client"].jobs.complete_many([has["job"]], "next", delay=span),
    ),
    "retry": ("delay", lambda has, span: has["job"].retry(span)),
    "requeue": ("delay", lambda has, span: has["job"].requeue(delay=span)),
    "update": ("interval", lambda has, span: has["recurring"].update(interval=span)),
    "put_many": (
        "items[0].delay",
        lambda has, span: has["queue"].put_many([NewJob("k", jid="new", delay=span)]),
    ),
    **{
        f"set {name}": (name, setting(name))
        for name in ("heartbeat", "q-heartbeat", "grace-period", "jobs-history", "max-worker-age")
    },
    "declared, delay": ("seconds", lambda has, span: ordered(has).delay(span).put(1)),
    "declared, options": ("delay", lambda has, span: ordered(has).options(delay=span).put(1)),
    "declared, recur": ("interval", lambda has, span: ordered(has).recur(span).put(1)),
    "declared, offset": (
        "offset",
        lambda has, span: ordered(has).recur(60, offset=span).put(1),
    ),
}

#: the methods whose argument is a span, by their signatures
TAKING: Final = {
    ("put", "delay"),
    ("recur", "interval"),
    ("recur", "offset"),
    ("pop", "timeout"),
    ("consumer", "interval"),
    ("get", "timeout"),
    ("wait", "timeout"),
    ("wait", "interval"),
    ("purge_failed", "older_than"),
    ("complete", "delay"),
    ("complete_and_pop", "delay"),
    ("complete_many", "delay"),
    ("retry", "delay"),
    ("requeue", "delay"),
    ("move", "delay"),  # another name of requeue
    ("update", "interval"),
    ("delay", "seconds"),
}

#: what the client that blocks has besides, and what needs no client
OTHERS: Final[dict[str, tuple[str, Callable[[dict[str, Any], Any], Any]]]] = {
    "queue.heartbeat": ("q-heartbeat", lambda has, span: setattr(has["queue"], "heartbeat", span)),
    "recurring.interval": (
        "interval",
        lambda has, span: setattr(has["recurring"], "interval", span),
    ),
    "on commit": ("delay", lambda has, span: on_commit(has["client"], jid="new", delay=span)),
    "build": ("delay", lambda _, span: built(span)),
    "job": ("heartbeat", lambda _, span: declared(heartbeat=span).heartbeat),
    "a function's delay": (
        "seconds",
        lambda has, span: declared(has["client"]).delay(span).put(1),
    ),
    "a function's recurrence": (
        "interval",
        lambda has, span: declared(has["client"]).recur(span).put(1),
    ),
    "drain": (
        "seconds",
        lambda has, span: drain(
            has["client"], "idle", clock=has["client"].storage.clock, seconds=span
        ),
    ),
}

CASES: Final = {**METHODS, **OTHERS}


def ordered(has: dict[str, Any]) -> Any:
    return declared().on(has["client"])


@pytest.fixture(autouse=True)
def _same_jids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enqueueing, "random_jid", lambda: "random")


def world() -> dict[str, Any]:
    """A store with a job in each state that matters, and handles on it."""
    clock = Clock()
    client = Client(f"memory://spans-{next(_stores)}", clock=clock, worker_name="w")
    queue = client.queues["q"]
    has: dict[str, Any] = {"client": client, "queue": queue, "consumer": client.consumer("q")}
    for jid in ("done", "failed"):
        queue.put("k", {}, jid=jid)
    done, failed = queue.pop(2)
    done.complete()
    failed.fail("g", "m")
    queue.put("k", {}, jid="runs")
    clock.move(60)
    queue.recur("k", {}, 60, jid="recurs", offset=100)
    events = client.events("log")
    events.close()  # so that nobody waits for any
    job = queue.pop()
    queue.put("k", {}, jid="ready")
    return {
        **has,
        "events": events,
        "job": job,
        "done": client.jobs["done"],
        "recurring": client.recurring["recurs"],
    }


async def async_world(blocking: dict[str, Any]) -> dict[str, Any]:
    storage = blocking["client"].storage
    client = AsyncClient(storage.url, clock=storage.clock, worker_name="w")
    events = client.events("log")
    await events.close()
    return {
        "client": client,
        "queue": client.queues["q"],
        "consumer": client.consumer("q"),
        "events": events,
        "job": await client.jobs["runs"],
        "done": await client.jobs["done"],
        "recurring": await client.recurring["recurs"],
    }


def shown(result: Any) -> Any:
    """What a call has given, in a form that can be compared."""
    if isinstance(result, list):
        return [*map(shown, result)]
    return result.jid if hasattr(result, "jid") else result


def outcome(case: str, span: Any) -> tuple[Any, Any]:
    """What a call gives, and how it leaves the store."""
    has = world()
    result = CASES[case][1](has, span)
    return shown(result), has["client"].storage.dump()


async def async_outcome(case: str, span: Any) -> tuple[Any, Any]:
    blocking = world()
    result = METHODS[case][1](await async_world(blocking), span)
    if inspect.isawaitable(result):
        result = await result
    return shown(result), blocking["client"].storage.dump()


@pytest.mark.parametrize("case", CASES)
def test_a_timedelta_is_its_seconds(case: str) -> None:
    assert outcome(case, timedelta(seconds=SECONDS)) == outcome(case, SECONDS)


@pytest.mark.parametrize("case", METHODS)
async def test_a_timedelta_is_its_seconds_with_asyncio(case: str) -> None:
    of_timedelta = await async_outcome(case, timedelta(seconds=SECONDS))
    assert of_timedelta == await async_outcome(case, SECONDS)


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_span_is_refused_by_name(case: str) -> None:
    argument, call = CASES[case]
    has = world()
    before = has["client"].storage.dump()
    for bad in BAD:
        with pytest.raises(InvalidArgument) as caught:
            call(has, bad)
        assert caught.value.argument == argument
        if isinstance(bad, str):
            told = "must be a number of seconds or a timedelta, not str: '5'"
            assert str(caught.value).endswith(f"{argument.rpartition('.')[2]} {told}")
    assert has["client"].storage.dump() == before


@pytest.mark.parametrize("case", METHODS)
async def test_so_it_is_with_asyncio(case: str) -> None:
    argument, call = METHODS[case]
    blocking = world()
    has = await async_world(blocking)
    before = blocking["client"].storage.dump()
    for bad in BAD:
        with pytest.raises(InvalidArgument) as caught:
            await call(has, bad)
        assert caught.value.argument == argument
    assert blocking["client"].storage.dump() == before


def spans_in(handle: Any) -> Iterator[tuple[str, str]]:
    for method, member in members(type(handle)):
        if isinstance(member, property | classmethod):
            continue
        for parameter in inspect.signature(member).parameters.values():
            if str(parameter.annotation).startswith("Span"):
                yield method, parameter.name


def test_no_span_is_missing_here() -> None:
    has = world()
    handles = [*has.values(), has["client"].jobs, declared()]
    found = {span for handle in handles for span in spans_in(handle)}
    assert found == TAKING


# -- what a class gives -----------------------------------------------------------------------


def test_a_class_may_give_one() -> None:
    client: Client = world()["client"]
    client.encoder = lambda value: value.total_seconds()
    now = client.storage.clock()
    jid = client.queues["q"].put(Mail, {"delay": timedelta(minutes=2)})
    assert client.jobs[jid].explain().until == now + 120
    jid = client.queues["q"].recur(Digest, {"offset": timedelta(hours=1)}, timedelta(days=1))
    recurring = client.recurring[jid]
    assert (recurring.next_run(), recurring.interval) == (now + 3600, 86400)


# -- what comes back is seconds ---------------------------------------------------------------


def test_what_comes_back_is_seconds() -> None:
    has = world()
    queue, client, recurring = has["queue"], has["client"], has["recurring"]
    queue.heartbeat = timedelta(minutes=2)
    assert (queue.heartbeat, client.config["q-heartbeat"]) == (120, 120)
    recurring.interval = timedelta(days=1)
    assert recurring.interval == 86400
    assert declared(heartbeat=timedelta(minutes=1)).heartbeat == 60.0


def test_settings_that_are_no_seconds_take_no_timedelta() -> None:
    config = world()["client"].config
    for name in ("stats-history", "histogram-history", "jobs-history-count", "of-my-own"):
        with pytest.raises(InvalidArgument, match=rf"^{name} must be a (whole )?number, not timed"):
            config.set(name, timedelta(days=3))


def test_a_clock_is_moved_both_ways() -> None:
    clock = Clock(1000)
    clock.move(timedelta(minutes=1))
    clock.move(timedelta(seconds=-0.5))
    assert clock.now == 1059.5


def test_a_wait_is_counted_in_seconds() -> None:
    assert waiting.seconds(timedelta(minutes=1)) == 60.0
    assert waiting.at_most(timedelta(minutes=1)) == 60.0
    assert waiting.at_most(timedelta.max) is None
    assert waiting.seconds(math.inf) == math.inf
    assert waiting.end_of(timedelta(hours=1)) == pytest.approx(time.monotonic() + 3600, abs=60)


# -- the rule ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("span", "seconds"),
    [
        (timedelta(days=1, microseconds=500_000), 86400.5),
        (timedelta(0), 0.0),
        (timedelta.max, timedelta.max.total_seconds()),
        (5, 5.0),
        (0.25, 0.25),
    ],
)
def test_a_span_is_given_as_seconds(span: Any, seconds: float) -> None:
    found = checks.span("delay", span)
    assert (found, type(found)) == (seconds, float)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (timedelta(seconds=-90), "delay must not be below 0: -90.0"),
        (-1, "delay must not be below 0: -1"),
        (math.nan, "delay must be a number: nan"),
        (math.inf, "delay must be finite: inf"),
        (True, "delay must be a number of seconds or a timedelta, not bool: True"),
        (None, "delay must be a number of seconds or a timedelta, not NoneType: None"),
    ],
)
def test_a_span_is_refused_as_a_number_is(value: Any, fault: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        checks.span("delay", value)
    assert str(caught.value) == fault


@pytest.mark.parametrize("value", [timedelta(0), timedelta(seconds=-1), 0, -1.0])
def test_a_positive_span_is_above_zero(value: Any) -> None:
    with pytest.raises(InvalidArgument, match="interval must be above 0"):
        checks.positive_span("interval", value)


# -- moments, which are no spans --------------------------------------------------------------


def test_a_moment_has_a_time_zone() -> None:
    client: Client = world()["client"]
    when = datetime.fromtimestamp(client.storage.clock() + SECONDS, timezone(timedelta(hours=9)))
    jid = declared(client).at(when).put(1)
    assert client.jobs[jid].explain().until == when.timestamp()
    with pytest.raises(InvalidArgument, match=r"^moment must have a time zone: ") as caught:
        declared(client).at(when.replace(tzinfo=None))
    assert caught.value.argument == "moment"
    with pytest.raises(InvalidArgument, match=r"^moment must be a number, not timedelta"):
        declared(client).at(timedelta(seconds=5))
