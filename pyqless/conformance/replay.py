# SPDX-License-Identifier: MIT
"""Replay recorded traces against a core."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pyqless.conformance.protocol import Call, Core, Snapshot, observe
from pyqless.conformance.sameness import Comparison, Finding
from pyqless.conformance.target import Target
from pyqless.conformance.traces import Trace, read_traces
from pyqless.core.wording import counted

__all__ = ["Difference", "replay", "replay_trace"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first call of a sequence on which a core does not do what is expected."""

    #: how many calls went before it
    index: int
    call: Call
    findings: list[Finding]

    def __str__(self) -> str:
        lines = [f"call {self.index}: {' '.join(map(repr, self.call))}"]
        for what, expected, got in self.findings:
            lines += [f"  {what}", f"    expected {expected!r}", f"    got      {got!r}"]
        return "\n".join(lines)


def replay_trace(core: Core, trace: Trace, *, numbers: bool = False) -> Difference | None:
    """
    Send the calls of a trace to a core, whose database is emptied first.

    Args:
        numbers: see ``Comparison``.

    Returns:
        the first difference, or None.
    """
    core.flush()
    core.record()
    comparison = Comparison(numbers=numbers)
    before: Snapshot = {}
    for index, op in enumerate(trace.ops):
        expected = op.outcome(before)
        if findings := comparison.findings(op.call, before, expected, observe(core, op.call)):
            return Difference(index, op.call, findings)
        before = expected.state
    return None


def replay(
    files: Iterable[str | Path], storage_url: str, *, report: Callable[[str], object] = print
) -> int:
    """
    Replay the traces of files on a storage, and report the first difference of each trace.

    The database is emptied.

    Args:
        storage_url: see ``open_storage``.
        report: takes a line, or a difference of several.

    Returns:
        the exit status: 0 if all is the same, 1 if not.

    Raises:
        InvalidArgument: a file cannot be read, or the URL means no storage.
    """
    traces = calls = different = 0
    with Target(storage_url) as core:
        for path in files:
            for trace in read_traces(path):
                traces, calls = traces + 1, calls + len(trace.ops)
                if difference := replay_trace(core, trace):
                    different += 1
                    report(f"{path}, trace {trace.seed}, {difference}")
    report(
        f"{counted(calls, 'call')} in {counted(traces, 'trace')}, {different or 'none'} of them different"
    )
    return 1 if different else 0
