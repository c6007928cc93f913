# SPDX-License-Identifier: MIT
"""The key map: the names that qless-core gives its keys and channels."""

from __future__ import annotations

from pyqless.core.keys import RESERVED_SUFFIXES, Keys

#: base.lua, job.lua, queue.lua, recurring.lua and worker.lua
NAMES = {
    "completed": "ql:completed",
    "config": "ql:config",
    "failures": "ql:failures",
    "paused": "ql:paused_queues",
    "queues": "ql:queues",
    "tag_counts": "ql:tags",
    "tracked": "ql:tracked",
    "workers": "ql:workers",
    "own": "ql:py:",
}


def test_keys_that_there_is_one_of() -> None:
    keys = Keys()
    assert {name: getattr(keys, name) for name in NAMES} == NAMES


def test_keys_of_something() -> None:
    keys = Keys()
    assert [
        *(keys.job("J"), keys.history("J"), keys.dependents("J"), keys.dependencies("J")),
        *(keys.recurring_job("R"), keys.failed("group"), keys.tag("tag")),
        *(keys.work("q"), keys.locks("q"), keys.scheduled("q"), keys.depends("q"), keys.recur("q")),
        *(keys.worker_jobs("w"), keys.statistics("wait", "86400", "q"), keys.fence("lane")),
        *(keys.channel("log"), keys.worker_channel("w")),
    ] == [
        *("ql:j:J", "ql:j:J-history", "ql:j:J-dependents", "ql:j:J-dependencies"),
        *("ql:r:R", "ql:f:group", "ql:t:tag"),
        *("ql:q:q-work", "ql:q:q-locks", "ql:q:q-scheduled", "ql:q:q-depends", "ql:q:q-recur"),
        *("ql:w:w:jobs", "ql:s:wait:86400:q", "ql:py:fence:lane"),
        *("ql:log", "ql:w:w"),
    ]


def test_another_namespace() -> None:
    keys = Keys("{mine}")
    assert keys.namespace == "{mine}"
    assert keys.job("J") == "{mine}:j:J"
    assert keys.config == "{mine}:config"
    assert keys.channel("log") == "{mine}:log"
    assert keys.own == "{mine}:py:"
    assert repr(keys) == "Keys('{mine}')"


def test_reserved_endings_are_those_that_a_job_has_keys_with() -> None:
    keys = Keys()
    of_j = (keys.history("J"), keys.dependents("J"), keys.dependencies("J"))
    assert tuple(keys.job("J" + suffix) for suffix in RESERVED_SUFFIXES) == of_j
