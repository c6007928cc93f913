# SPDX-License-Identifier: MIT
"""How workers wait for a store that is away, where they look for jobs, and the orders that they take."""

from __future__ import annotations

import pytest

from pyqless import Client, Queue
from pyqless.errors import StoreUnavailable
from pyqless.worker.control import Control, Phase
from pyqless.worker.fetching import Fetcher
from pyqless.worker.lookout import Lookout
from pyqless.worker.waiting import Backoff
from tests.unit.worker.conftest import Clock


def test_pauses_grow_up_to_a_cap_and_begin_anew() -> None:
    backoff = Backoff(1.0, 5.0, chance=lambda: 1.0)
    assert [backoff.next() for _ in range(4)] == [1.0, 2.0, 4.0, 5.0]
    assert not backoff.is_fresh
    backoff.reset()
    assert backoff.is_fresh
    assert Backoff(1.0, 5.0, chance=lambda: 0.0).next() == 0.5


def test_a_store_that_is_away_is_waited_for(
    client: Client, queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = Fetcher(client, Lookout(["mail"], None), Control(), listen=False)
    pauses: list[float] = []
    monkeypatch.setattr(fetcher._bell, "pause", pauses.append)
    queue.put("klass", {})
    run = client.storage.run

    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(client.storage, "run", away)
    assert [fetcher.fetch() for _ in range(3)] == [[], [], []]
    assert len(pauses) == 3
    assert all(pause > 0 for pause in pauses)
    monkeypatch.setattr(client.storage, "run", run)
    assert len(fetcher.fetch()) == 1
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        "no jobs for now, trying again: away",
        "the store is back",
    ]


def test_patterns_mean_the_queues_that_there_are(client: Client, clock: Clock) -> None:
    fetcher = Fetcher(client, Lookout(["*", "!other"], None), Control(), listen=False)
    client.queues["mail"].put("klass", {}, jid="A")
    client.queues["other"].put("klass", {}, jid="B")
    assert [job.jid for job in fetcher.fetch()] == ["A"]
    client.queues["new"].put("klass", {}, jid="C")
    assert fetcher.fetch() == []
    clock.now += 6
    assert [job.jid for job in fetcher.fetch()] == ["C"]


def test_a_worker_never_goes_back_to_an_earlier_phase() -> None:
    moments = iter([0.0, 9.0, 10.0])
    control = Control(grace=10.0, monotonic=lambda: next(moments))
    assert control.takes_jobs
    control.pause()
    assert (control.takes_jobs, control.is_running) == (False, True)
    control.stop()
    control.finish()
    assert control.phase is Phase.STOPPING
    assert not control.is_over
    assert control.is_over
    assert control.phase is Phase.ENDING


def test_a_second_stop_ends_at_once() -> None:
    control = Control(grace=1000.0)
    control.stop()
    assert not control.is_over
    control.stop()
    assert control.is_over
