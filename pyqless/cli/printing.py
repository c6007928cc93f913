# SPDX-License-Identifier: MIT
"""How answers are printed: tables with colour on a terminal, plain columns elsewhere, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import typer
from rich.console import Console
from rich.progress import track

from pyqless.cli.tables import table

__all__ = [
    "age",
    "clean",
    "day_time",
    "note",
    "note_rest",
    "number",
    "say",
    "say_json",
    "say_line",
    "show",
    "stepwise",
]

T = TypeVar("T")

#: seconds, and the letter that stands for them
_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "m"))

#: characters of what is told on stderr, at most
_LONGEST: Final = 1000


def clean(value: Any) -> str:
    """A value as text of one line; what would steer a terminal is shown, not sent."""
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in str(value)
    )


def number(value: float) -> str:
    """A number as people write it: no fraction where there is none."""
    return f"{value:g}" if abs(value) < 1e6 else f"{value:,.0f}"


def age(seconds: float) -> str:
    """A span in its largest unit: ``59s``, ``3m``, ``2h``, ``9d``."""
    size, unit = next((pair for pair in _UNITS if seconds >= pair[0]), (1, "s"))
    return f"{seconds / size:.0f}{unit}"


def day_time(moment: float) -> str:
    """A moment, Unix time in seconds, on the clock of this place."""
    from datetime import datetime

    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M:%S}"


def say(text: str) -> None:
    """Print an answer for people."""
    typer.echo(clean(text))


def note(text: Any, more: str = "") -> None:
    """
    Tell on stderr what is wrong, or worth knowing, in one line.

    Args:
        more: what stands behind it, however long it is.
    """
    told = clean(text)
    if len(told) > _LONGEST:  # it names what somebody has pasted by mistake
        told = f"{told[: _LONGEST // 2]} ... {told[-_LONGEST // 2 :]}"
    typer.echo(f"pyqless: {told}{more}", err=True)


def note_rest(shown: int, total: int | None, option: str) -> None:
    """
    Tell on stderr that there is more than is shown.

    Args:
        total: how many there are; None if nobody has counted them.
        option: by which more are shown.
    """
    part = f"the first {shown:,}" if total is None else f"{shown:,} of {total:,}"
    note(f"{part}; {option} NUMBER shows more")


def say_json(value: Any) -> None:
    """Print one document."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=list))


def say_line(value: Any) -> None:
    """Print one line of a stream of documents, and at once."""
    # click flushes what it prints
    typer.echo(json.dumps(value, ensure_ascii=False, default=list))


def show(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table, with its head on a terminal and plainly elsewhere; an empty one is nothing."""
    texts = [[clean(cell) for cell in row] for row in rows]
    console = Console(highlight=False)
    if not texts:
        return
    if console.is_terminal:
        console.print(table(columns, texts))
        return
    widths = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    for row in (columns, *texts):
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(padded).rstrip())


def stepwise(items: Sequence[T], doing: str) -> Iterable[T]:
    """Go through much work, with a bar on a terminal."""
    console = Console(stderr=True)
    return track(
        items, doing, console=console, transient=True, disable=not console.is_terminal or not items
    )
