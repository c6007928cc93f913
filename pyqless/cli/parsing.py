# SPDX-License-Identifier: MIT
"""What arguments mean: data as JSON, numbers, spans of time."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import typer

__all__ = ["json_data", "number_or_text", "span"]

_is_number = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII).fullmatch

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def json_data(text: str, hint: str = "DATA") -> Any:
    """
    Read JSON.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"is no JSON: {error}", param_hint=hint) from error


def number_or_text(text: str) -> float | str:
    """Read a number where there is one, written as numbers are."""
    if _is_number(text) is None:
        return text
    return float(text) if "." in text else int(text)


def span(text: str | None, hint: str = "--older-than") -> float | None:
    """
    Read a span such as ``90``, ``15m``, ``2h``, ``7d``, in seconds.

    Raises:
        typer.BadParameter: it is none.
    """
    if text is None:
        return None
    figures, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    try:
        seconds = float(figures) * _UNITS[unit]
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        fault = f"{text!r} is no span such as 90, 15m, 2h or 7d"
        raise typer.BadParameter(fault, param_hint=hint)
    return seconds
