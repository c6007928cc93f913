# SPDX-License-Identifier: MIT
"""What arguments mean: data as JSON, numbers, spans of time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import typer

from pyqless.cli.options import MOST
from pyqless.client import checks

__all__ = [
    "SPANS",
    "excerpt",
    "json_data",
    "json_in",
    "number_or_text",
    "size",
    "span_option",
    "spans",
]

_is_number = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII).fullmatch

_is_span = re.compile(
    r"(?P<figures>(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)(?P<unit>[smhdw]?)", re.ASCII
).fullmatch

#: nobody has as much as a number of more figures says, and Python reads none of thousands
_is_size = re.compile(r"0*(\d{1,15})([KMGT]?)", re.ASCII).fullmatch

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

_SIZES: Final = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

#: digits of a whole number at most; with more, a number is beyond all that is kept
_DIGITS: Final = 400

#: bytes beyond which nobody has memory
_MOST_MEMORY: Final = 2**50

#: characters that are shown on either side of where a text makes no sense
_AROUND: Final = 30

#: what a span may look like, for a help text
SPANS: Final = "90 (seconds), 15m, 2h, 7d"


def json_data(text: str | bytes, hint: str = "DATA") -> Any:
    """
    Read JSON.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        return json_in(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error


def json_in(text: str | bytes) -> Any:
    """
    Read JSON.

    Raises:
        ValueError: it is none; the message tells why and where, and shows the text there.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(_told(error)) from error
    except (ValueError, RecursionError) as error:
        shown = text if isinstance(text, str) else text.decode(errors="backslashreplace")
        raise ValueError(f"is no JSON ({error}): {excerpt(shown.rstrip())}") from error


def _told(error: json.JSONDecodeError) -> str:
    text = error.doc.rstrip()
    if not text:
        return "is no JSON: it is empty"
    # what is missing at the end is missing behind the last character, and not in the next line
    fault = json.JSONDecodeError(error.msg, text, min(error.pos, len(text)))
    line = text.splitlines()[fault.lineno - 1]
    place = f"character {fault.colno}"
    if line != text:
        place = f"line {fault.lineno}, {place}"
    reason = f"{fault.msg[:1].lower()}{fault.msg[1:]}".removesuffix(" at").removesuffix(" starting")
    return f"is no JSON ({reason}, at {place}): {excerpt(line, fault.colno - 1)}"


def excerpt(text: str, place: int = 0) -> str:
    """A text as it was typed; of a long one, what stands around a place."""
    start, end = max(0, place - _AROUND), max(2 * _AROUND, place + _AROUND)
    return f"{'...' if start else ''}{text[start:end]}{'...' if text[end:] else ''}"


def number_or_text(text: str) -> float | str:
    """Read a number where there is one, written as numbers are."""
    if _is_number(text) is None:
        return text
    # Python reads no whole number of thousands of digits, and nobody means one
    is_whole = "." not in text and len(text) <= _DIGITS
    return int(text) if is_whole else float(text)


def spans(least: float = 0.0) -> Callable[[Any], float]:
    """
    What reads spans such as ``90``, ``15m``, ``2h``, ``7d``, in seconds, for typer's ``parser``.

    Args:
        least: how long they have to be, seconds.
    """

    def span(text: Any) -> float:
        if not isinstance(text, str):
            return float(text)  # a default
        if (found := _is_span(text)) is None:
            raise ValueError(f"{checks.shown(text)} is no span such as 90, 15m, 2h or 7d")
        seconds = float(found["figures"]) * _UNITS[found["unit"] or "s"]
        if not least <= seconds <= MOST:
            fault = f"does not lie between {least:g} and {MOST:,} seconds"
            raise ValueError(f"{checks.shown(text)} {fault}")
        return seconds

    return span


def span_option(*names: str, about: str, least: float = 0.0, **more: Any) -> Any:
    """
    An option that takes a span, for typer.

    Args:
        about: what it is, without the point at the end, behind which the help shows how to write it.
        least: as for ``spans``.
        more: of ``typer.Option``.
    """
    told = f"{about}: {SPANS}."
    return typer.Option(*names, metavar="SPAN", parser=spans(least), help=told, **more)


def size(text: str) -> int:
    """Read an amount of memory such as ``500``, which is in MiB, ``500M`` or ``2G``, in bytes, for typer's ``parser``."""
    found = _is_size(text)
    if found is None:
        raise ValueError(f"{checks.shown(text)} is no size such as 500 (MiB), 500M or 2G")
    figures, unit = found.groups()
    bytes_ = int(figures) * _SIZES[unit or "M"]
    if not 0 < bytes_ <= _MOST_MEMORY:
        raise ValueError(f"{checks.shown(text)} does not lie between 1K and 1024T")
    return bytes_
