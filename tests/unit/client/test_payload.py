# SPDX-License-Identifier: MIT
"""What goes out as data, every client can read; what comes in need not be perfect."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.client import payload
from pyqless.core import lua
from pyqless.errors import CorruptedJob, DataTooLarge, InvalidArgument, PrecisionWarning

LIMIT = 2**20

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**14), 10**14)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES.filter(lambda value: value is not False))
def test_data_comes_back_and_lua_reads_it(data: Any) -> None:
    text = payload.encode(data, LIMIT)

    assert payload.decode(text, "j") == data
    assert lua.decode(text) == data


def circle() -> list[Any]:
    ring: list[Any] = []
    ring.append({"again": ring})
    return ring


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (object, "data is of a type that JSON has not, type"),
        ({"a": [1, {"b": {2}}]}, r"data\['a'\]\[1\]\['b'\] is of a type that JSON has not, set"),
        (({"x": b""},), r"data\[0\]\['x'\] is of a type that JSON has not, bytes"),
        ({"a": math.nan}, r"data\['a'\] is no number that JSON clients can hold: nan"),
        ([math.inf], r"data\[0\] is no number"),
        ([10**400], r"data\[0\] is no number"),
        ([2**60, 10**400], r"data\[1\] is no number"),
        ([10**5000], r"data\[0\] is no number"),
        ({1: 2}, "data has a key that is not text: 1"),
        ({"a": {None: 2}}, r"data\['a'\] has a key that is not text: None"),
        ({"a": ["\ud800"]}, r"data\['a'\]\[0\] holds half of a surrogate pair"),
        ({"\udfff": 1}, "data has a key with half of a surrogate pair"),
        (circle(), r"data\[0\]\['again'\] contains itself"),
        (deep(), "data is nested too deep"),
        (False, "data must not be a plain false"),
    ],
)
def test_what_json_cannot_say_is_refused_and_the_place_is_named(data: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{message}") as raised:
        payload.encode(data, LIMIT)
    assert raised.value.argument == "data"


def test_values_that_stand_in_two_places_are_no_circle() -> None:
    shared = {"a": 1}

    assert payload.encode([shared, shared], LIMIT) == '[{"a":1},{"a":1}]'


def test_the_limit_counts_the_bytes_of_the_json_text() -> None:
    assert payload.encode("é", 4) == '"é"'
    with pytest.raises(
        DataTooLarge, match=r"4 bytes as JSON; the client's max_data_size is 3$"
    ) as raised:
        payload.encode("é", 3)
    assert raised.value.argument == "data"
    assert raised.value.value == 4


@pytest.mark.parametrize("number", [2**53 + 1, 1_396_310_400_123_456, -1_396_310_400_123_457])
def test_an_integer_that_lua_would_round_is_warned_of(number: int) -> None:
    assert lua.decode(lua.encode(lua.decode(str(number)))) != number
    with pytest.warns(PrecisionWarning, match=rf"data\['id'\] is an integer .* {number}"):
        payload.encode({"no": 10**14, "id": number}, LIMIT)
    with pytest.warns(PrecisionWarning, match=rf"data is an integer .* {number}"):
        payload.encode(number, LIMIT)


@pytest.mark.parametrize("data", [10**14, 10**20, 123_456_789_012_340, "12345678901234567", True])
def test_what_lua_does_not_round_is_not_warned_of(data: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert json.loads(payload.encode([data], LIMIT)) == [data]


@pytest.mark.parametrize(
    ("text", "data"), [('"a\tb"', "a\tb"), ('"\udcff"', "\udcff"), ("[Infinity]", [math.inf])]
)
def test_the_blemishes_of_other_writers_pass(text: str, data: Any) -> None:
    assert payload.decode(text, "j") == data
    assert payload.is_unchanged(data, text)


@pytest.mark.parametrize("text", ["", "{", "nope", "[" * 100_000, "1" * 5000])
def test_what_is_no_json_is_said_to_be_corrupted(text: str) -> None:
    with pytest.raises(CorruptedJob, match="job j: the data is no JSON") as raised:
        payload.decode(text, "j")
    assert raised.value.value == text


@pytest.mark.parametrize(
    ("data", "text", "unchanged"),
    [
        ({"a": 1}, '{"a" : 1}', True),
        ([1], "[1.0]", False),
        ([True], "[1]", False),
        ([{1}], "[1]", False),
        (1, "{", False),
    ],
)
def test_data_is_unchanged_while_it_says_the_same(data: Any, text: str, unchanged: bool) -> None:  # noqa: FBT001
    assert payload.is_unchanged(data, text) is unchanged
