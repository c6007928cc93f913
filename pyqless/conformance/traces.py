# SPDX-License-Identifier: MIT
"""
Traces: what a core replied, published and stored, call by call, from an empty database on.

In a file each line is one trace in JSON, ``{"seed": n, "ops": [...]}``. An op holds ``args``, the call, and
either ``reply``, ``pub`` (the messages) and ``delta`` (the keys that changed, null for one that went away),
or ``error``. A call on which the core broke down bears ``internal``: any error will do, changing nothing.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pyqless.conformance.protocol import Call, Core, Entry, Message, Outcome, Snapshot, observe
from pyqless.core.replies import Reply
from pyqless.errors import InvalidArgument

__all__ = ["Op", "Trace", "read_traces", "record_trace"]


@dataclass(frozen=True, slots=True)
class Op:
    """One call of a trace, and what it did."""

    call: Call
    reply: Reply = None
    error: str | None = None
    internal: bool = False
    messages: list[Message] = field(default_factory=list)
    #: the keys that changed; None for one that went away
    delta: dict[str, Entry | None] = field(default_factory=dict)

    @classmethod
    def of(cls, call: Call, outcome: Outcome, before: Snapshot) -> Self:
        """Write down what a call did."""
        if outcome.error is not None:
            return cls(call, error=outcome.error, internal=outcome.internal)
        delta = {
            key: outcome.state.get(key)
            for key in sorted(before.keys() | outcome.state.keys())
            if before.get(key) != outcome.state.get(key)
        }
        return cls(call, outcome.reply, messages=outcome.messages, delta=delta)

    @classmethod
    def from_json(cls, read: dict[str, Any]) -> Self:
        """Take over an op of a file."""
        return cls(
            tuple(read["args"]),
            read.get("reply"),
            read.get("error"),
            read.get("internal", False),
            [(channel, data) for channel, data in read.get("pub", [])],
            read.get("delta", {}),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the op as it stands in a file."""
        if self.error is not None:
            return {"args": self.call, "error": self.error} | (
                {"internal": True} if self.internal else {}
            )
        return {
            "args": self.call,
            "reply": self.reply,
            "pub": self.messages,
            "delta": self.delta,
        }

    def outcome(self, before: Snapshot) -> Outcome:
        """Tell what the call did to a store that held ``before``."""
        after = {**before, **self.delta}
        return Outcome(
            reply=self.reply,
            error=self.error,
            internal=self.internal,
            messages=self.messages,
            state={key: entry for key, entry in after.items() if entry is not None},
        )


@dataclass(frozen=True, slots=True)
class Trace:
    """Calls from an empty database on; the seed is the trace's name."""

    seed: int
    ops: list[Op]

    def to_line(self) -> str:
        """Give the trace as it stands in a file, without the line's end."""
        ops = [op.to_json() for op in self.ops]
        return json.dumps(
            {"seed": self.seed, "ops": ops}, ensure_ascii=False, separators=(",", ":")
        )


def read_traces(path: str | Path) -> Iterator[Trace]:
    """
    Read the traces of a ``.jsonl`` or ``.jsonl.gz`` file one after another.

    Raises:
        InvalidArgument: there is no such file, or a line of it is no trace.
    """
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", errors="surrogateescape") as lines:
            for number, line in enumerate(lines, 1):
                yield _trace(line, f"{path}, line {number}")
    except OSError as error:
        text = f"file {str(path)!r} cannot be read: {error}"
        raise InvalidArgument(text, argument="file", value=str(path)) from error


def _trace(line: str, place: str) -> Trace:
    try:
        read = json.loads(line)
        return Trace(read["seed"], [Op.from_json(op) for op in read["ops"]])
    except (ValueError, KeyError, TypeError) as error:
        text = f"file {place} is no trace: {type(error).__name__}: {error}"
        raise InvalidArgument(text, argument="file", value=place) from error


def record_trace(core: Core, calls: Iterable[Call], seed: int = 0) -> Trace:
    """Send calls to a core with an emptied database, and write down what they do."""
    core.flush()
    core.record()
    ops, before = [], core.snapshot()
    for call in calls:
        outcome = observe(core, call)
        ops.append(Op.of(call, outcome, before))
        before = outcome.state
    return Trace(seed, ops)
