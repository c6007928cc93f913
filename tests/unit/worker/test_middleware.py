# SPDX-License-Identifier: MIT
"""Decorators and middleware that are used wrongly say so where they stand, and not each job that runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from typing import Any

import pytest

import pyqless
from pyqless import Client, Queue
from pyqless.errors import InvalidArgument
from pyqless.testing import drain
from pyqless.worker import Finder, Runner, uses
from pyqless.worker.middleware import (
    constant,
    exponential,
    hooks,
    linear,
    memory_limit,
    reporting,
    retry_on,
    time_limit,
)


def function(job: Any) -> Any:
    return job.jid


async def coroutine(job: Any) -> None: ...


def yielding(_job: Any) -> Iterator[None]:
    yield


async def yielding_slowly(_job: Any) -> AsyncIterator[None]:
    yield


class Around:
    """Made with a job, and entered."""

    def __init__(self, job: Any) -> None:
        self.job = job

    def __enter__(self) -> None:
        self.job.data["entered"] = True

    def __exit__(self, *_: object) -> None: ...


MADE: list[Any] = [retry_on, time_limit, memory_limit, hooks, reporting]


@pytest.mark.parametrize(
    ("middleware", "fault"),
    [
        *((kind, f"must be called before, {kind.__name__}(...), or be a class") for kind in MADE),
        (coroutine, "must give a context manager, and is a coroutine function"),
        (yielding, "must have @contextmanager or @asynccontextmanager above it"),
        (yielding_slowly, "must have @contextmanager or @asynccontextmanager above it"),
        (5, "must be callable, not int"),
    ],
)
def test_what_is_no_middleware_is_told_where_it_is_named(middleware: Any, fault: str) -> None:
    for name in (lambda: uses(middleware), lambda: Runner(middleware=[middleware])):
        with pytest.raises(InvalidArgument) as caught:
            name()
        assert str(caught.value).startswith(f"middleware {fault}")
        assert (caught.value.argument, caught.value.value) == ("middleware", middleware)


def test_whatever_gives_a_context_manager_is_middleware(client: Client, queue: Queue) -> None:
    around = (Around, contextmanager(yielding), suppress, lambda _job: nullcontext())
    queue.put("run", {}, jid="J")
    drain(client, code={"run": uses(*around)(function)}, keeps_results=True)
    assert client.jobs["J"].result == "J"
    assert client.jobs["J"].data == {"entered": True}


@pytest.mark.parametrize(
    "owner",
    [function, coroutine, Around, pyqless.job(queue="q", name="n")(function)],
    ids=["function", "coroutine", "class", "declared"],
)
@pytest.mark.parametrize(
    "middleware",
    [retry_on(ValueError), time_limit(5), memory_limit(2**40), hooks(print), reporting(print)],
)
def test_middleware_that_decorates_by_itself_says_how_it_is_done(
    middleware: Any, owner: Any
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        middleware(owner)
    name = type(middleware).__name__
    told = f"middleware decorates nothing by itself: write @uses({name}(...))"
    assert str(caught.value).startswith(told)
    assert caught.value.value is owner


def test_uses_that_was_not_called_is_told_by_the_job(client: Client, queue: Queue) -> None:
    bare: Any = uses
    queue.put("run", {})
    with pytest.raises(
        InvalidArgument, match=r"function cannot be decorated: write @uses\(\.\.\.\)"
    ):
        drain(client, code={"run": bare(function)})


@pytest.mark.parametrize(
    ("work", "middleware", "fault"),
    [
        (function, lambda _job: None, "must give a context manager, not None"),
        (coroutine, lambda _job: None, "must give a context manager, not None"),
        (function, asynccontextmanager(yielding_slowly), "is for coroutines, and .* is none"),
    ],
    ids=["function", "coroutine", "for asyncio"],
)
def test_middleware_that_gives_nothing_to_enter_is_named(
    client: Client, queue: Queue, work: Any, middleware: Any, fault: str
) -> None:
    queue.put("run", {})
    with pytest.raises(TypeError, match=fault):
        drain(client, code={"run": uses(middleware)(work)})


# -- trying again ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exceptions", "fault"),
    [
        ((), "exceptions are missing: retry_on(ConnectionError, ...)"),
        ((KeyboardInterrupt,), "exceptions must derive of Exception"),
        ((ValueError, SystemExit), "exceptions must derive of Exception"),
        (((ValueError, KeyError),), "exceptions must be classes of exceptions, one by one"),
    ],
    ids=["none", "an interruption", "an end", "a tuple"],
)
def test_what_a_job_cannot_be_tried_again_for_is_told(exceptions: Any, fault: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        retry_on(*exceptions)
    assert str(caught.value).startswith(fault)
    assert caught.value.argument == "exceptions"


@pytest.mark.parametrize("maker", [constant, linear, exponential])
def test_a_backoff_that_was_not_called_says_how_it_is_done(maker: Any) -> None:
    with pytest.raises(
        InvalidArgument, match=r"backoff is to be called first, as in backoff=constant\(10\)"
    ):
        retry_on(ValueError, backoff=maker)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda work: hooks(before=work), "before"),
        (lambda work: hooks(after=work), "after"),
        (reporting, "capture"),
        (lambda work: reporting(print, scope=work), "scope"),
        (lambda work: retry_on(ValueError, backoff=work), "backoff"),
    ],
    ids=["before", "after", "capture", "scope", "backoff"],
)
def test_what_nobody_would_await_is_told(make: Any, argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        make(coroutine)
    assert str(caught.value).startswith(f"{argument} must not be a coroutine function")


@pytest.mark.parametrize("seconds", ["soon", -1, None])
def test_a_backoff_that_gives_no_span_is_named(client: Client, queue: Queue, seconds: Any) -> None:
    @uses(retry_on(ValueError, backoff=lambda _tries: seconds))
    def run(job: Any) -> None:
        raise ValueError(job)

    queue.put("run", {})
    with pytest.raises(InvalidArgument, match=r"^backoff must "):
        drain(client, code={"run": run})


# -- finding -----------------------------------------------------------------------------------


FINDER: Any = Finder


@pytest.mark.parametrize(
    ("make", "argument", "fault"),
    [
        (lambda: FINDER("jobs"), "modules", "must be a list of names"),
        (lambda: FINDER(functions={"a": 1}), "functions['a']", "must be callable"),
        (lambda: FINDER().register(function), "name", "is what is to be decorated: write @finder"),
        (lambda: FINDER().register(5), "name", "must be text"),
        (lambda: FINDER().register("five")(5), "function", "must be callable"),
    ],
    ids=["a text", "a number", "not called", "a number for a name", "a number to be called"],
)
def test_what_a_finder_cannot_find_is_told(make: Any, argument: str, fault: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert str(caught.value).startswith(f"{argument} {fault}")
    assert caught.value.argument == argument
