# SPDX-License-Identifier: MIT
"""Two cores that get the same calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from pyqless.conformance.generate import Generator
from pyqless.conformance.protocol import Call, Core, Outcome, Snapshot, observe
from pyqless.conformance.replay import Difference
from pyqless.conformance.sameness import Comparison
from pyqless.conformance.shrink import shrink
from pyqless.conformance.target import Target
from pyqless.core.replies import Reply

__all__ = ["SideBySide"]

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
