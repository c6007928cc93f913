# SPDX-License-Identifier: MIT
"""Functions that are jobs: called as they are, put by name, run with their arguments fitted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

import pyqless
from pyqless import AsyncClient, Client, Job
from pyqless.errors import DataMismatch, InvalidArgument
from tests.unit.client.moved import MovedClock

done: list[Any] = []


@dataclass
class Size:
    width: int
    height: int


@pyqless.job(queue="images", retries=2, tags=["img"], priority=4, heartbeat=30)
def resize(path: str, size: Size, /, *names: str, quality: int = 80, **more: float) -> str:
    """Make an image smaller."""
    done.append((path, size, names, quality, more))
    return path


@pyqless.job(queue="images")
def tidy() -> None:
    """Tidy up."""


def popped(client: Client) -> Job:
    job = client.queues["images"].pop()
    assert job is not None
    return job


def test_a_declared_function_is_called_as_it_is() -> None:
    assert resize("a", Size(1, 2)) == "a"
    assert done.pop() == ("a", Size(1, 2), (), 80, {})
    assert (resize.__name__, resize.__doc__) == ("resize", "Make an image smaller.")
    assert repr(resize) == f"<JobFunction {__name__}.resize in 'images'>"
    assert resize.heartbeat == 30


def test_what_is_put_is_run_with_the_same_arguments(client: Client) -> None:
    resize.on(client).put("a.png", Size(1, 2), "x", "y", quality=5, ratio=1.5)
    job = popped(client)
    assert job.klass_name == f"{__name__}.resize"
    assert job.data == {
        "path": "a.png",
        "size": {"width": 1, "height": 2},
        "names": ["x", "y"],
        "quality": 5,
        "more": {"ratio": 1.5},
    }
    assert (job.priority, job.tags, job.retries) == (4, ["img"], 2)

    assert resize.process(job) == "a.png"
    assert done.pop() == ("a.png", Size(1, 2), ("x", "y"), 5, {"ratio": 1.5})


def test_options_of_a_job_go_before_those_of_the_function(
    client: Client, clock: MovedClock
) -> None:
    order = resize.on(client).options(priority=9, jid="mine").options(tags=["own"])
    assert order.put("a", Size(1, 2)) == "mine"
    job = popped(client)
    assert (job.priority, job.tags, job.retries) == (9, ["own"], 2)
    tidy.on(client).options(jid="later").delay(60).put()
    moment = datetime.fromtimestamp(clock.now + 90, UTC)
    tidy.on(client).at(moment).options(jid="at").put()
    tidy.on(client).at(clock.now - 5).options(jid="now").put()
    assert client.queues["images"].scheduled() == ["later", "at"]
    assert client.jobs.explain("at").until == clock.now + 90
    assert client.jobs["now"].state == "waiting"


def test_a_function_recurs(client: Client, clock: MovedClock) -> None:
    assert tidy.on(client).recur(60, jid="r", offset=5, backlog=1).put() == "r"
    recurring = client.recurring["r"]
    assert (recurring.klass_name, recurring.data) == (f"{__name__}.tidy", {})
    assert (recurring.interval, recurring.backlog) == (60, 1)
    assert recurring.next_run() == clock.now + 5
    with pytest.raises(InvalidArgument, match="no option of recurring jobs: 'delay'"):
        tidy.on(client).delay(5).recur(60)


def test_the_client_may_come_with_the_function(client: Client) -> None:
    @pyqless.job(queue="images", name="near", client=client)
    def near(number: int) -> int:
        return number + 1

    @pyqless.job(queue="images", name="late", client=lambda: client)
    def late(number: int) -> int:
        return number + 2

    near.put(1)
    late.options(priority=-1).put(1)
    assert near.process(popped(client)) == 2
    assert late.process(popped(client)) == 3
    near.delay(5).put(1)
    near.at(5).put(1)
    near.recur(60).put(1)
    assert client.queues["images"].counts()[1:7] == (1, 2, 0, 1, 0, 1)
    with pytest.raises(InvalidArgument) as caught:
        tidy.put()
    assert caught.value.argument == "client"


async def test_functions_are_put_for_asyncio(async_client: AsyncClient) -> None:
    async with async_client as client:
        jid = await resize.on(client).options(retries=0).put("a", Size(1, 2))
        job = await client.jobs[jid]
        assert (job.retries, job.priority) == (0, 4)
        assert await tidy.on(client).recur(60, jid="r").put() == "r"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "data must be an object of arguments of resize"),
        ({"path": 5, "size": {"width": 1, "height": 2}}, r"data\['path'\] must be str: 5"),
        ({"path": "a", "size": {"width": "1", "height": 2}}, r"data\['size'\]\['width'\] must"),
        ({"path": "a"}, "data does not fit resize"),
        ({"path": "a", "size": {"width": 1, "height": 2}, "names": "x"}, r"data\['names'\] must"),
    ],
)
def test_data_that_does_not_fit_is_told(client: Client, data: Any, message: str) -> None:
    client.queues["images"].put(resize.klass_name, data)
    with pytest.raises(DataMismatch, match=message):
        resize.process(popped(client))
    assert done == []


def test_a_call_that_does_not_fit_puts_nothing(client: Client) -> None:
    call: Any = resize.on(client).put
    with pytest.raises(InvalidArgument, match="arguments do not fit resize"):
        call("a")
    assert client.queues["images"].length() == 0


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("queue", {"queue": "", "name": "n"}),
        ("name", {"queue": "q", "name": ""}),
        ("retries", {"queue": "q", "name": "n", "retries": -1}),
        ("tags", {"queue": "q", "name": "n", "tags": "t"}),
        ("priority", {"queue": "q", "name": "n", "priority": "high"}),
        ("heartbeat", {"queue": "q", "name": "n", "heartbeat": 0}),
        ("function", {"queue": "q"}),
    ],
)
def test_what_a_function_is_declared_with_is_checked(
    argument: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument) as caught:

        @pyqless.job(**options)
        def function() -> None: ...

    assert caught.value.argument == argument


# -- mistakes of beginners --------------------------------------------------------------------


def function(number: int) -> int:
    return number


@pytest.mark.parametrize(
    "declare",
    [
        lambda job: job(function),
        lambda job: job(),
        lambda job: job()(function),
        lambda job: job("images"),
        lambda job: job(retries=3),
    ],
    ids=["bare", "empty", "empty, of a function", "a queue by position", "no queue"],
)
def test_a_declaration_without_a_queue_says_how_it_is_done(declare: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"@pyqless\.job\(queue=\.\.\.\)") as caught:
        declare(pyqless.job)
    assert caught.value.argument == "queue"


@pytest.mark.parametrize(
    ("klass", "hint"),
    [
        (function, "declare it with @pyqless.job(queue=...) and call its .put(...)"),
        (lambda: None, "declare it with @pyqless.job(queue=...) and call its .put(...)"),
        (tidy, "it is declared already, so call its own .put(...)"),
    ],
    ids=["function", "lambda", "declared"],
)
def test_a_function_in_the_place_of_a_class_says_how_it_is_done(
    client: Client, klass: Any, hint: str
) -> None:
    queue: Any = client.queues["images"]
    for call in (partial(queue.put, klass), partial(queue.recur, klass, {}, 60)):
        with pytest.raises(InvalidArgument) as caught:
            call()
        assert hint in str(caught.value)
        assert (caught.value.argument, caught.value.value) == ("klass", klass)
    assert list(client.queues) == []
