# SPDX-License-Identifier: MIT
"""
JSON as cjson's: what is read, refused and written is what scripts on a real Redis 7.0.15 did.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core import lua
from pyqless.core.lua import grammar

#: cjson.encode(cjson.decode(ARGV[1]))
READ_AND_WRITTEN = [
    ("{}", "{}"),
    ("[]", "{}"),
    ("[[]]", "[{}]"),
    ('{"a":[]}', '{"a":{}}'),
    ("[{},[]]", "[{},{}]"),
    ("null", "null"),
    ("true", "true"),
    ("false", "false"),
    ('"text"', '"text"'),
    ('""', '""'),
    (" \t\n\r 1 \r\n\t ", "1"),
    ("[ 1 , 2 ]", "[1,2]"),
    ('{ "a" : 1 }', '{"a":1}'),
    ("[1,null]", "[1,null]"),
    ("[null,null]", "[null,null]"),
    ("1", "1"),
    ("-1", "-1"),
    ("0", "0"),
    ("-0", "-0"),
    ("1.0", "1"),
    ("1e2", "100"),
    ("1E+2", "100"),
    ("0.1", "0.1"),
    ("1400000060.9876542", "1400000060.9877"),
    ("12345678901234567", "1.2345678901235e+16"),
    ("12345678901234567890", "1.2345678901235e+19"),
    ("123456789012345", "1.2345678901234e+14"),
    ("1e15", "1e+15"),
    ("1e-400", "0"),
    ("-0.0", "-0"),
    ("1e308", "1e+308"),
    ("01", "1"),
    ("-01", "-1"),
    ("00", "0"),
    ("007.5", "7.5"),
    ("+1", "1"),
    ("+.5", "0.5"),
    ("+0x10", "16"),
    ("1.", "1"),
    ("1.e5", "100000"),
    ("-.5", "-0.5"),
    ("[-.5e1]", "[-5]"),
    ("0x10", "16"),
    ("-0X1f", "-31"),
    ("0x.8", "0.5"),
    ("0x1p4", "16"),
    ("[0x10,01]", "[16,1]"),
    ('["\t",01]', r'["\t",1]'),
    ('{"a":1,"a":2}', '{"a":2}'),
    ('{"a":1,"a":null}', '{"a":null}'),
    ('{"":0}', '{"":0}'),
    ('{"1":1}', '{"1":1}'),
    ('{"a":{"b":{"c":[1,[2,[3]]]}}}', '{"a":{"b":{"c":[1,[2,[3]]]}}}'),
    ('"a\tb\nc\x01\x1f"', r'"a\tb\nc\u0001\u001f"'),
    ('"\x7f"', r'"\u007f"'),
    ('{"a\nb":1}', r'{"a\nb":1}'),
    (r'"\"\\\/\b\f\n\r\t"', r'"\"\\\/\b\f\n\r\t"'),
    ('"/"', r'"\/"'),
    (r'"\u0041\u00e9\u20AC"', '"A\xe9\u20ac"'),
    (r'"\u0000"', r'"\u0000"'),
    (r'"\u007f\u0080"', '"\\u007f\x80"'),
    (r'"\ud7ff\ue000\uffff"', '"\ud7ff\ue000\uffff"'),
    (r'"\ud83d\ude00"', '"\U0001f600"'),
    (r'"\uD83D\uDE00"', '"\U0001f600"'),
    (r'"\udbff\udfff"', '"\U0010ffff"'),
    (r'"\\ud800"', r'"\\ud800"'),
    (r'{"\ud83d\ude00":"\ud83d\ude00"}', '{"\U0001f600":"\U0001f600"}'),
    ('"\xe9\u20ac\U0001f600"', '"\xe9\u20ac\U0001f600"'),
    ('"\u2028\u2029\ufeff"', '"\u2028\u2029\ufeff"'),
    ('"it\'s"', '"it\'s"'),
    ('"\udcff\udc80"', '"\udcff\udc80"'),
    ('{"\udcff":"\udcc3\\u0041"}', '{"\udcff":"\udcc3A"}'),
    ("{}\x00junk", "{}"),
    ("1 \x00", "1"),
    ("[1]\x00]", "[1]"),
    ("12\x00", "12"),
]

#: n = cjson.decode(ARGV[1]): string.format("%.17g", n), nan where n ~= n; cjson.encode refuses all
READ_AND_NOT_WRITTEN = [
    ("nan", "nan"),
    ("NaN", "nan"),
    ("NAN", "nan"),
    ("-nan", "nan"),
    ("+nan", "nan"),
    ("nan()", "nan"),
    ("nan(1_a)", "nan"),
    ("inf", "inf"),
    ("-inf", "-inf"),
    ("+INF", "inf"),
    ("Inf", "inf"),
    ("Infinity", "inf"),
    ("-Infinity", "-inf"),
    ("INFINITY", "inf"),
    ("iNfInItY", "inf"),
    ("1e400", "inf"),
    ("-1e400", "-inf"),
    ("0x1p1024", "inf"),
]

#: cjson.decode(ARGV[1]) raises an error
REFUSED = [
    "",
    " ",
    "\x00",
    "1\x00",
    "\x001",
    '"\x00"',
    '["a\x00b"]',
    "{\x00}",
    r'"\ud800"',
    r'"\ude00"',
    r'"\ude00\ud83d"',
    r'"\ud83d"',
    r'"\ud83dx"',
    r'"\ud83d\n"',
    r'"\ud83d\u0041"',
    r'"\ud83d\ud83d"',
    r'"\ud83d\udbff"',
    r'"\ud83d\ue000"',
    r'"\udc00\udc00"',
    r'"\ud83d \ude00"',
    r'"\\\ud800"',
    r'{"\ud800":1}',
    r'"\ud83d\u"',
    r'"\u12"',
    r'"\u12g4"',
    r'"\u 123"',
    r'"\u+123"',
    r'"\u1_23"',
    r'"\U0041"',
    r'"\x41"',
    r'"\a"',
    r'"\0"',
    '"\\\'"',
    '"\\',
    '"',
    '"a',
    'a"',
    ".5",
    "[.5]",
    "-",
    "+",
    "--1",
    "-+1",
    "- 1",
    "1e",
    "1e+",
    "0x",
    "0xg",
    "0x1p",
    "1_0",
    "1,5",
    "1.5.5",
    "[1 2]",
    "1 2",
    "1-1",
    "\u0663",
    "in",
    "infi",
    "infinit",
    "nan(",
    "nan(-)",
    "na",
    "\u0131nf",
    "-\u0131nf",
    "[1,]",
    "[,1]",
    "[,]",
    "[1,,2]",
    "[",
    "[1",
    "[1,",
    "]",
    "[1]]",
    "[}",
    "{]",
    '{"a":1,}',
    "{,}",
    '{"a"}',
    '{"a":}',
    "{:1}",
    "{a:1}",
    "{1:1}",
    "{null:1}",
    '{"a" 1}',
    '{"a":1 "b":2}',
    '{"a":1:2}',
    '{"a",1}',
    '{"a":1',
    "{",
    "}",
    "{[1]:1}",
    '["a":1]',
    "[1:2]",
    ":",
    ",",
    "'a'",
    "True",
    "NULL",
    "Null",
    "nul",
    "nulll",
    "truefalse",
    "null null",
    "undefined",
    "1 x",
    "{} {}",
    "{};",
    "[1]x",
    "// c\n1",
    "1 /* c */",
    "/**/1",
    "\ufeff1",
    "\ufeff{}",
    "\xa01",
    "1\xa0",
    "\x0b1",
    "1\x0c",
    "\x1f1",
    "\x7f",
    "\udcff",
    "[\udcff]",
]

#: cjson.encode(tonumber(ARGV[1]))
NUMBERS = [
    (0.0, "0"),
    (-0.0, "-0"),
    (1.0, "1"),
    (-1.5, "-1.5"),
    (0.1, "0.1"),
    (0.3333333333333333, "0.33333333333333"),
    (100000000000000.0, "1e+14"),
    (1000000000000000.0, "1e+15"),
    (123456789012345.0, "1.2345678901234e+14"),
    (1400000060.9876542, "1400000060.9877"),
    (5e-324, "4.9406564584125e-324"),
    (1.7976931348623157e308, "1.7976931348623e+308"),
    (9007199254740994.0, "9.007199254741e+15"),
]

#: cjson.encode(string.char(n)) wherever it is more than the byte between quotes, n from 0 to 255
ESCAPES = {
    "\b": r"\b",
    "\t": r"\t",
    "\n": r"\n",
    "\f": r"\f",
    "\r": r"\r",
    '"': r"\"",
    "/": r"\/",
    "\\": r"\\",
    "\x7f": r"\u007f",
} | {chr(n): rf"\u{n:04x}" for n in range(32) if chr(n) not in "\b\t\n\f\r"}

#: cjson.encode(cjson.decode(text)) is text again at 1,000 levels; at 1,001 both raise an error
DEEP = [("[" * n + "1" + "]" * n, '{"a":' * n + "1" + "}" * n) for n in (1000, 1001)]

json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
written_in_full = st.integers(-(10**13), 10**13).map(float)
written_values = st.recursive(
    st.none() | st.booleans() | written_in_full | st.text(),
    lambda inner: st.lists(inner, min_size=1) | st.dictionaries(st.text(), inner),
)


def outcome(reader: Callable[[str], Any], text: str) -> str:
    try:
        return repr(reader(text))
    except lua.JSONError:
        return "refused"


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(("text", "written"), READ_AND_WRITTEN)
def test_what_cjson_reads_is_read_and_written_again(text: str, written: str) -> None:
    assert lua.encode(lua.decode(text)) == written


@pytest.mark.parametrize(("text", "number"), READ_AND_NOT_WRITTEN)
def test_what_is_no_finite_number_is_read_and_not_written(text: str, number: str) -> None:
    value = lua.decode(text)

    assert f"{value:.17g}" == number
    with pytest.raises(lua.JSONError, match="does not write this number"):
        lua.encode([value])


@pytest.mark.parametrize("text", [*REFUSED, None])
def test_what_cjson_refuses_is_refused(text: str | None) -> None:
    with pytest.raises(lua.JSONError):
        lua.decode(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]", []),
        ("{}", {}),
        ("[1,0x2]", [1.0, 2.0]),
        ('{"a":[null,true,false,"b",{"c":01}]}', {"a": [None, True, False, "b", {"c": 1.0}]}),
        ('[0x1,{"a":{},"b":[]},[[]]]', [1.0, {"a": {}, "b": []}, [[]]]),
    ],
)
def test_values_have_python_types(text: str, value: Any) -> None:
    assert repr(lua.decode(text)) == repr(value)


def test_a_number_may_have_more_digits_than_an_int_of_python() -> None:
    digits = sys.get_int_max_str_digits() + 1

    assert lua.decode("1" * digits) == math.inf
    assert lua.decode("0." + "1" * digits) == 1 / 9


@pytest.mark.parametrize("text", DEEP[0])
def test_a_thousand_levels_are_read_and_written(text: str) -> None:
    assert lua.encode(lua.decode(text)) == text


@pytest.mark.parametrize("text", DEEP[1])
def test_more_levels_are_not_read(text: str) -> None:
    with pytest.raises(lua.JSONError, match="nested more than 1,000 deep"):
        lua.decode(text)


@pytest.mark.parametrize("limit", [300, 10_000])
def test_the_stack_of_python_plays_no_part(limit: int) -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        written = [lua.encode(lua.decode(text)) for text in DEEP[0]]
        refused = [outcome(lua.decode, text) for text in DEEP[1]]
    finally:
        sys.setrecursionlimit(before)

    assert written == [*DEEP[0]]
    assert refused == ["refused", "refused"]


def test_more_levels_are_not_written() -> None:
    assert lua.encode(nested(1000)) == "[" * 999 + "{}" + "]" * 999
    with pytest.raises(lua.JSONError, match="nested more than 1,000 deep"):
        lua.encode(nested(1001))


def test_many_brackets_need_not_be_many_levels() -> None:
    assert lua.decode("[" + "[]," * 2000 + "{}]") == [[]] * 2000 + [{}]
    assert lua.decode('"' + "[{" * 2000 + '"') == "[{" * 2000


@pytest.mark.parametrize(("number", "written"), NUMBERS)
def test_numbers_are_written_with_fourteen_digits(number: float, written: str) -> None:
    assert lua.encode(number) == written


def test_integers_are_written_as_doubles() -> None:
    assert lua.encode([5, -3, 123456789012345]) == "[5,-3,1.2345678901234e+14]"


@pytest.mark.parametrize("value", [math.inf, math.nan, 10**400, b"bytes", (1,), set(), {"a": {1}}])
def test_what_lua_does_not_have_is_not_written(value: Any) -> None:
    with pytest.raises(lua.JSONError):
        lua.encode(value)


@pytest.mark.parametrize("empty", [[], {}])
def test_what_is_empty_is_written_as_an_object(empty: Any) -> None:
    assert lua.encode(empty) == "{}"
    assert lua.encode([empty, {"a": empty}]) == '[{},{"a":{}}]'


def test_every_character_is_quoted_as_cjson_quotes_it() -> None:
    characters = [chr(n) for n in (*range(0x300), 0x2028, 0xDC80, 0xDCFF, 0xFEFF, 0x1F600)]

    assert [lua.quote(c) for c in characters] == [f'"{ESCAPES.get(c, c)}"' for c in characters]


def test_a_history_entry_is_written() -> None:
    assert lua.encode([1400000000.0, "put", {"q": "alpha"}]) == '[1400000000,"put",{"q":"alpha"}]'


@given(value=json_values, ascii_only=st.booleans())
def test_both_readers_read_json_as_python_does(value: Any, *, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)

    assert lua.decode(text) == value
    assert grammar.read(text) == value


@given(st.lists(st.sampled_from([*'{}[]:,-.1e "\\\t\udcff', "null", '"a"', r"\ud83d", r"\ude00"])))
def test_both_readers_agree_on_any_text(tokens: list[str]) -> None:
    text = "".join(tokens).strip(grammar.WHITE_SPACE)

    assert outcome(lua.decode, text) == outcome(grammar.read, text)


@given(written_values)
def test_what_is_written_is_read_again(value: Any) -> None:
    assert lua.decode(lua.encode(value)) == value
