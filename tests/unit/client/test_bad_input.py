# SPDX-License-Identifier: MIT
"""Bad input, of every kind, to every argument of every public call: a typed error that names it, and nothing changed."""

from __future__ import annotations

import inspect
import math
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from itertools import count
from typing import Any, Final

import pytest

import pyqless
from pyqless import AsyncClient, Client, Job, NewJob, errors
from pyqless.client import JobFunction
from pyqless.testing import Clock
from tests.api_reference import members

HUGE: Final = 10**400

_stores = count()

#: what is bad for an argument, by its annotation less ``| None``
BAD: Final[dict[str, list[Any]]] = {
    "str": [5, b"x", True, "\ud800"],
    "str | AnyJob": [5, b"x", True, "\ud800", NewJob("k")],
    "str | type": [5, b"x", True, "", "a\n", "\ud800", "x" * 600],
    "int": [-1, 1.5, True, "5", math.nan, HUGE],
    "float": [math.nan, "5", True, HUGE],
    "Span": [math.nan, "5", True, HUGE, timedelta(seconds=-1)],
    "float | date": [math.nan, "2026-01-01", True, HUGE],
    "bool": [1, "yes", ""],
    "Iterable[str]": ["abc", 5, [5], [b"x"], ["\ud800"]],
    "Iterable[NewJob | tuple[str | type, Any]]": [
        *("abc", 5, [5], ["ab"], [("k",)], [("k", 1, 2)], [("", 1)], [("k", {1: 2})]),
        [NewJob("k"), NewJob("k", priority="high")],  # type: ignore[arg-type]
    ],
    "Iterable[Job]": ["abc", 5, [5], ["runs"]],
    "Iterable[str | AnyJob]": ["abc", 5, [5], [b"x"], ["a\n"], [NewJob("k")]],
    "OnConflict": ["explode", 5, b"keep"],
    "Source": ["everything", 5, b"log"],
    "Mapping[str, Callable[[Event], object]]": [5, [], {"put": 5}],
    "Any": [{1: 2}, {"a": b"x"}, [math.inf], "\ud800", {"a": HUGE}],
    "type[T]": ["int", 5, len],
    "Setting | timedelta": [True, b"x", math.nan, HUGE, "\ud800", timedelta(1)],
}

#: what is bad for an argument of this name besides
BAD_NAMES: Final[dict[str, list[Any]]] = {
    **{name: ["", "a\n", "x" * 600, "a-history"] for name in ("jid", "jids")},
    **{name: ["", "a\0", "x" * 600] for name in ("group", "queue", "to", "next_queue", "name")},
    **{name: [-1] for name in ("delay", "offset", "timeout", "older_than", "interval")},
    **{name: ["", "x" * 600] for name in ("tags", "names")},
}

#: what other arguments get meanwhile
GOOD: Final[dict[str, Any]] = {
    "klass": "k",
    "data": 1,
    "interval": 60,
    "count": 1,
    "name": "n",
    "value": 5,
    "jid": "new",
    "group": "g",
    "message": "m",
    "to": "other",
    "tag": "t",
    "older_than": 5,
    "queues": "q",
    "jids": "waits",
    "tags": "t",
    "names": "w",
    "priority": 1,
    "callbacks": {},
    "items": (),
    "jobs": (),
}

#: arguments that go together
TOGETHER: Final = {
    "group": "message",
    "message": "group",
    "depends": "next_queue",
    "delay": "next_queue",
}

#: what takes anything, and what is not for programs
ANYTHING: Final = {("get", "default"), ("encoded", "data"), ("requeue", "next_queue")}
#: a setting is named by itself, and data that is to become something else by its place
NAMED: Final = {("set", "value"): "n", ("data_as", "kind"): "data", ("result_as", "kind"): "result"}
INNER: Final = {"encoded", "encoded_data", "changed_data"}


def world() -> dict[str, Any]:
    """All handles of a client whose store has jobs in it."""
    client = Client(f"memory://bad-input-{next(_stores)}", clock=Clock(), worker_name="w")
    queue = client.queues["q"]
    queue.put("k", {"a": 1}, jid="runs", tags=["t"])
    queue.put("k", jid="waits", depends=["runs"])
    queue.recur("k", {}, 60, jid="recurs", offset=100)
    return {
        "client": client,
        "queues": client.queues,
        "queue": queue,
        "jobs": client.jobs,
        "job": queue.pop(),
        "waiting": client.jobs["waits"],
        "recurrings": client.recurring,
        "recurring": client.recurring["recurs"],
        "workers": client.workers,
        "tags": client.tags,
        "config": client.config,
        "consumer": client.consumer("q"),
        "events": client.events("log"),
    }


async def async_world(blocking: dict[str, Any]) -> dict[str, Any]:
    """The same for asyncio, on the same store."""
    storage = blocking["client"].storage
    client = AsyncClient(storage.url, clock=storage.clock, worker_name="w")
    return {
        "client": client,
        "queues": client.queues,
        "queue": client.queues["q"],
        "jobs": client.jobs,
        "job": await client.jobs["runs"],
        "waiting": await client.jobs["waits"],
        "recurrings": client.recurring,
        "recurring": await client.recurring["recurs"],
        "workers": client.workers,
        "tags": client.tags,
        "config": client.config,
        "consumer": client.consumer("q"),
        "events": client.events("log"),
    }


def cases() -> Iterator[Any]:
    """Every argument of every public method, with each value that is bad for it."""
    for owner, handle in world().items():
        for method, member in members(type(handle)):
            if method in INNER or isinstance(member, property | classmethod):
                continue
            for parameter in inspect.signature(member).parameters.values():
                if parameter.name == "self" or (method, parameter.name) in ANYTHING:
                    continue
                kind = str(parameter.annotation).removesuffix(" | None")
                for at, value in enumerate([*BAD[kind], *BAD_NAMES.get(parameter.name, [])]):
                    name = f"{owner}.{method}({parameter.name})-{at}"
                    yield pytest.param(owner, method, parameter.name, value, id=name)


def arguments(call: Callable[..., Any], name: str, value: Any) -> tuple[list[Any], dict[str, Any]]:
    """A call whose one argument is bad."""
    chosen = {name: value}
    if (other := TOGETHER.get(name)) in inspect.signature(call).parameters and other is not None:
        chosen[other] = GOOD.get(other, "other")
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for each in inspect.signature(call).parameters.values():
        given = chosen.get(each.name, GOOD.get(each.name) if each.default is each.empty else ...)
        if given is ... or (given is None and each.name not in chosen):
            continue
        if each.kind is each.VAR_KEYWORD:
            kwargs["member"] = given
        elif each.kind is each.KEYWORD_ONLY or each.default is not each.empty:
            kwargs[each.name] = given
        else:
            args.append(given)
    return args, kwargs


CASES: Final = [*cases()]


@pytest.mark.parametrize(("owner", "method", "argument", "value"), CASES)
def test_a_bad_argument_is_named_and_nothing_is_changed(
    owner: str, method: str, argument: str, value: Any
) -> None:
    handles = world()
    before = handles["client"].storage.dump()
    call = getattr(handles[owner], method)
    args, kwargs = arguments(call, argument, value)
    with pytest.raises(errors.InvalidArgument) as caught:
        taken(call(*args, **kwargs))
    assert handles["client"].storage.dump() == before
    # the place within the argument may stand behind its name
    named = str(caught.value.argument).partition("[")[0]
    assert named == NAMED.get((method, argument), argument)


@pytest.mark.parametrize(("owner", "method", "argument", "value"), CASES)
async def test_so_it_is_with_asyncio(owner: str, method: str, argument: str, value: Any) -> None:
    blocking = world()
    handles = await async_world(blocking)
    before = blocking["client"].storage.dump()
    call = getattr(handles[owner], method)
    args, kwargs = arguments(call, argument, value)
    with pytest.raises(errors.InvalidArgument) as caught:
        await async_taken(call(*args, **kwargs))
    assert blocking["client"].storage.dump() == before
    named = str(caught.value.argument).partition("[")[0]
    assert named == NAMED.get((method, argument), argument)


def taken(found: Any) -> None:
    """Go through what is lazy."""
    for _ in found if isinstance(found, Iterator) else ():
        pass


async def async_taken(found: Any) -> None:
    """Wait for what is to be waited for, and go through what is lazy."""
    if isinstance(found, AsyncIterator):
        async for _ in found:
            pass
    elif inspect.isawaitable(found):
        await found


# -- what is called without a client ----------------------------------------------------------


def declared(**options: Any) -> JobFunction[[int], int]:
    return pyqless.job(**{"queue": "q", "name": "n", **options})(lambda number: number)


def order(client: Client, **options: Any) -> Any:
    return declared().on(client).options(**options)


AIO: Final = AsyncClient("memory://")
NO_CALLBACK: Final = [5, "text", b"x"]

CALLS: Final[dict[str, tuple[str, Callable[[Client, Any], object], list[Any]]]] = {
    "url": ("url", lambda _, bad: Client(bad), [5, b"memory://", "", "nowhere", "memory"]),
    "connection": ("connection", lambda _, bad: Client(connection=bad), [5, "redis://", object()]),
    "worker_name": (
        "worker_name",
        lambda _, bad: Client("memory://", worker_name=bad),
        [5, "", "a\n"],
    ),
    "namespace": (
        "namespace",
        lambda _, bad: Client("memory://", namespace=bad),
        [5, None, "", "a\0"],
    ),
    "clock": ("clock", lambda _, bad: Client("memory://", clock=bad), [*NO_CALLBACK, None]),
    "encoder": ("encoder", lambda _, bad: Client("memory://", encoder=bad), NO_CALLBACK),
    "max_data_size": (
        "max_data_size",
        lambda _, bad: Client("memory://", max_data_size=bad),
        [0, -1, 1.5, "5", None, True],
    ),
    "read_only": ("read_only", lambda _, bad: Client("memory://", read_only=bad), [1, "yes", None]),
    "an option": ("colour", lambda _, bad: Client("memory://", colour=bad), [5]),
    "clock for asyncio": ("clock", lambda _, bad: AsyncClient("memory://", clock=bad), NO_CALLBACK),
    "job's queue": ("queue", lambda _, bad: declared(queue=bad), [5, "", "a\n", b"q"]),
    "job's name": ("name", lambda _, bad: declared(name=bad), [5, "", "a\n", b"n"]),
    "job's client": ("client", lambda _, bad: declared(client=bad), [5, "memory://", AIO]),
    "a client that is none": (
        "client",
        lambda _, bad: declared(client=lambda: bad).put(1),
        [None, 5, "memory://"],
    ),
    "a client for asyncio": (
        "client",
        lambda _, bad: declared(client=lambda: bad).put(1),
        [AIO],
    ),
    "job's function": (
        "function",
        lambda _, bad: pyqless.job(queue="q", name="n")(bad),
        NO_CALLBACK,
    ),
    "job's nameless function": (
        "function",
        lambda _, bad: pyqless.job(queue="q")(bad),
        [lambda: 0],
    ),
    "on": ("client", lambda _, bad: declared().on(bad), [None, 5, "memory://"]),
    "delay": ("seconds", lambda client, bad: order(client).delay(bad), [-1, "5", None, math.nan]),
    "at": ("moment", lambda client, bad: order(client).at(bad), ["soon", None, math.nan, True]),
    "options": (
        "options",
        lambda client, bad: order(client, **bad),
        [{"colour": 1}, {"offset": 1}],
    ),
    "recur": ("interval", lambda client, bad: order(client).recur(bad).put(1), [0, -1, "5", None]),
    "recur's options": (
        "options",
        lambda client, bad: order(client).recur(60, **bad).put(1),
        [{"colour": 1}, {"delay": 5}, {"max_waiting": 1}],
    ),
    "arguments": ("arguments", lambda client, bad: order(client).put(*bad), [(), (1, 2)]),
    "prepared's arguments": (
        "arguments",
        lambda client, bad: order(client).prepared(*bad),
        [(), (1, 2)],
    ),
    "a new job's options": ("options", lambda _, bad: NewJob("k", **bad), [{"colour": 1}]),
    "build's klass": ("klass", lambda _, bad: Job.build(bad), [5, "", b"k", len]),
    "build's queue": ("name", lambda _, bad: Job.build("k", queue=bad), [5, "", b"q"]),
    "now": ("now", lambda _, bad: Clock(bad), ["noon", None, math.nan]),
    "seconds": ("seconds", lambda _, bad: Clock().move(bad), ["5", None, math.nan]),
    "a setting": (
        "interval",
        lambda client, bad: setattr(client.recurring["recurs"], "interval", bad),
        [None, 0, "5"],
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_bad_input_to_other_calls_is_named(case: str) -> None:
    argument, call, bad = CALLS[case]
    client = world()["client"]
    before = client.storage.dump()
    for value in bad:
        with pytest.raises(errors.InvalidArgument) as caught:
            call(client, value)
        assert caught.value.argument == argument
    assert client.storage.dump() == before
