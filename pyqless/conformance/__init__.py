# SPDX-License-Identifier: MIT
"""The conformance kit: for those who test their qless clients and cores against these rules."""

from __future__ import annotations

from pyqless.conformance.generate import Generator
from pyqless.conformance.lua_core import LuaCore
from pyqless.conformance.protocol import (
    Call,
    CommandError,
    Core,
    InternalError,
    Message,
    Outcome,
    Snapshot,
    observe,
)
from pyqless.conformance.replay import Difference, replay_trace
from pyqless.conformance.sameness import Comparison, Finding
from pyqless.conformance.side_by_side import SideBySide
from pyqless.conformance.target import Target
from pyqless.conformance.traces import Op, Trace, read_traces, record_trace

__all__ = [
    "Call",
    "CommandError",
    "Comparison",
    "Core",
    "Difference",
    "Finding",
    "Generator",
    "InternalError",
    "LuaCore",
    "Message",
    "Op",
    "Outcome",
    "SideBySide",
    "Snapshot",
    "Target",
    "Trace",
    "observe",
    "read_traces",
    "record_trace",
    "replay_trace",
]
