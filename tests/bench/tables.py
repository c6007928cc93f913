# SPDX-License-Identifier: MIT
"""Tables, as the documentation has them."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence

__all__ = ["circumstances", "show"]

Cell = str | int | float | None


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print a table in Markdown, words to the left and numbers to the right."""
    lines = [columns, *([_text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = [all(isinstance(cell, str) for cell in column) for column in zip(*rows, strict=True)]
    sides = list(zip(left, widths, strict=True))
    rule = ["-" * width if is_left else "-" * (width - 1) + ":" for is_left, width in sides]
    print(f"\n{title}\n")
    for line in (columns, rule, *lines[1:]):
        cells = [
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, (is_left, width) in zip(line, sides, strict=True)
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def _text(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case float() if abs(cell) < 10:
            return f"{cell:.2f}"
        case float() | int():
            return f"{cell:,.0f}"
        case _:
            return cell


def circumstances(server: str) -> str:
    """Say when and where something is measured, and how busy the machine is."""
    load = os.getloadavg()[0]
    return (
        f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC; {os.cpu_count()} cores, load {load:.1f}; "
        f"{platform.system()}, Python {platform.python_version()}, {server}"
    )
