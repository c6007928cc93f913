# SPDX-License-Identifier: MIT
"""How a worker gives a job back at no cost."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from pyqless.conformance import Target
from pyqless.core.releasing import release
from pyqless.errors import JobLost, JobNotFound, NotRunning
from tests.unit.core.examples import content as content_of


def content(core: Target) -> dict[str, Any]:
    snapshot = core.snapshot()
    return {key: content_of(snapshot, key) for key in snapshot}


def give_back(core: Target, now: float, jid: str = "J", **options: Any) -> None:
    options = {"worker": "w", "why": "stopping", **options}
    core._storage.run(partial(release, jid=jid, **options), now)


def in_hand(core: Target, retries: int = 5) -> None:
    core.call("put", "100", "w", "q", "J", "klass", "{}", "0", "retries", str(retries))
    core.call("pop", "110", "q", "w", "1")


def test_no_retry_is_spent_and_the_job_is_next(core: Target) -> None:
    in_hand(core, retries=0)
    core.call("put", "101", "w", "q", "K", "klass", "{}", "0", "priority", "9")
    give_back(core, 120.0)

    after = content(core)
    assert after["ql:j:J"]["state"] == "waiting"
    assert after["ql:j:J"]["remaining"] == "0"
    assert "ql:q:q-locks" not in after
    assert "ql:w:w:jobs" not in after
    assert [job["jid"] for job in _popped(core, 130)] == ["J"]


def _popped(core: Target, now: int) -> Any:
    return json.loads(str(core.call("pop", str(now), "q", "v", "1")))


def test_the_history_says_why(core: Target) -> None:
    in_hand(core)
    give_back(core, 120.0)
    last = json.loads(content(core)["ql:j:J-history"][-1])
    assert last == [120, "released", {"why": "stopping", "worker": "w"}]


def test_it_can_be_put_off(core: Target) -> None:
    in_hand(core)
    give_back(core, 120.0, delay=5.0)
    assert content(core)["ql:j:J"]["state"] == "scheduled"
    assert _popped(core, 124) == {}  # the core writes an empty list so
    assert [job["jid"] for job in _popped(core, 125)] == ["J"]


def test_a_lock_in_its_grace_period_begins_anew(core: Target) -> None:
    in_hand(core)
    core.call("pop", "171", "q", "v", "1")
    assert content(core)["ql:j:J"]["grace"] == "1"
    give_back(core, 172.0)
    assert "grace" not in content(core)["ql:j:J"]


def test_only_the_holder_of_the_lock_may(core: Target) -> None:
    in_hand(core)
    before = core.snapshot()
    with pytest.raises(JobLost):
        give_back(core, 120.0, worker="v")
    with pytest.raises(JobNotFound):
        give_back(core, 120.0, jid="nobody")
    assert core.snapshot() == before
    give_back(core, 120.0)
    with pytest.raises(NotRunning):
        give_back(core, 121.0)
