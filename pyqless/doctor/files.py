# SPDX-License-Identifier: MIT
"""Whether a SQLite file is whole: all who work on it notice damage only where they come across it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyqless.doctor.report import Check, Verdict

if TYPE_CHECKING:  # it takes a library that not everybody has
    from pyqless.storage.sqlite.storage import SqliteStorage

__all__ = ["file"]

#: faults to tell
TOLD: Final = 3


def file(storage: SqliteStorage) -> Check:
    """
    Have SQLite look through a file, which reads all of it, and holds nobody up.

    Raises:
        StorageError: it cannot be read, or the damage keeps SQLite from looking further.
    """
    with storage.file.looking() as lane:
        found = [text for (text,) in lane.connection.execute(f"PRAGMA quick_check({TOLD})")]
    if found == ["ok"]:
        return Check("file", Verdict.OK, "whole")
    # the first line of a fault may be a heading, which names the database within the connection
    lines = [line for text in found for line in text.splitlines() if not line.startswith("***")]
    advice = (
        "stop all that work on it, then have it restored from a backup, or what can be read moved:"
        " pyqless dump, and load into a new file"
    )
    return Check("file", Verdict.FAILURE, f"damaged: {'; '.join(lines)}", advice)
