# SPDX-License-Identifier: MIT
"""Types that JSON has not, and that stand in it as text, or as a number: what is written, and what is made of it again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final, NamedTuple
from uuid import UUID

from pyqless.client.plain import plain_number

__all__ = ["Written", "written_as"]


class Written(NamedTuple):
    """How the values of a type are written."""

    kind: type[Any]
    #: what errors call one
    name: str
    write: Callable[[Any], str | float]
    #: makes a value of a type, this one or one derived of it; raises ``ValueError`` or ``ArithmeticError``
    read: Callable[[Any, Any], Any]
    #: what JSON may say one by
    forms: tuple[type, ...] = (str,)


def _read_iso(kind: Any, text: str) -> Any:
    return kind.fromisoformat(text)


def _read_datetime(kind: Any, text: str) -> Any:
    # Python would take a date for its first moment, so that a union would make one of the other
    if len(text) <= len("2026-12-31"):
        raise ValueError("a date alone, without a time")
    return kind.fromisoformat(text)


def _read(kind: Any, text: str) -> Any:
    return kind(text)


def _read_seconds(kind: Any, seconds: float) -> Any:
    return kind(seconds=seconds)


_WRITTEN: Final = (
    Written(datetime, "a datetime in ISO 8601", lambda value: value.isoformat(), _read_datetime),
    Written(date, "a date in ISO 8601", lambda value: value.isoformat(), _read_iso),
    Written(time, "a time in ISO 8601", lambda value: value.isoformat(), _read_iso),
    # seconds, as all spans are given here: every language reads a number, and few have a word for "PT1H30M"
    Written(
        timedelta,
        "a span in seconds",
        lambda value: plain_number(value.total_seconds()),
        _read_seconds,
        (int, float),
    ),
    Written(UUID, "a UUID", str, _read),
    # others write a whole one as a number, which it equals; of a fraction nobody knows how it was meant
    Written(Decimal, "a decimal number as text", str, _read, (str, int)),
    Written(PurePath, "a path as text", str, _read),
)


def written_as(kind: type[Any]) -> Written | None:
    """How the values of a type are written; None if nobody knows."""
    return next((known for known in _WRITTEN if issubclass(kind, known.kind)), None)
