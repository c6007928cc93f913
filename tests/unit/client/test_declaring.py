# SPDX-License-Identifier: MIT
"""Functions that are jobs: called as they are, put by name, run with their arguments fitted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyqless
from pyqless import AsyncClient, Client, Job, NewJob, OnCommit
from pyqless.errors import DataMismatch, InvalidArgument
from tests.unit.client.declared import made, popped, taking
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
    with pytest.raises(InvalidArgument, match="'delay' is no option of recur, which are backlog"):
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


async def test_the_client_may_be_named_last(client: Client, async_client: AsyncClient) -> None:
    assert tidy.options(jid="a").on(client).put() == "a"
    assert tidy.delay(60).on(client).options(jid="b").put() == "b"
    assert client.jobs["b"].state == "scheduled"
    async with async_client:
        assert await tidy.options(jid="c", priority=7).on(async_client).put() == "c"
    assert client.jobs["c"].priority == 7
    with pytest.raises(InvalidArgument, match="client is missing"):
        tidy.options(jid="d").put()
    with pytest.raises(InvalidArgument, match="client must be a client"):
        tidy.options(jid="d").on("memory://")  # type: ignore[call-overload]


# -- arguments that a worker would refuse -----------------------------------------------------


@pyqless.job(queue="images")
def book(day: date, sizes: list[Size], note: Any = None) -> date:
    return day


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda order: order.put("soon", []),
            "data['day'] must be a date in ISO 8601: 'soon'",
        ),
        (lambda order: order.put(date(2026, 1, 2), 5), "data['sizes'] must be a list: 5"),
        (
            lambda order: order.put(date(2026, 1, 2), [Size(1, 2), {"width": "1", "height": 2}]),
            "data['sizes'][1]['width'] must be int: '1'",
        ),
        (
            lambda order: order.recur(60).put(date(2026, 1, 2), "spec"),
            "data['sizes'] must be a list: 'spec'",
        ),
        (
            lambda order: order.prepared(date(2026, 1, 2), "spec"),
            "data['sizes'] must be a list: 'spec'",
        ),
    ],
    ids=["a date", "a list", "a part", "recurring", "prepared"],
)
async def test_what_a_worker_would_refuse_is_not_put(
    client: Client, async_client: AsyncClient, call: Any, message: str
) -> None:
    for chosen in (client, async_client):
        with pytest.raises(DataMismatch) as caught:
            await made(call, book.on(chosen))
        assert str(caught.value) == message
    assert list(client.queues) == []
    await async_client.close()


def test_what_a_worker_would_take_is_put(client: Client) -> None:
    order = book.on(client)
    order.put(date(2026, 1, 2), [Size(1, 2)], {"any": ["thing"]})
    assert book.process(popped(client)) == date(2026, 1, 2)
    order.put("2026-01-02", ({"width": 1, "height": 2},))  # type: ignore[arg-type]
    assert book.process(popped(client)) == date(2026, 1, 2)
    with pytest.raises(InvalidArgument, match=r"data\['note'\] is of a type that JSON has not"):
        order.put(date(2026, 1, 2), [], object())


def test_what_nobody_can_write_is_told_by_whoever_writes_it(client: Client) -> None:
    take = taking(Any).on(client)
    circle: list[Any] = []
    circle.append(circle)
    for value, fault in [(circle, "contains itself"), ([_Text(), 10**5000], "is no number that")]:
        with pytest.raises(InvalidArgument, match=rf"data\['value'\].* {fault}"):
            take.put(value)


def test_data_with_a_name_that_is_no_parameter_does_not_fit(client: Client) -> None:
    client.queues["images"].put(tidy.klass_name, {"colour": "red"})
    with pytest.raises(DataMismatch, match=r"data does not fit tidy\(\).*'colour'"):
        tidy.process(popped(client))


class _Text(str):
    """Text of a type of one's own, which JSON says as any other."""

    __slots__ = ()


def test_text_of_a_type_of_ones_own_is_text(client: Client) -> None:
    resize.on(client).put(_Text("a"), Size(1, 2))
    assert popped(client).data["path"] == "a"


KINDS: list[Any] = [int, float, str | None, list[Size], dict[str, date], set[int], Decimal, Any]

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.text("1a", max_size=2)
    | st.dates()
    | st.decimals(allow_nan=False)
    | st.builds(Size, st.integers(0, 9), st.sampled_from([1, "1"])),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.tuples(inner)
        | st.dictionaries(st.sampled_from(["width", "height", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.sampled_from(KINDS), VALUES)
def test_what_is_put_is_what_a_worker_takes(kind: Any, value: Any) -> None:
    with Client("memory://") as client:
        function = taking(kind)
        by_name = client.queues["images"]
        try:
            by_name.put("take", {"value": value})
        except InvalidArgument:
            with pytest.raises(InvalidArgument):
                function.on(client).put(value)
            return
        try:
            expected = function.process(popped(client))
        except DataMismatch:
            with pytest.raises(DataMismatch):
                function.on(client).put(value)
        else:
            function.on(client).put(value)
            assert function.process(popped(client)) == expected


def test_what_the_encoder_writes_is_what_is_looked_at(url: str) -> None:
    def encoder(value: Any) -> Any:
        return sorted(value) if isinstance(value, set) else value.toordinal()

    @pyqless.job(queue="images", name="tagged")
    def tagged(tags: set[str], day: Any) -> set[str]:
        return tags

    @pyqless.job(queue="images", name="dated")
    def dated(day: date) -> None: ...

    with Client(url, encoder=encoder) as client:
        tagged.on(client).put({"b", "a"}, date(1, 1, 2))
        job = popped(client)
        assert job.data == {"tags": ["a", "b"], "day": 2}
        assert tagged.process(job) == {"a", "b"}
        for put in (
            dated.on(client).put,
            dated.on(client).recur(60).put,
            lambda day: OnCommit(client, print).call(dated, day),
        ):
            with pytest.raises(DataMismatch, match=r"data\['day'\] must be a date"):
                put(date(1, 1, 2))


# -- what is no job ----------------------------------------------------------------------------


class Album:
    def show(self, number: int) -> int:
        return number

    @classmethod
    def open(cls, number: int) -> int:
        return number

    @staticmethod
    def close(number: int) -> int:
        return number


def counting(number: int) -> Any:
    yield number


async def counting_slowly(number: int) -> Any:
    yield number


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (Album, "is a class: declare a function, or put the class as it is, by queue.put("),
        (Album.show, "is a method, and a job has no object: "),
        (vars(Album)["open"], "is a method, and a job has no object: "),
        (counting, "is a generator"),
        (counting_slowly, "is a generator"),
        (5, "must be callable, not int"),
    ],
    ids=["class", "method", "classmethod", "generator", "async generator", "number"],
)
def test_what_is_no_job_is_told_when_it_is_declared(function: Any, fault: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        pyqless.job(queue="images", name="n")(function)
    assert str(caught.value).startswith(f"function {fault}")
    assert (caught.value.argument, caught.value.value) == ("function", function)


def test_a_function_in_a_class_may_be_a_job_under_a_name(client: Client) -> None:
    class Albums:
        @pyqless.job(queue="images", name="close")
        @staticmethod
        async def close(number: int) -> int:
            return number

        @staticmethod
        @pyqless.job(queue="images", name="shut")
        def shut(number: int) -> int:
            return number

    @pyqless.job(queue="images", name="odd")
    def odd(self: int) -> int:
        return self

    Albums.close.on(client).put(5)
    assert popped(client).data == {"number": 5}
    assert Albums.close.is_async
    Albums.shut.on(client).put(6)
    assert Albums.shut.process(popped(client)) == 6
    assert odd(7) == 7
    with pytest.raises(InvalidArgument, match=r"stands in no module by itself.*give it a name"):
        pyqless.job(queue="images")(Album.close)


# -- mistakes of beginners --------------------------------------------------------------------


PRIO: Any = {"prio": 5}


@pytest.mark.parametrize(
    "choose",
    [
        lambda client: resize.options(**PRIO),
        lambda client: resize.on(client).options(**PRIO),
        lambda client: resize.delay(5).options(**PRIO),
        lambda client: NewJob("k", **PRIO),
        lambda client: OnCommit(client, print).put("q", "k", **PRIO),
    ],
    ids=["function", "client", "order", "new job", "on commit"],
)
def test_an_option_that_there_is_not_is_named_at_once(client: Client, choose: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        choose(client)
    assert str(caught.value) == (
        "'prio' is no option of put, which are delay, depends, jid, max_waiting, on_conflict, "
        "priority, retries, tags, unique"
    )
    assert (caught.value.argument, caught.value.value) == ("options", "prio")
    assert list(client.queues) == []


async def test_a_wrong_call_is_told_by_the_documented_name(
    client: Client, async_client: AsyncClient
) -> None:
    job: Any = Job.build("k")
    calls: list[tuple[Any, str]] = [
        (client.queues["q"].put, "Queue.put"),
        (client.queues["q"].recur, "Queue.recur"),
        (client.queues["q"].put_many, "Queue.put_many"),
        (client.queues["q"].purge, "Queue.purge"),
        (client.jobs.complete_many, "Jobs.complete_many"),
        (job.complete, "Job.complete"),
        (job.track, "Job.track"),
        (async_client.queues["q"].put, "AsyncQueue.put"),
        (async_client.jobs.fail_many, "AsyncJobs.fail_many"),
    ]
    for call, name in calls:
        with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected .* 'prio'"):
            await call(prio=5)
    await async_client.close()


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
