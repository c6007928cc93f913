# SPDX-License-Identifier: MIT
"""What dead children have left behind, while the store is away."""

from __future__ import annotations

import pytest

from pyqless import Client, Queue
from pyqless.errors import StoreUnavailable
from pyqless.worker.attempts import Attempt
from pyqless.worker.estates import Estates
from pyqless.worker.leftovers import release
from tests.unit.worker.conftest import Clock


def away(*_: object) -> None:
    raise StoreUnavailable("away")


def test_what_is_not_settled_in_time_is_left_to_its_lock(
    client: Client,
    queue: Queue,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue.put("k", {}, jid="J")
    (job,) = queue.pop(1)
    estates = Estates(client)
    estates.add("ann", release("ann", "stopping"), [Attempt.of(job, clock.now)])
    clock.now += 2
    with monkeypatch.context() as patch:
        patch.setattr(client.storage, "run", away)
        for _ in range(3):
            estates.settle()
            estates._try_at = 0.0
        estates.settle_within(0.0)
    assert caplog.messages == [
        "what ann has left is seen to later: away",
        "job J (k) is left to its lock after 2.000 s: the store does not hear of it",
    ]
    left = caplog.records[-1]
    fields = {"jid": "J", "klass": "k", "queue": "mail", "worker": "ann", "outcome": "left"}
    assert fields.items() <= vars(left).items()
    estates._try_at = 0.0
    estates.settle_within(10.0)
    assert len(estates) == 0
    assert client.jobs["J"].state == "waiting"
