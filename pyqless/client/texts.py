# SPDX-License-Identifier: MIT
"""Types that JSON has not, and that stand in it as text: what is written, and what is made of it again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final, NamedTuple
from uuid import UUID

__all__ = ["Written", "written_as"]


class Written(NamedTuple):
    """How the values of a type are written as text."""

    kind: type[Any]
    #: what errors call one
    name: str
    write: Callable[[Any], str]
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


_WRITTEN: Final = (
    Written(datetime, "a datetime in ISO 8601", lambda value: value.isoformat(), _read_datetime),
    Written(date, "a date in ISO 8601", lambda value: value.isoformat(), _read_iso),
    Written(time, "a time in ISO 8601", lambda value: value.isoformat(), _read_iso),
    Written(UUID, "a UUID", str, _read),
    # others write a whole one as a number, which it equals; of a fraction nobody knows how it was meant
    Written(Decimal, "a decimal number as text", str, _read, (str, int)),
    Written(PurePath, "a path as text", str, _read),
)


def written_as(kind: type[Any]) -> Written | None:
    """How the values of a type are written; None if they are not written as text."""
    return next((known for known in _WRITTEN if issubclass(kind, known.kind)), None)
