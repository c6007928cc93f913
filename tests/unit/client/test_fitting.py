# SPDX-License-Identifier: MIT
"""JSON becomes what a program wants, or is refused with the place that does not fit."""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, TypedDict
from uuid import UUID

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless import Client, Queue
from pyqless.client.fitting import fitted
from pyqless.client.simplifying import is_plain, simplified
from pyqless.errors import DataMismatch, InvalidArgument


@dataclass
class Counted:
    name: str
    total: int = field(init=False, default=7)


class Loose(TypedDict):
    must: int
    may: NotRequired[str]


@dataclass
class Positive:
    number: int

    def __post_init__(self) -> None:
        if self.number <= 0:
            raise ValueError("it must be above 0")


UserId = NewType("UserId", int)
AdminId = NewType("AdminId", UserId)


class Point(NamedTuple):
    x: float
    day: date = date(2026, 1, 2)


class Key(Enum):
    A = "a"


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (5, Any, 5),
        ({"a": [1]}, object, {"a": [1]}),
        (None, None, None),
        (5, float, 5.0),
        (5, int | float, 5),
        ("a", Literal["a", "b"], "a"),
        ([1, 2], list, [1, 2]),
        ({"a": 1}, dict, {"a": 1}),
        ({"a": 1}, Mapping[str, float], {"a": 1.0}),
        ([1, 2], Sequence[float], [1.0, 2.0]),
        ([1, 2], set[int], {1, 2}),
        ([1, 2], frozenset[int], frozenset({1, 2})),
        ([1, 2], frozenset, frozenset({1, 2})),
        ([1, 2], AbstractSet[int], {1, 2}),
        ([1, 2], AbstractSet, {1, 2}),
        ([[1, 2], []], set[frozenset[int]], {frozenset({1, 2}), frozenset()}),
        ([1, 2], Iterable[float], [1.0, 2.0]),
        ([1, 2], Sequence, [1, 2]),
        ({"a": 1}, MutableMapping[str, float], {"a": 1.0}),
        ({"a": 1}, dict[Key, int], {Key.A: 1}),
        ({"2026-01-02": 1}, dict[date, int], {date(2026, 1, 2): 1}),
        ([1], Point, Point(1.0)),
        ([1, "2026-01-03"], Point, Point(1.0, date(2026, 1, 3))),
        (5, AdminId, 5),
        ([1, 2], tuple[int, ...], (1, 2)),
        ([1, 2], tuple, (1, 2)),
        (5, Annotated[int, "a note"], 5),
        ({"must": 1}, Loose, {"must": 1}),
        ({"name": "a"}, Counted, Counted("a")),
        (None, Counted | None, None),
    ],
)
def test_what_fits(value: Any, kind: Any, expected: Any) -> None:
    found = fitted(value, kind)
    assert found == expected
    assert type(found) is type(expected)


ALIASES = """
type Number = int | float
type Numbers = list[Number]
type Unread = Unknown
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement is of Python 3.12")
def test_an_alias_stands_for_what_it_says() -> None:
    names: dict[str, Any] = {}
    exec(ALIASES, names)
    assert fitted([1, 2.5], names["Numbers"]) == [1, 2.5]
    with pytest.raises(DataMismatch, match=r"^data\[0\] must be int or float: 'a'"):
        fitted(["a"], names["Numbers"])
    with pytest.raises(InvalidArgument, match=r"^Unread: .* 'Unknown' is not defined"):
        fitted(1, names["Unread"])


def test_a_key_is_told_with_its_object() -> None:
    with pytest.raises(DataMismatch) as caught:
        fitted({"x": {"1": "a"}}, dict[str, dict[int, str]])
    assert str(caught.value) == "a key of data['x'] must be int: '1'; keys are text in JSON"
    assert (caught.value.argument, caught.value.value) == ("data['x']", "1")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, int),
        (1, bool),
        ("1", float),
        (True, float),
        (1, Literal[True]),
        ([], dict[str, int]),
        ({}, list[int]),
        ({"a": "b"}, dict[str, int]),
        ({"name": "a", "total": 1}, Counted),
        ({"number": 0}, Positive),
        ({"must": 1, "may": 2}, Loose),
        (5, str | None),
        (5, type[int]),
        (5, "int"),
        (5, bytes),
        ("x", AdminId),
        ([], Point),
        ([1, "2026-01-03", 2], Point),
        (["1"], Point),
        ({"x": 1}, Point),
        ([[1]], set[Any]),
        ([1], Callable[[int], int]),
        ([1], Iterator[int]),
        ([1], type("Sub", (list,), {})),
    ],
)
def test_what_does_not_fit(value: Any, kind: Any) -> None:
    with pytest.raises(DataMismatch, match=r"^data"):
        fitted(value, kind)


# -- what is written as text ------------------------------------------------------------------


@dataclass
class Visit:
    begins: datetime
    day: date | None
    at: time
    guest: UUID
    price: Decimal
    files: dict[str, Path]
    stay: timedelta
    rooms: set[int]
    tags: frozenset[str | None]
    paid: dict[date, Decimal]
    place: Point


def _fixed(moment: datetime) -> datetime:
    """The same moment with an offset, which is what text keeps of a time zone."""
    offset = moment.utcoffset()
    return moment if offset is None else moment.replace(tzinfo=timezone(offset))


#: a double holds the microseconds of up to 285 years
CENTURY = timedelta(days=36525)

VISITS = st.builds(
    Visit,
    begins=st.datetimes(timezones=st.none() | st.timezones()).map(_fixed),
    day=st.none() | st.dates(),
    at=st.times(),
    guest=st.uuids(),
    price=st.decimals(allow_nan=False),
    files=st.dictionaries(st.text("ab", max_size=2), st.text("a./", max_size=5).map(Path)),
    stay=st.timedeltas(-CENTURY, CENTURY),
    rooms=st.sets(st.integers(-9, 9), max_size=3),
    tags=st.frozensets(st.none() | st.text("ab", max_size=2), max_size=3),
    paid=st.dictionaries(st.dates(), st.decimals(allow_nan=False), max_size=2),
    place=st.builds(Point, st.floats(-9, 9), st.dates()),
)


@given(VISITS, st.lists(VISITS, max_size=2))
def test_what_is_written_as_text_comes_back_as_it_was(visit: Visit, more: list[Visit]) -> None:
    with Client("memory://") as client:
        client.queues["q"].put("k", [visit, *more])
        job = client.queues["q"].pop()
        assert job is not None
        assert job.data_as(list[Visit]) == [visit, *more]


class Dollars(Decimal):
    """Of a type derived of one that is written as text."""


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("2026-01-02T03:04:05Z", datetime, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02", date | datetime, date(2026, 1, 2)),
        ("2026-01-02", datetime | date, date(2026, 1, 2)),
        ("20260102", datetime | date, date(2026, 1, 2)),
        ("20260102T03Z", datetime | date, datetime(2026, 1, 2, 3, tzinfo=UTC)),
        ("2026-01-02T00:00:00Z", date | datetime, datetime(2026, 1, 2, tzinfo=UTC)),
        ("2026-01-02", str | date, "2026-01-02"),
        ("12.50", Dollars, Dollars("12.50")),
        ("a/b", PurePosixPath, PurePosixPath("a/b")),
        (12, Dollars, Dollars(12)),
        (12, Decimal | int, 12),
        (5400, timedelta, timedelta(hours=1, minutes=30)),
        (-0.25, timedelta, timedelta(milliseconds=-250)),
    ],
)
def test_what_stands_for_a_value_becomes_it(value: Any, kind: Any, expected: Any) -> None:
    found = fitted(value, kind)
    assert (type(found), str(found)) == (type(expected), str(expected))


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ("soon", datetime, "data['x'] must be a datetime in ISO 8601: 'soon'"),
        ("2026-01-02", datetime, "data['x'] must be a datetime in ISO 8601: '2026-01-02'"),
        ("2026-01-02T03:04", date, "data['x'] must be a date in ISO 8601: '2026-01-02T03:04'"),
        ("25:00", time, "data['x'] must be a time in ISO 8601: '25:00'"),
        (1767323045, datetime, "data['x'] must be a datetime in ISO 8601: 1767323045"),
        ("17", UUID, "data['x'] must be a UUID: '17'"),
        ("much", Decimal, "data['x'] must be a decimal number as text: 'much'"),
        (1.5, Decimal, "data['x'] must be a decimal number as text: 1.5"),
        (True, Decimal, "data['x'] must be a decimal number as text: True"),
        (None, Path, "data['x'] must be a path as text: None"),
        ("PT1H", timedelta, "data['x'] must be a span in seconds: 'PT1H'"),
        (True, timedelta, "data['x'] must be a span in seconds: True"),
        (1e300, timedelta, "data['x'] must be a span in seconds: 1e+300"),
        (float("nan"), timedelta, "data['x'] must be a span in seconds: nan"),
    ],
)
def test_text_that_does_not_fit_is_told_with_its_place(value: Any, kind: Any, message: str) -> None:
    with pytest.raises(DataMismatch) as caught:
        fitted({"x": value}, dict[str, kind])
    assert str(caught.value) == message
    assert (caught.value.argument, caught.value.value) == ("data['x']", value)


def test_an_encoder_writes_what_it_knows_in_its_own_way() -> None:
    def encoder(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.timestamp()
        raise TypeError

    moment = datetime(1970, 1, 2, tzinfo=UTC)
    assert simplified([moment, Decimal("1.5")], encoder) == [86400.0, "1.5"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({None, 10, "a", Decimal("1.5")}, ["1.5", "a", 10, None]),
        ({frozenset({2, 1}), frozenset({0})}, [[0], [1, 2]]),
        (timedelta(minutes=1), 60),
        (timedelta(microseconds=-1), -1e-06),
        ({Key.A: {date(2026, 1, 2): 1}}, {"a": {"2026-01-02": 1}}),
    ],
)
def test_what_json_has_not_is_written_the_same_way_each_time(value: Any, written: Any) -> None:
    found = simplified(value, None)
    assert json.dumps(found) == json.dumps(written)


def test_what_nobody_knows_in_a_set_is_told_with_its_place(queue: Queue) -> None:
    for members in ({b"a"}, {b"a", 1}):
        with pytest.raises(
            InvalidArgument, match=r"data\['x'\]\[0\] is of a type that JSON has not"
        ):
            queue.put("k", {"x": members})
    with pytest.raises(InvalidArgument, match="has a key that is not text: 5"):
        queue.put("k", {"x": {5: {1}}})


def test_what_contains_itself_is_refused(queue: Queue) -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(InvalidArgument, match="contains itself"):
        queue.put("k", circle)


def test_classes_and_mappings_are_told_apart() -> None:
    class View(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            return 1

        def __iter__(self) -> Any:
            return iter("ab")

        def __len__(self) -> int:
            return 2

    assert simplified(View(), None) == {"a": 1, "b": 1}
    assert simplified(Counted, None) is Counted


class Address(pydantic.BaseModel):
    city: str
    codes: list[int] = []

    @pydantic.field_validator("city")
    @classmethod
    def known(cls, city: str) -> str:
        if city != "Berlin":
            raise ValueError("the city is unknown")
        return city


@pytest.mark.parametrize(
    ("data", "place", "value", "told"),
    [
        ({"city": "Oslo"}, "data['to']['city']", "Oslo", "the city is unknown"),
        (
            {"city": "Berlin", "codes": [1, "x"]},
            "data['to']['codes'][1]",
            "x",
            "Input should be a valid integer, unable to parse string as an integer",
        ),
        ({}, "data['to']['city']", {}, "Field required"),
    ],
    ids=["a validator", "a type", "a lack"],
)
def test_what_a_model_refuses_is_told_in_a_line_with_its_place(
    data: Any, place: str, value: Any, told: str
) -> None:
    with pytest.raises(DataMismatch) as caught:
        fitted({"to": data}, dict[str, Address])
    assert str(caught.value) == f"{place} does not fit: {told}"
    assert (caught.value.argument, caught.value.value) == (place, value)


def test_an_encoder_is_callable() -> None:
    with pytest.raises(InvalidArgument) as caught:
        Client("memory://", encoder="json")  # type: ignore[arg-type]
    assert caught.value.argument == "encoder"


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("older_than", lambda client: client.jobs.purge_failed(-1)),
        ("group", lambda client: client.jobs.purge_failed(1, "")),
        ("dry_run", lambda client: client.jobs.purge_failed(1, dry_run=1)),
        ("jid", lambda client: client.jobs.explain("")),
        ("page", lambda client: client.jobs.all(page=0)),
        ("page", lambda client: client.queues["q"].all(page="x")),
        ("states", lambda client: client.queues["q"].move_all("p", "running")),
        ("to", lambda client: client.queues["q"].move_all("")),
        ("dry_run", lambda client: client.queues["q"].delete(dry_run="yes")),
        ("count", lambda client: client.queues["q"].pop(0, timeout=1)),
        ("offset", lambda client: client.queues["q"].waiting(-1)),
        ("read_only", lambda _: Client("memory://", read_only="yes")),  # type: ignore[arg-type]
    ],
    ids=range(12),
)
def test_a_bad_argument_is_named(client: Client, argument: str, call: Any) -> None:
    before = client.storage.dump()
    with pytest.raises(InvalidArgument) as caught:
        call(client)
    assert caught.value.argument == argument
    assert client.storage.dump() == before


# -- what needs no look of its own ------------------------------------------------------------------


class Colour(StrEnum):
    RED = "red"


def _nested(depth: int) -> Any:
    data: Any = 1
    for _ in range(depth):
        data = [data]
    return data


def _ring() -> Any:
    ring: list[Any] = []
    ring.append(ring)
    return ring


@pytest.mark.parametrize(
    "data",
    [None, 1, "a", [], {}, {"a": [1, 2.5, None, True, {"b": ("c",)}]}, _nested(90)],
)
def test_plain_data_stays_as_it_is(data: Any) -> None:
    assert is_plain(data)
    assert json.dumps(simplified(data, None)) == json.dumps(data)


@pytest.mark.parametrize(
    "data",
    [
        {1: "a"},
        {"a": {None: 1}},
        [{"a": object()}],
        [b"a"],
        {"a": Colour.RED},
        {Colour.RED: 1},
        [OrderedDict(a=1)],
        _nested(101),
        _ring(),
        {1, 2},
        ["a"] + [[]] * 100_001,
    ],
)
def test_other_data_is_looked_at(data: Any) -> None:
    assert not is_plain(data)
