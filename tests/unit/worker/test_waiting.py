# SPDX-License-Identifier: MIT
"""How workers wait, and what wakes them."""

from __future__ import annotations

import threading
import time
from itertools import count

import pytest

from pyqless import Client, Queue
from pyqless.errors import StoreUnavailable
from pyqless.worker.control import Control, Phase
from pyqless.worker.fetching import Fetcher, Lookout
from pyqless.worker.waiting import Backoff, Bell
from tests.unit.worker.conftest import Clock


def never() -> bool:
    return False


def test_pauses_grow_up_to_a_cap_and_begin_anew() -> None:
    backoff = Backoff(1.0, 5.0, chance=lambda: 1.0)
    assert [backoff.next() for _ in range(4)] == [1.0, 2.0, 4.0, 5.0]
    assert not backoff.is_fresh
    backoff.reset()
    assert backoff.is_fresh
    assert Backoff(1.0, 5.0, chance=lambda: 0.0).next() == 0.5


def test_a_put_wakes_a_worker_long_before_the_interval_is_over(
    client: Client, queue: Queue
) -> None:
    bell = Bell(client, 60.0, never)
    bell.wait(["mail"])  # begins to listen, and looks once more
    threading.Timer(0.1, lambda: queue.put("klass", {})).start()
    begun = time.monotonic()
    bell.wait(["mail"])
    assert time.monotonic() - begun < 20
    bell.close()


def test_what_was_said_while_nobody_listened_wakes_once(client: Client, queue: Queue) -> None:
    asked = count()
    bell = Bell(client, 0.2, lambda: next(asked) < 0)
    bell.wait(["mail"])
    for _ in range(50):
        queue.put("klass", {})
    bell.wait(["mail"])
    assert next(asked) == 0, "it does not wait"
    begun = time.monotonic()
    bell.wait(["mail"])
    assert time.monotonic() - begun >= 0.15
    bell.close()


def test_other_queues_do_not_wake(client: Client) -> None:
    bell = Bell(client, 0.2, never)
    bell.wait(["mail"])
    client.queues["other"].put("klass", {})
    begun = time.monotonic()
    bell.wait(["mail"])
    assert time.monotonic() - begun >= 0.15
    bell.close()


def test_orders_end_a_wait(client: Client) -> None:
    begun = time.monotonic()
    Bell(client, 60.0, lambda: True, listen=False).wait(["mail"])
    assert time.monotonic() - begun < 20


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
