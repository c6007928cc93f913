# SPDX-License-Identifier: MIT
"""track, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, Like, table

PUT = "put 100 me q J klass {} 0"


@table(
    Example(
        "base.lua: track",
        "track 110 track J",
        after=[PUT],
        reply="1",
        changes={"ql:tracked": {"J": 110.0}},
        messages=[("ql:track", "J")],
    ),
    Example(
        "C5: tracked already: 0, and a new moment",
        "track 120 track J",
        after=[PUT, "track 110 track J"],
        reply="0",
        changes={"ql:tracked": {"J": 120.0}},
        messages=[("ql:track", "J")],
    ),
    Example(
        "base.lua: untrack",
        "track 120 untrack J",
        after=[PUT, "track 110 track J"],
        reply="1",
        changes={"ql:tracked": None},
        messages=[("ql:untrack", "J")],
    ),
    Example(
        "C5: not tracked: 0",
        "track 120 untrack J",
        after=[PUT],
        reply="0",
        changes={},
        messages=[("ql:untrack", "J")],
    ),
    Example("C5: in any case", "track 110 TRACK J", after=[PUT], reply="1"),
    Example("C5: in any case", "track 110 unTrack J", after=[PUT], reply="0"),
    Example("base.lua: track, no job", "track 110 track J", error="Track(): Job does not exist"),
    Example(
        "C10: the jid of a cancelled job stays, and cannot be untracked",
        "track 130 untrack J",
        after=[PUT, "track 110 track J", "cancel 120 J"],
        error="Track(): Job does not exist",
    ),
    Example(
        "C6: the job is looked for before the action",
        "track 110 follow J",
        error="Track(): Job does not exist",
    ),
    Example(
        "base.lua: track, an unknown action",
        "track 110 Follow J",
        after=[PUT],
        error='Track(): Unknown action "Follow"',
    ),
)
def test_track(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example("base.lua: track, nothing", "track 110", reply={"jobs": {}, "expired": {}}, changes={}),
    Example(
        "base.lua: track, the jobs, and the jids without one",
        "track 130",
        after=[
            PUT,
            "put 101 me q K klass {} 0",
            "put 102 me q L klass {} 0",
            "track 112 track J",
            "track 111 track K",
            "track 110 track L",
            "cancel 120 K",
        ],
        reply={
            "jobs": [Like(jid="L", tracked=True, state="waiting"), Like(jid="J", tracked=True)],
            "expired": ["K"],
        },
        changes={},
    ),
    Example(
        "C12: track shows a job once that it untracked",
        "track 130",
        after=[PUT, "track 110 track J", "track 120 untrack J"],
        reply={"jobs": {}, "expired": {}},
    ),
)
def test_tracked_jobs(core: Target, example: Example) -> None:
    example.check(core)
