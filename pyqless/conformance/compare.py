# SPDX-License-Identifier: MIT
"""A Lua core and pyqless side by side, on generated calls; a difference is made as small as it can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from pyqless.conformance.generate import Generator
from pyqless.conformance.lua_core import LuaCore
from pyqless.conformance.protocol import Call, Core, Outcome, Snapshot, observe
from pyqless.conformance.replay import Difference
from pyqless.conformance.sameness import Comparison
from pyqless.conformance.shrink import shrink
from pyqless.conformance.target import Target
from pyqless.conformance.traces import record_trace
from pyqless.core.replies import Reply
from pyqless.errors import InvalidArgument

__all__ = ["SideBySide", "compare"]


#: What Lua says where pyqless has an answer (docs/deviations.md): to a read of a job whose history holds an
#: entry of log with data that is no object, and to the cancel of a failed job whose day has no count of failures.
ANSWERED: Final = (
    "attempt to index local 'dict' ",
    "attempt to perform arithmetic on local 'failed' ",
)


class SideBySide:
    """
    Two cores that get the same calls.

    Where the reference breaks down the other is to refuse the call; or to pass over what is damaged, and say
    so. As the two part there by right, a sequence ends with such a call.

    Args:
        reference: does what is expected.
        target: is to do the same.
        numbers: see ``Comparison``.
    """

    def __init__(self, reference: Core, target: Target, *, numbers: bool = False) -> None:
        self._reference = reference
        self._target = target
        self._numbers = numbers
        #: calls sent, and among them those on which the reference broke down
        self.calls = self.breakdowns = 0

    def explore(self, seed: int, length: int) -> tuple[list[Call], Difference | None]:
        """
        Draw calls and send them, from empty databases on, until there is a difference.

        Returns:
            the calls that were sent, and the difference, which came with the last of them.
        """
        generator = Generator(seed)
        sent: list[Call] = []

        def drawn() -> Iterator[Call]:
            while len(sent) < length:
                sent.append(generator.next())
                yield sent[-1]

        return sent, self._first(drawn(), generator.learn)

    def difference(self, calls: Iterable[Call]) -> Difference | None:
        """Send calls, from empty databases on; give the first difference, or None."""
        return self._first(calls, lambda _call, _reply: None)

    def smallest(self, calls: list[Call]) -> list[Call]:
        """Make calls that show a difference as few and as plain as they can be."""
        return shrink(calls, lambda fewer: self.difference(fewer) is not None)

    def _first(
        self, calls: Iterable[Call], learn: Callable[[Call, Reply], None]
    ) -> Difference | None:
        for core in (self._reference, self._target):
            core.flush()
            core.record()
        comparison = Comparison(numbers=self._numbers)
        before: Snapshot = {}
        for index, call in enumerate(calls):
            damaged = self._target.damaged
            expected, got = observe(self._reference, call), observe(self._target, call)
            self.calls += 1
            self.breakdowns += expected.internal
            if _part_by_right(expected, got, reported=self._target.damaged > damaged):
                return None
            if findings := comparison.findings(call, before, expected, got):
                return Difference(index, call, findings)
            if expected.error is None:
                learn(call, expected.reply)
            before = expected.state
        return None


def _part_by_right(expected: Outcome, got: Outcome, *, reported: bool) -> bool:
    if not expected.internal or got.error is not None:
        return False
    return reported or (expected.error or "").startswith(ANSWERED)


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

    The databases are emptied, again and again. Of each difference the report has the calls as a trace for
    ``replay``, and what is different about the last of them.

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
    found = 0
    with ExitStack() as stack:
        reference = stack.enter_context(closing(LuaCore(script, redis_url)))
        target = stack.enter_context(Target(storage_url))
        pair = SideBySide(reference, target, numbers=reference.shortens_numbers)
        for seed in seeds:
            calls, difference = pair.explore(seed, ops)
            if difference:
                found += 1
                _report(pair, reference, seed, calls, report)
            if found == most:
                break
        report(
            f"{pair.calls:,} calls, {pair.breakdowns:,} of them too much for the Lua core; "
            f"{found or 'no'} difference{'' if found == 1 else 's'}"
        )
    return 1 if found else 0


def _report(
    pair: SideBySide,
    reference: LuaCore,
    seed: int,
    calls: list[Call],
    report: Callable[[str], object],
) -> None:
    smallest = pair.smallest(calls)
    report(f"seed {seed}, {pair.difference(smallest)}")
    report(record_trace(reference, smallest, seed).to_line())


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        text = f"lua_path {str(path)!r} cannot be read: {error}"
        raise InvalidArgument(text, argument="lua_path", value=str(path)) from error
