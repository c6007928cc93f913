# SPDX-License-Identifier: MIT
"""A Lua core and pyqless side by side, on generated calls; a difference is made as small as it can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from pathlib import Path

from pyqless.conformance.lua_core import LuaCore
from pyqless.conformance.protocol import Call
from pyqless.conformance.replay import Difference
from pyqless.conformance.side_by_side import SideBySide
from pyqless.conformance.target import Target
from pyqless.conformance.traces import record_trace
from pyqless.errors import InvalidArgument

__all__ = ["compare"]


def compare(
    lua_path: str | Path,
    redis_url: str,
    storage_url: str = "memory://",
    *,
    seeds: Iterable[int] = range(100),
    ops: int = 150,
    most: int = 1,
    report: Callable[[str], object] = print,
) -> int:
    """
    Run a Lua core beside pyqless on generated calls, and report differences, made small.

    The databases are emptied, again and again. Of each difference the report has what is different about the
    last of its calls, and the calls as a trace for ``replay``. Of several that are of one kind, the same
    commands with the same things different, it has the first.

    Args:
        lua_path: the file of the core's whole script.
        redis_url: a database on a server that allows scripts.
        storage_url: see ``open_storage``; another database than that one.
        seeds: each names a sequence of calls.
        ops: the length of a sequence.
        most: end after so many differences.
        report: takes a line, or a difference of several.

    Returns:
        the exit status: 0 if all is the same, 1 if not.

    Raises:
        InvalidArgument: there is no such file, or the URL means no storage.
    """
    script = _read(lua_path)
    found: set[tuple[str, ...]] = set()
    with ExitStack() as stack:
        reference = stack.enter_context(closing(LuaCore(script, redis_url)))
        target = stack.enter_context(Target(storage_url))
        pair = SideBySide(reference, target, numbers=reference.shortens_numbers)
        for seed in seeds:
            calls, difference = pair.explore(seed, ops)
            if difference is None:
                continue
            calls = pair.smallest(calls)
            difference = pair.difference(calls) or difference
            kind = _kind(calls, difference)
            if kind not in found:
                found.add(kind)
                report(f"seed {seed}, {difference}")
                report(record_trace(reference, calls, seed).to_line())
            if len(found) == most:
                break
        report(
            f"{pair.calls:,} calls, {pair.breakdowns:,} of them too much for the Lua core; "
            f"{len(found) or 'no'} difference{'' if len(found) == 1 else 's'}"
        )
    return 1 if found else 0


def _kind(calls: list[Call], difference: Difference) -> tuple[str, ...]:
    """Tell differences apart: by the commands that it takes, and by what is different but for names."""
    commands = [call[0] for call in calls if call]
    return *commands, *(finding.what.partition(" ")[0] for finding in difference.findings)


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        text = f"lua_path {str(path)!r} cannot be read: {error}"
        raise InvalidArgument(text, argument="lua_path", value=str(path)) from error
