# SPDX-License-Identifier: MIT
"""Putting: taken jids, unique jobs, limits, defaults of classes, data of any type."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any, ClassVar, Literal, TypedDict

import msgspec
import pydantic
import pytest

from pyqless.errors import DataMismatch, InvalidArgument, JobExists, QueueFull
from tests.integration.conftest import got


class Send:
    """A class with options of its own."""

    @staticmethod
    def default_job_options(data: Any) -> dict[str, Any]:
        return {"tags": [data["to"]], "priority": 7, "retries": 2}


class Odd:
    default_job_options: ClassVar[Any] = staticmethod(lambda _: {"colour": "blue"})


async def test_a_taken_jid_is_dealt_with_as_wanted(client: Any) -> None:
    queue = client.queues["q"]
    await got(queue.put("k", 1, jid="j", on_conflict="error"))

    assert await got(queue.put("k", 2, jid="j", on_conflict="keep")) == "j"
    assert await got(queue.put("k", 2, jid="j", on_conflict="replace_if_done")) == "j"
    with pytest.raises(JobExists) as caught:
        await got(queue.put("k", 2, jid="j", on_conflict="error"))
    assert caught.value.value == "j"
    assert (await got(client.jobs.get("j"))).data == 1

    await got(queue.put("k", 3, jid="j"))
    assert (await got(client.jobs.get("j"))).data == 3


async def test_a_recurring_job_takes_its_jid_too(client: Any) -> None:
    queue = client.queues["q"]
    await got(queue.recur("k", None, 60, jid="r"))
    with pytest.raises(JobExists, match="recurring job"):
        await got(queue.put("k", jid="r", on_conflict="error"))


async def test_a_recurring_job_meets_one_of_its_jid(client: Any) -> None:
    queue = client.queues["q"]

    async def interval() -> Any:
        return (await got(client.recurring.get("r"))).interval

    assert await got(queue.recur("k", None, 60, jid="r", on_conflict="error")) == "r"
    assert await got(queue.recur("k", None, 90, jid="r", on_conflict="keep")) == "r"
    assert await interval() == 60
    with pytest.raises(JobExists) as caught:
        await got(queue.recur("k", None, 90, jid="r", on_conflict="error"))
    assert caught.value.value == "r"
    await got(queue.recur("k", None, 90, jid="r"))
    assert await interval() == 90


async def test_a_unique_recurring_job_is_there_once(client: Any) -> None:
    queue = client.queues["q"]
    jid = await got(queue.recur("k", {"a": 1}, 60, unique=True))
    assert jid == hashlib.sha256(b'k\n{"a":1}').hexdigest()[:32]
    assert await got(queue.recur("k", {"a": 1}, 90, unique=True)) == jid
    assert (await got(client.recurring.get(jid))).interval == 60
    assert await got(queue.recurring()) == [jid]
    await got(queue.recur("k", {"a": 1}, 90, unique=True, on_conflict="replace"))
    assert (await got(client.recurring.get(jid))).interval == 90


async def test_a_unique_job_is_there_once_until_it_is_done(client: Any) -> None:
    queue = client.queues["q"]
    jid = await got(queue.put("k", {"b": 1, "a": "ä"}, unique=True))

    assert jid == hashlib.sha256('k\n{"a":"ä","b":1}'.encode()).hexdigest()[:32]
    assert await got(queue.put("k", {"a": "ä", "b": 1}, unique=True, priority=5)) == jid
    assert (await got(client.jobs.get(jid))).priority == 0
    job = await got(queue.pop())
    await got(job.complete())
    await got(queue.put("k", {"a": "ä", "b": 1}, unique=True, priority=5))
    assert (await got(client.jobs.get(jid))).priority == 5


async def test_a_full_queue_takes_no_more(client: Any) -> None:
    queue = client.queues["q"]
    for _ in range(2):
        await got(queue.put("k", max_waiting=2))
    with pytest.raises(QueueFull) as caught:
        await got(queue.put("k", max_waiting=2))
    assert (caught.value.argument, caught.value.value) == ("queue", 2)
    await got(queue.put("k"))
    assert (await got(queue.counts())).waiting == 3


async def test_a_limit_on_waiting_jobs_is_shared(client: Any, opened: Any) -> None:
    queue = client.queues["q"]
    await got(client.config.set("q-max-waiting", 1))
    await got(opened(worker_name="other").queues["q"].put("k", jid="only"))
    with pytest.raises(QueueFull):
        await got(queue.put("k", max_waiting=5))
    with pytest.raises(QueueFull):
        await got(queue.put("k", jid="only", on_conflict="keep"))
    await got(client.queues["elsewhere"].put("k"))
    with pytest.raises(InvalidArgument, match="q-max-waiting"):
        await got(client.config.set("q-max-waiting", -1))
    await got(client.config.unset("q-max-waiting"))
    await got(queue.put("k"))
    assert (await got(queue.counts())).waiting == 2


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("on_conflict", {"on_conflict": "explode"}),
        ("unique", {"unique": 1}),
        ("jid", {"unique": True, "jid": "j"}),
        ("max_waiting", {"max_waiting": -1}),
        ("delay", {"delay": "soon"}),
    ],
)
async def test_what_makes_no_sense_is_refused(
    client: Any, argument: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        await got(client.queues["q"].put("k", **options))
    assert caught.value.argument == argument
    assert (await got(client.queues["q"].counts())).waiting == 0


async def test_a_class_gives_defaults_that_a_call_overrides(client: Any) -> None:
    queue = client.queues["q"]
    usual = await got(client.jobs.get(await got(queue.put(Send, {"to": "ann"}))))
    assert (usual.tags, usual.priority, usual.retries) == (["ann"], 7, 2)
    own = await got(client.jobs.get(await got(queue.put(Send, {"to": "ann"}, priority=0))))
    assert (own.tags, own.priority, own.retries) == (["ann"], 0, 2)
    jid = await got(queue.recur(Send, {"to": "bob"}, 60, retries=9))
    recurring = await got(client.recurring.get(jid))
    assert (recurring.tags, recurring.priority, recurring.retries) == (["bob"], 7, 9)


async def test_defaults_that_are_no_options_are_refused(client: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        await got(client.queues["q"].put(Odd))
    assert caught.value.argument == "default_job_options"


async def test_the_next_run_of_a_recurring_job_is_known(client: Any) -> None:
    client.storage.clock = lambda: 1000.0
    jid = await got(client.queues["q"].recur("k", None, 60, offset=5))
    job = await got(client.recurring.get(jid))
    assert await got(job.next_run()) == 1005.0
    await got(job.cancel())
    assert await got(job.next_run()) is None


# -- data -------------------------------------------------------------------------------------


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: float = 0.0


@dataclass
class Shape:
    name: str
    points: list[Point]
    colour: Colour = Colour.RED
    sizes: dict[str, int] = field(default_factory=dict)
    kind: Literal["open", "closed"] = "open"
    parent: str | None = None


class Plain(TypedDict):
    to: str
    cc: list[str]


class Model(pydantic.BaseModel):
    when: datetime
    point: tuple[int, int]


class Struct(msgspec.Struct):
    name: str
    size: int = 3


@pytest.mark.parametrize(
    ("data", "wanted", "text"),
    [
        (
            Shape("s", [Point(1, 2.5)], sizes={"a": 1}),
            Shape,
            (
                '{"name":"s","points":[{"x":1,"y":2.5}],"colour":"red","sizes":{"a":1},'
                '"kind":"open","parent":null}'
            ),
        ),
        ({"to": "ann", "cc": []}, Plain, '{"to":"ann","cc":[]}'),
        (
            Model(when=datetime(2026, 1, 2, tzinfo=UTC), point=(1, 2)),
            Model,
            '{"when":"2026-01-02T00:00:00Z","point":[1,2]}',
        ),
        (Struct("s"), Struct, '{"name":"s","size":3}'),
        ([Point(1)], list[Point], '[{"x":1,"y":0.0}]'),
        ((1, "a"), tuple[int, str], '[1,"a"]'),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_data_of_any_type_comes_back_as_it_was(
    client: Any, data: Any, wanted: Any, text: str
) -> None:
    await got(client.queues["q"].put("k", data))
    job = await got(client.queues["q"].pop())
    assert job.raw_data == text
    assert job.data_as(wanted) == data


@pytest.mark.parametrize(
    ("data", "wanted", "message"),
    [
        ({"name": 5, "points": []}, Shape, r"data\['name'\] must be str: 5"),
        ({"name": "s", "points": [{"x": "1"}]}, Shape, r"data\['points'\]\[0\]\['x'\] must be int"),
        ({"points": []}, Shape, "data lacks 'name'"),
        ({"name": "s", "points": [], "z": 1}, Shape, "has no place for 'z'"),
        ({"name": "s", "points": [], "kind": "ajar"}, Shape, "must be one of 'open', 'closed'"),
        ({"name": "s", "points": [], "colour": "blue"}, Shape, r"data\['colour'\] does not fit"),
        ({"name": "s", "points": [], "parent": 3}, Shape, "must be str or null"),
        ([], Plain, "data must be an object"),
        ({"to": "ann", "cc": "bob"}, Plain, r"data\['cc'\] must be a list"),
        ({"when": "soon", "point": [1, 2]}, Model, r"data\['when'\] does not fit"),
        ({"size": 1}, Struct, "data does not fit"),
        ([1], tuple[int, str], "must be a list of 2"),
        (5, datetime, "data must be a datetime in ISO 8601: 5"),
        (5, bytes, "is no type of data"),
    ],
)
async def test_data_that_does_not_fit_is_told_with_its_place(
    client: Any, data: Any, wanted: Any, message: str
) -> None:
    await got(client.queues["q"].put("k", data))
    job = await got(client.queues["q"].pop())
    with pytest.raises(DataMismatch, match=message):
        job.data_as(wanted)


async def test_an_encoder_says_what_json_cannot(opened: Any) -> None:
    def encoder(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.isoformat()
        raise TypeError

    client = opened(encoder=encoder)
    await got(client.queues["q"].put("k", {"at": [datetime(2026, 1, 2, tzinfo=UTC)]}))
    assert (await got(client.queues["q"].pop())).data == {"at": ["2026-01-02T00:00:00+00:00"]}
    with pytest.raises(InvalidArgument, match=r"data\['at'\] is of a type that JSON has not"):
        await got(client.queues["q"].put("k", {"at": object()}))
