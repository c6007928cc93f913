# SPDX-License-Identifier: MIT
"""The janitor, over its rules."""

from __future__ import annotations

import pytest

from pyqless import Client, Queue
from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreUnavailable
from pyqless.worker.janitor import Janitor, Report
from tests.unit.worker.conftest import Clock

DAY = 86400


def litter(client: Client, queue: Queue, clock: Clock) -> None:
    """Leave something of each kind behind."""
    for number in range(120):
        client.queues["mail"].put("klass", {}, jid=f"J{number:03}", tags=["blue"])
        client.jobs[f"J{number:03}"].track()
    queue.pop()
    clock.now += 40 * DAY
    queue.put("klass", {}, jid="late")
    queue.pop(200)
    client.jobs.cancel(*(f"J{number:03}" for number in range(119)))


def test_a_pass_cleans_all_and_a_second_one_finds_nothing(
    client: Client, queue: Queue, clock: Clock
) -> None:
    litter(client, queue, clock)
    looked = Janitor(client, dry=True).run()
    assert len(looked.tracked) == 119
    assert looked.statistics["mail"] >= 1
    assert looked.faults == []
    assert Janitor(client, dry=True).run() == looked
    done = Janitor(client).run()
    assert (done.tracked, done.statistics) == (looked.tracked, looked.statistics)
    assert not Janitor(client).run()
    assert [job.jid for job in client.jobs.tracked().jobs] == ["J119"]


def test_an_empty_store_is_clean(client: Client) -> None:
    assert Janitor(client).run() == Report()


def test_a_fault_is_reported_and_the_rest_is_done(
    client: Client, queue: Queue, clock: Clock
) -> None:
    litter(client, queue, clock)
    client.storage.run(_spoil)
    report = Janitor(client).run()
    assert len(report.faults) == 1
    assert "stats-history" in report.faults[0]
    assert len(report.tracked) == 119


def _spoil(tx: Transaction) -> Transition[None]:
    tx.hset(tx.keys.config, "stats-history", "long")
    return
    yield


def test_the_loop_goes_on_when_the_store_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def pause(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) < 3

    def away(*_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(client.storage, "run", away)
    Janitor(client).loop(60.0, pause)
    assert waits == [60.0] * 3
    with pytest.raises(StoreUnavailable):
        Janitor(client).run()
