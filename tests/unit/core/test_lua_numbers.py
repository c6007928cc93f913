# SPDX-License-Identifier: MIT
"""
Numbers as Lua's: every expected value is what a script on a real Redis 7.0.15 (x86-64) replied.

Doubles are compared as their 17 digits, which tell any two of them apart, signed zeros too.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core import lua


def digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.17g}"


def rows(table: str) -> list[tuple[str, ...]]:
    return [tuple(line.split()) for line in table.strip().splitlines()]


def words(text: str) -> list[str]:
    return text.split()


#: string.format("%.17g", tonumber(ARGV[1]))
READ = rows("""
    0                               0
    5                               5
    -5                              -5
    +5                              5
    00012                           12
    5.                              5
    .5                              0.5
    -.5                             -0.5
    1e5                             100000
    1E+5                            100000
    1e-5                            1.0000000000000001e-05
    .5e1                            5
    5.e1                            50
    1400000000.25                   1400000000.25
    0.1                             0.10000000000000001
    9007199254740993                9007199254740992
    123456789012345678901234567890  1.2345678901234568e+29
    1e400                           inf
    -1e400                          -inf
    1e-400                          0
    1e99999999999999999999          inf
    -0                              -0
    -1e-400                         -0
    0x10                            16
    0X1F                            31
    -0x10                           -16
    +0x10                           16
    0x.8                            0.5
    0x1.                            1
    0x1p4                           16
    0x1P-1                          0.5
    0xA.8p+1                        21
    0x1p1024                        inf
    -0x1p1024                       -inf
    0x1p-1080                       0
    0xffffffffffffffffff            4.7223664828696452e+21
    0x1p99999999999999999999        inf
    inf                             inf
    -inf                            -inf
    +INF                            inf
    Infinity                        inf
    -iNfInItY                       -inf
""")
READ_WITH_WHITE_SPACE_OR_NUL = [
    (" 5", "5"),
    ("5 ", "5"),
    ("\t\n\x0b\x0c\r 5 \r\x0c\x0b\n\t", "5"),
    ("5\x00abc", "5"),
    ("5 \x00", "5"),
    ("0x10\x00", "16"),
    ("inf\x00x", "inf"),
]

#: tonumber(ARGV[1]) is a number and not equal to itself
READ_AS_NAN = [
    "nan",
    "-nan",
    "NaN",
    "+NAN",
    "nan()",
    "nan(1)",
    "NAN(0x_z)",
    "nan(1)\x00",
    " nan ",
]

#: tonumber(ARGV[1]) == nil
REFUSED = words("""
    .  -  +  e5  1e  1e+  0x  -0x  0x.  0xg  0x1p  0b1  0o7  1_0  1,5  1.5.5  5a  --5  +-5  1e5.5
    in  infin  infinit  nan(  nan(1  nan(-)  nanx  nil  true
""")
REFUSED_WITH_ODD_CHARACTERS = [
    "",
    " ",
    "\x00",
    "\x005",
    "0x 1",
    "5 a",
    "- 5",
    "inf 1",
    "\u0663",
    "\uff15",
    "\xa05",
    "5\xa0",
    "5\u2003",
    "\x1c5",
    "5\x85",
    "\u0131nf",
    "\u0130nf",
    "5\udcff",
    "\udca05",
    "nan (1)",
    "nan(\xe9)",
]

#: n = tonumber(ARGV[1]): "" .. n, redis.call("ECHO", n)
TEXTS = rows("""
    0                     0                     0
    -0.0                  -0                    -0
    0.1                   0.1                   0.10000000000000001
    -0.5                  -0.5                  -0.5
    1.5                   1.5                   1.5
    60                    60                    60
    1400000000            1400000000            1400000000
    1400000000.25         1400000000.25         1400000000.25
    1400000060.9876542    1400000060.9877       1400000060.9876542
    123456789012345       1.2345678901234e+14   123456789012345
    1e14                  1e+14                 100000000000000
    1e15                  1e+15                 1000000000000000
    1e16                  1e+16                 10000000000000000
    99999999999999984     1e+17                 99999999999999984
    1e17                  1e+17                 1e+17
    -99999999999999984    -1e+17                -99999999999999984
    -1e17                 -1e+17                -1e+17
    1399999999392000      1.399999999392e+15    1399999999392000
    2251799813685248.5    2.2517998136852e+15   2251799813685248.5
    9007199254740993      9.007199254741e+15    9007199254740992
    9223372036854775808   9.2233720368548e+18   9.2233720368547758e+18
    -9223372036854775808  -9.2233720368548e+18  -9.2233720368547758e+18
    1e19                  1e+19                 1e+19
    1e300                 1e+300                1.0000000000000001e+300
    5e-324                4.9406564584125e-324  4.9406564584124654e-324
    -1e-300               -1e-300               -1e-300
    inf                   inf                   inf
    -inf                  -inf                  -inf
""")

#: return n, redis.call("INCRBY", KEYS[1], n) on a key at 0: "-" stands for the error
INTEGERS = rows("""
    0                     0                     0
    -0.0                  0                     -
    1                     1                     1
    -1                    -1                    -1
    0.1                   0                     -
    0.5                   0                     -
    -0.5                  0                     -
    1.5                   1                     -
    -3.5                  -3                    -
    -5                    -5                    -5
    1400000000            1400000000            1400000000
    1400000000.25         1400000000            -
    1e15                  1000000000000000      1000000000000000
    1e16                  10000000000000000     10000000000000000
    99999999999999984     99999999999999984     99999999999999984
    1e17                  100000000000000000    -
    -99999999999999984    -99999999999999984    -99999999999999984
    -1e17                 -100000000000000000   -
    2251799813685248.5    2251799813685248      -
    9007199254740993      9007199254740992      9007199254740992
    9223372036854774784   9223372036854774784   -
    9223372036854775808   -9223372036854775808  -
    -9223372036854775808  -9223372036854775808  -
    -9223372036854777856  -9223372036854775808  -
    1e19                  -9223372036854775808  -
    1e300                 -9223372036854775808  -
    5e-324                0                     -
    -1e-300               0                     -
    inf                   -9223372036854775808  -
    -inf                  -9223372036854775808  -
""")

#: string.format("%.17g", ...) of n - n % 86400, math.floor(n), math.ceil(n)
ROUNDED = rows("""
    0                     0                        0                        0
    -0.0                  -0                       -0                       -0
    0.1                   0                        0                        1
    0.5                   0                        0                        1
    -0.5                  -86400                   -1                       -0
    1.5                   0                        1                        2
    -3.5                  -86400                   -4                       -3
    86400                 86400                    86400                    86400
    -5                    -86400                   -5                       -5
    -86400                -86400                   -86400                   -86400
    1400000000            1399939200               1400000000               1400000000
    1400000000.25         1399939200               1400000000               1400000001
    1e16                  9999999999936000         10000000000000000        10000000000000000
    99999999999999984     99999999999964800        99999999999999984        99999999999999984
    1e17                  99999999999964800        1e+17                    1e+17
    1399999999392000      1399999999334400         1399999999392000         1399999999392000
    2251799813685248.5    2251799813635200         2251799813685248         2251799813685249
    9223372036854775808   9.2233720368547205e+18   9.2233720368547758e+18   9.2233720368547758e+18
    -9223372036854775808  -9.2233720368548065e+18  -9.2233720368547758e+18  -9.2233720368547758e+18
    1e19                  9.9999999999999365e+18   1e+19                    1e+19
    1.2e20                1.2000000000000002e+20   1.2e+20                  1.2e+20
    1e300                 1.0000000000000001e+300  1.0000000000000001e+300  1.0000000000000001e+300
    -1e-300               -86400                   -1                       -0
    inf                   nan                      inf                      inf
    -inf                  nan                      -inf                     -inf
""")

#: string.format("%.20f", n)
TIMESTAMPS = [
    (0, "0.00000000000000000000"),
    (-0.0, "-0.00000000000000000000"),
    (0.1, "0.10000000000000000555"),
    (1.5, "1.50000000000000000000"),
    (1400000000.25, "1400000000.25000000000000000000"),
    (1400000060.9876542, "1400000060.98765420913696289062"),
    (1399999999392000, "1399999999392000.00000000000000000000"),
    (1e17, "100000000000000000.00000000000000000000"),
]


@pytest.mark.parametrize(("text", "expected"), [*READ, *READ_WITH_WHITE_SPACE_OR_NUL])
def test_text_is_read_as_lua_reads_it(text: str, expected: str) -> None:
    assert digits(lua.to_number(text)) == expected


@pytest.mark.parametrize("text", READ_AS_NAN)
def test_text_is_read_as_nan(text: str) -> None:
    value = lua.to_number(text)

    assert value is not None
    assert math.isnan(value)


@pytest.mark.parametrize("text", [*REFUSED, *REFUSED_WITH_ODD_CHARACTERS])
def test_text_that_lua_refuses_is_no_number(text: str) -> None:
    assert lua.to_number(text) is None


@pytest.mark.parametrize(("value", "expected"), [(3, 3.0), (2.5, 2.5), (None, None), (False, None)])
def test_what_is_no_text(value: float | None, expected: float | None) -> None:
    result = lua.to_number(value)

    assert result == expected
    assert result is None or type(result) is float


@pytest.mark.parametrize(("number", "concat", "argument"), TEXTS)
def test_a_number_becomes_the_text_of_lua(number: str, concat: str, argument: str) -> None:
    assert lua.concat(float(number)) == concat
    assert lua.argument(float(number)) == argument


@pytest.mark.parametrize(("number", "reply", "argument"), INTEGERS)
def test_a_number_becomes_the_integer_of_redis(number: str, reply: str, argument: str) -> None:
    assert lua.to_integer_reply(float(number)) == int(reply)
    assert lua.integer_argument(float(number)) == (None if argument == "-" else int(argument))


@pytest.mark.parametrize(("number", "day", "floor", "ceil"), ROUNDED)
def test_a_number_is_rounded_as_lua_rounds_it(number: str, day: str, floor: str, ceil: str) -> None:
    assert digits(lua.day(float(number))) == day
    assert digits(lua.floor(float(number))) == floor
    assert digits(lua.ceil(float(number))) == ceil


@pytest.mark.parametrize(("now", "expected"), TIMESTAMPS, ids=lambda value: str(value)[:20])
def test_a_moment_is_written_with_twenty_decimals(now: float, expected: str) -> None:
    assert lua.timestamp(now) == expected


@pytest.mark.parametrize("text", ["", "0x10", "caf\u00e9", "\udcff\0"])
def test_text_is_written_as_it_is(text: str) -> None:
    assert lua.concat(text) == text
    assert lua.argument(text) == text


def test_nan_replies_the_least_integer() -> None:
    assert lua.to_integer_reply(math.nan) == -(2**63)
    assert lua.integer_argument(math.nan) is None


@given(st.floats(allow_nan=False))
def test_a_number_survives_as_an_argument(value: float) -> None:
    assert digits(lua.to_number(lua.argument(value))) == digits(value)


@given(st.text(alphabet=" \t\x0b\x1c\0+-.01_eExXpPinfaty()\u00a0\u0131\u0663\udcff"))
def test_any_text_is_a_number_or_none(text: str) -> None:
    value = lua.to_number(text)

    assert value is None or type(value) is float
    assert value is None or text.partition("\0")[0].isascii()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floor_and_ceil_enclose_a_number(value: float) -> None:
    floor, ceil = lua.floor(value), lua.ceil(value)

    assert floor == math.floor(value)
    assert ceil == math.ceil(value)
