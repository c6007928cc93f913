# SPDX-License-Identifier: MIT
"""Tables on a terminal: one that has too little room for the columns shows the rows one below the other."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

__all__ = ["table"]

#: columns that are cut or left out where there is little room, as "pyqless job" shows all of them
_CUT: Final = ("tags", "data")

#: columns that stand in one line whatever room there is, so that a jid can be copied
_WHOLE: Final = ("jid", "state", "age")

#: characters of what stands so at most: those of a UUID
_WIDTH: Final = 36

#: characters of any other column at least, if it has as many: with less, nobody can read it
_LEAST: Final = 8

#: characters between two columns
_GAP: Final = 2

_STYLES: Final = {
    "running": "green",
    "complete": "dim",
    "failed": "bold red",
    "stalled": "yellow",
    "paused": "yellow",
}


class _Column(NamedTuple):
    place: int
    name: str
    #: of its widest text
    width: int

    @property
    def is_whole(self) -> bool:
        """Whether no line of it is ever broken."""
        return self.name in _WHOLE and self.width <= _WIDTH

    @property
    def least(self) -> int:
        """How wide it has to be, if it is shown."""
        return self.width if self.is_whole else min(self.width, _LEAST)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table as wide as the terminal at most: it leaves out what is only looked at, and cuts no name that is typed next."""
    cells = [*rows]
    widths = (max(map(cell_len, texts)) for texts in zip(columns, *cells, strict=True))
    shown = [_Column(place, columns[place], width) for place, width in enumerate(widths)]
    if not _fit(shown):
        shown = [column for column in shown if column.name not in _CUT]
    return _side_by_side(shown, cells) if _fit(shown) else _below_each_other(columns, cells)


def _fit(columns: Sequence[_Column]) -> bool:
    width = sum(column.least for column in columns) + _GAP * (len(columns) - 1)
    return width <= shutil.get_terminal_size().columns


def _side_by_side(columns: Sequence[_Column], rows: Sequence[Sequence[str]]) -> Table:
    drawn = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold", pad_edge=False)
    for column in columns:
        drawn.add_column(
            column.name, overflow="fold", min_width=column.least, no_wrap=column.is_whole
        )
    for row in rows:
        drawn.add_row(*(_cell(column.name, row[column.place]) for column in columns))
    return drawn


def _below_each_other(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """What each row has to tell, a line a column."""
    drawn = Table(box=None, padding=(0, _GAP, 0, 0), show_header=False, pad_edge=False)
    drawn.add_column(style="bold")
    drawn.add_column(overflow="fold")
    for place, row in enumerate(rows):
        if place:
            drawn.add_row()
        for name, text in zip(columns, row, strict=True):
            if text:
                drawn.add_row(name, _cell(name, text))
    return drawn


def _cell(column: str, text: str) -> Text:
    is_cut = column in _CUT
    style = _STYLES.get(text, "")
    return Text(text, style=style, no_wrap=is_cut or None, overflow="ellipsis" if is_cut else None)
