# SPDX-License-Identifier: MIT
"""Every storage does what the Lua core did: 80 recorded traces, and the calls on which it broke down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from pyqless.conformance import Target, Trace, read_traces, replay_trace
from pyqless.errors import QlessError

DATA: Final = Path(__file__).parent / "data"
TRACES: Final = list(read_traces(DATA / "qless-core.jsonl.gz"))
#: what Lua said, and a call on which it did
CRASHES: Final[dict[str, list[str]]] = {
    said: crash["example"]
    for said, crash in json.loads((DATA / "qless-core.crashes.json").read_text()).items()
}
#: Here Lua found a queue that names a job which is gone; alone, the call is a good one.
DANGLING: Final = "pop: bad argument #N to 'unpack' (table expected, got nil)"

#: the argument at fault
BLAMED: Final = {
    "complete: bad argument #N to 'decode' (string expected, got nil)": ("data", None),
    "put: Expected value but found invalid token at character N": ("depends", "nope"),
    "complete: Expected object key string but found T_END at character N": ("data", "{"),
    "put: Expected object key string but found invalid token at character N": ("data", "{bad"),
    "recur.update: Expected object key string but found T_END at character N": ("data", "{"),
    "log: Expected object key string but found T_END at character N": ("data", "{"),
    "queues: bad argument #N to 'tonumber' (value expected)": ("now", None),
    "recur: Expected object key string but found T_END at character N": ("data", "{"),
}


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: str(trace.seed))
def test_a_recorded_trace_comes_out_the_same(storage_url: str, trace: Trace) -> None:
    with Target(storage_url) as target:
        difference = replay_trace(target, trace)
    assert difference is None, str(difference)


def test_each_recorded_crash_is_looked_at() -> None:
    assert CRASHES.keys() == BLAMED.keys() | {DANGLING}


@pytest.mark.parametrize("said", BLAMED)
def test_where_lua_broke_down_the_argument_at_fault_is_named(storage_url: str, said: str) -> None:
    name, value = BLAMED[said]
    with Target(storage_url) as target:
        target.flush()
        target.call("recur", "1400000000", "beta", "r1", "K", "{}", "interval", "60", "0")
        target.record()
        before = target.snapshot()
        with pytest.raises(target.error, match=name) as raised:
            target.call(*CRASHES[said])
        assert target.snapshot() == before
        assert target.recorded() == []
    cause = raised.value.__cause__
    assert isinstance(cause, QlessError)
    assert (cause.argument, cause.value) == (name, value)
    if value is not None:
        assert repr(value) in str(cause)


def test_a_queue_that_names_a_job_which_is_gone_gives_out_the_others(
    storage_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Target(storage_url) as target:
        target.flush()
        target.call("put", "1400000000", "w1", "alpha", "gone", "K", "{}", "0")
        target.call("put", "1400000000", "w1", "gamma", "there", "K", "{}", "0")
        target.call("pop", "1400000001", "alpha", "w1", "1")
        # Retry puts the job into the queue that it is told; its hash still says alpha.
        target.call("retry", "1400000002", "gone", "gamma", "w1", "0")
        target.call("cancel", "1400000003", "gone")
        reply = target.call(*CRASHES[DANGLING])
        assert isinstance(reply, str)
        assert [job["jid"] for job in json.loads(reply)] == ["there"]
        assert "ql:q:gamma-work" not in target.snapshot()
    assert "gone" in caplog.text
