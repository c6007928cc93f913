# SPDX-License-Identifier: MIT
"""The arguments of declared functions: annotations that nobody can read, and calls that are one job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypedDict

import msgspec
import pytest

import pyqless
from pyqless import AsyncClient, Client
from pyqless.errors import DataMismatch, InvalidArgument
from tests.unit.client.declared import made, popped, taking

# -- annotations that name what there is not --------------------------------------------------


@pyqless.job(queue="images")
def odd(path: Unknown, count: int = 0) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Take something whose type is a name for type checkers alone."""


@pyqless.job(queue="images")
def before(later: Later) -> Later:
    return later


@dataclass
class Later:
    """What stands further down than what names it."""

    number: int


@dataclass
class Unreadable:
    path: Unknown  # type: ignore[name-defined]  # noqa: F821


class UnreadableStruct(msgspec.Struct):
    path: Unknown  # type: ignore[name-defined]  # noqa: F821


class UnreadableDict(TypedDict):
    path: Unknown  # type: ignore[name-defined]  # noqa: F821


UNKNOWN = (
    "odd: parameter 'path' is annotated with 'Unknown', but name 'Unknown' is not defined; it has to be known "
    "when the program runs, and not only 'if TYPE_CHECKING'"
)


async def test_an_annotation_that_nobody_can_read_is_told_when_it_is_put(
    client: Client, async_client: AsyncClient
) -> None:
    for chosen in (client, async_client):
        with pytest.raises(InvalidArgument) as caught:
            await made(lambda order: order.put("a"), odd.on(chosen))
        assert str(caught.value) == UNKNOWN
        assert caught.value.argument == "path"
    assert list(client.queues) == []
    await async_client.close()


def test_a_worker_tells_of_an_annotation_that_nobody_can_read(client: Client) -> None:
    client.queues["images"].put(odd.klass_name, {"path": "a"})
    with pytest.raises(InvalidArgument) as caught:
        odd.process(popped(client))
    assert str(caught.value) == UNKNOWN


def test_an_annotation_that_nobody_can_read_hides_no_other(client: Client) -> None:
    client.queues["images"].put(odd.klass_name, {"count": "many"})
    with pytest.raises(DataMismatch, match=r"data\['count'\] must be int: 'many'"):
        odd.process(popped(client))


def test_an_annotation_may_name_what_stands_further_down(client: Client) -> None:
    before.on(client).put(Later(1))
    assert before.process(popped(client)) == Later(1)
    some = pyqless.job(queue="images", name="some")(partial(before))
    some.on(client).put(Later(2))
    assert some.process(popped(client)) == Later(2)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("Unknown", "'Unknown', but name 'Unknown' is not defined"),
        ("pyqless.of", "'pyqless.of', but module 'pyqless' has no attribute 'of'"),
        ("int or", "'int or', but Forward reference must be an expression"),
        (list["Unknown"], "list['Unknown'], but name 'Unknown' is not defined"),  # type: ignore[name-defined]  # noqa: F821
    ],
)
def test_whatever_cannot_be_read_is_told_as_it_is_written(
    client: Client, kind: Any, told: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        taking(kind).on(client).put(1)
    assert f"taking.<locals>.take: parameter 'value' is annotated with {told}" in str(caught.value)


@pytest.mark.parametrize("kind", [Unreadable, UnreadableStruct, UnreadableDict])
def test_a_class_whose_fields_nobody_can_read_is_named(client: Client, kind: Any) -> None:
    client.queues["images"].put("k", {"path": "a"})
    job = popped(client)
    calls: list[Any] = [partial(taking(kind).on(client).put, job.data), partial(job.data_as, kind)]
    for make in calls:
        with pytest.raises(InvalidArgument) as caught:
            make()
        told = (
            f"{kind.__name__}: its annotations cannot be read, since name 'Unknown' is not defined"
        )
        assert str(caught.value).startswith(told)


# -- what is one job ---------------------------------------------------------------------------


@pyqless.job(queue="images")
def shrink(
    path: str,
    by: int = 2,
    *names: str,
    kept: timedelta = timedelta(days=1),
    mark: Any = object(),  # noqa: B008 - as those who tell "nothing" from None do
    wrong: int = None,  # type: ignore[assignment]  # noqa: RUF013
    **more: str,
) -> None:
    """Take defaults of all kinds."""


WHOLE = {"path": "a", "by": 2, "kept": 86400}


@pytest.mark.parametrize(
    "call",
    [
        lambda order: order.put("a"),
        lambda order: order.put("a", 2),
        lambda order: order.put(path="a", by=2),
        lambda order: order.put("a", kept=timedelta(hours=24)),
        lambda order: order.recur(60).put("a"),
    ],
    ids=["bare", "all", "by name", "equal", "recurring"],
)
async def test_calls_that_are_equal_are_one_unique_job(
    client: Client, async_client: AsyncClient, call: Any
) -> None:
    first = client.queues["other"].put(shrink.klass_name, WHOLE, unique=True)
    for chosen in (client, async_client):
        assert await made(call, shrink.on(chosen).options(unique=True)) == first
    await async_client.close()
    assert client.queues["images"].length() == 0
    assert client.jobs[first].data == WHOLE


def test_unique_jobs_are_told_by_what_they_are_called_with(client: Client) -> None:
    order = shrink.on(client).options(unique=True)
    jids = [order.put("a"), order.put("a", 3), order.put("a", 2, "x"), order.put("a", x="y")]
    assert len({*jids}) == 4
    assert [client.jobs[jid].data.get("by") for jid in jids] == [2, 3, 2, 2]
    assert list(client.jobs[jids[3]].data) == ["path", "by", "kept", "more"]
    prepared = [order.prepared("a"), order.prepared("a", 2)]
    assert client.queues["images"].put_many(prepared) == [jids[0], jids[0]]


def test_a_job_that_is_not_unique_leaves_defaults_to_the_worker(client: Client) -> None:
    shrink.on(client).options(unique=False).put("a")
    assert popped(client).data == {"path": "a"}


def test_a_set_is_the_same_however_it_was_made(client: Client) -> None:
    order = taking(set[str]).on(client).options(unique=True)
    names = [f"{number}" for number in range(50)]
    assert order.put({*names}) == order.put({*reversed(names)})
    assert popped(client).data == {"value": sorted(names)}
