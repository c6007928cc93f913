# SPDX-License-Identifier: MIT
"""Spans and sizes, as they are typed; and that every option which takes a time takes them."""

from __future__ import annotations

import pytest

from pyqless.cli.parsing import json_in, size, spans
from pyqless.client import Client
from tests.cli_reference import commands, parameters
from tests.unit.cli.conftest import Cli


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("90", 90), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000), ("0", 0), ("90s", 90)),
        *(("15m", 900), ("2h", 7200), ("7d", 604800), ("1w", 604800), ("0.5h", 1800)),
    ],
)
def test_spans(text: str, seconds: float) -> None:
    assert spans()(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "m",
            "-1",
            "+1",
            "5x",
            "5 m",
            " 5",
            "5mm",
            "inf",
            "nan",
            "1_000",
            "٣",
            "1e400",
            "1e10",
        ),
        "9" * 5000,
    ],
)
def test_no_spans(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no span such as|does not lie between 0 and"):
        spans()(text)


def test_a_span_may_have_a_least_length() -> None:
    least = spans(least=60)
    assert least("1m") == 60
    with pytest.raises(ValueError, match="'59' does not lie between 60 and"):
        least("59")


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("500", 500 * 2**20),
        ("1K", 1024),
        ("500M", 500 * 2**20),
        ("2G", 2**31),
        ("01T", 2**40),
        (f"{2**40}K", 2**50),
        (f"{'0' * 5000}1M", 2**20),
    ],
)
def test_sizes(text: str, bytes_: int) -> None:
    assert size(text) == bytes_


@pytest.mark.parametrize(
    "text", ["", "M", "0", "-1", "5X", "5MB", "1.5G", "1025T", f"{2**40 + 1}K", "9" * 5000]
)
def test_no_sizes(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no size such as|does not lie between 1K and"):
        size(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{oops", "(expecting property name enclosed in double quotes, at character 2): {oops"),
        (b"[1,\n", "(expecting value, at character 4): [1,"),
        (b'{"a": 1,\n "b": }\n', '(expecting value, at line 2, character 7):  "b": }'),
        ('"Zo\u00eb', '(unterminated string, at character 1): "Zo\u00eb'),
        (f"[{'1,' * 50}x{',1' * 50}]", f"at character 102): ...{'1,' * 15}x{',1' * 14},..."),
        (f"x{'1' * 99}", f"at character 1): x{'1' * 59}..."),
        (b'"\xff"\n', r'invalid start byte): "\xff"'),
        ("[" * 100_000, f"): {'[' * 60}..."),
    ],
)
def test_what_is_no_json_is_shown_as_it_was_typed(text: str | bytes, told: str) -> None:
    with pytest.raises(ValueError, match=r"^is no JSON") as raised:
        json_in(text)
    assert str(raised.value).endswith(told)


@pytest.mark.parametrize("text", ["", " \n", b"\n\n"])
def test_nothing_is_no_json(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"^is no JSON: it is empty$"):
        json_in(text)


def test_every_option_that_takes_a_time_takes_spans() -> None:
    words = ("seconds", "how long", "until", "span")
    for names, function in commands():
        for parameter in parameters(function):
            told = f"{parameter.name} {parameter.info.help}".lower()
            if any(word in told for word in words) and parameter.kind is not bool:
                taken = parameter.info.metavar == "SPAN" or parameter.kind is str
                assert taken or names == ("stats",), (names, parameter.name)


def test_a_delay_and_an_offset(cli: Cli, client: Client) -> None:
    assert cli("put q a.B --jid j --delay 2h")[0] == 0
    assert client.jobs["j"].state == "scheduled"
    assert cli("recur put q a.B 1d --jid r --offset 2h")[0] == 0
    due = client.recurring["r"].next_run()
    assert due is not None
    assert 7100 < due - client.storage.clock() <= 7200
    assert client.recurring["r"].interval == 86400
