# SPDX-License-Identifier: MIT
"""Log records as JSON."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pyqless.worker.log import JsonFormatter
from pyqless.worker.signals import around_the_log


def line(**fields: Any) -> dict[str, Any]:
    """Format a record, and read the one line that comes of it."""
    record = logging.makeLogRecord(
        {"name": "pyqless.job", "levelname": "INFO", "msg": "at %s", "args": ("a\nb",), **fields}
    )
    text = JsonFormatter().format(record)
    assert text.isascii()
    assert len(text.splitlines()) == 1
    read: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return read


def refuse(constant: str) -> None:
    raise ValueError(f"no JSON: {constant}")


def test_what_each_line_has() -> None:
    told = line(created=1_700_000_000.25, process=7)
    assert told == {
        "time": "2023-11-14T22:13:20.250000+00:00",
        "level": "INFO",
        "logger": "pyqless.job",
        "process": 7,
        "message": "at a\nb",
    }
    assert datetime.fromisoformat(told["time"]).utcoffset() == timedelta(0)


def test_fields_are_there_as_they_were_given() -> None:
    fields = {"jid": "J", "seconds": 0.5, "group": None, "step": {"n": [1, True]}}
    told = line(**fields)
    assert {name: told[name] for name in fields} == fields


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Path("/srv"), "/srv"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02 00:00:00+00:00"),
        (float("nan"), "nan"),
        ({(1, 2): "x"}, "{(1, 2): 'x'}"),
        (b"x", "b'x'"),
        ("\ud800", "\ud800"),
    ],
)
def test_what_is_no_json_is_told_as_text(value: object, told: str) -> None:
    assert line(field=value)["field"] == told


def test_a_circle_is_told_as_text() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert line(field=circle)["field"] == "[[...]]"


def test_a_field_does_not_stand_in_for_what_each_line_has() -> None:
    told = line(level="none", time="never", logger="nobody")
    assert (told["level"], told["logger"], told["time"][:2]) == ("INFO", "pyqless.job", "20")


def test_a_traceback_is_text() -> None:
    try:
        int("bad")
    except ValueError:
        told = line(exc_info=sys.exc_info(), stack_info="Stack (most recent call last):")
    assert told["traceback"].startswith("Traceback (most recent call last):\n")
    assert told["traceback"].endswith("base 10: 'bad'")
    assert told["stack"] == "Stack (most recent call last):"


@pytest.mark.parametrize("name", ["pyqless", None])
def test_what_signals_order_is_told_in_the_form_of_the_log(name: str | None) -> None:
    assert around_the_log("told to stop") == "pyqless: told to stop"
    logger, handler = logging.getLogger(name), logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logger.addHandler(handler)
    try:
        told = json.loads(around_the_log("told to stop"))
    finally:
        logger.removeHandler(handler)
    assert (told["logger"], told["message"]) == ("pyqless.worker", "told to stop")
    assert told["process"] == os.getpid()
