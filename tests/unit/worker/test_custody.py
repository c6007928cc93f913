# SPDX-License-Identifier: MIT
"""The parent of children hears of their lost locks."""

from __future__ import annotations

import pytest

from pyqless import Client
from pyqless.errors import StoreUnavailable
from pyqless.worker.attempts import Attempt
from pyqless.worker.custody import Custody
from pyqless.worker.stopping import StopReason


@pytest.mark.parametrize("name", ["host-1", "w[1]", "w*", "w\\1"])
def test_a_lost_lock_is_told_whatever_the_worker_is_called(name: str) -> None:
    with Client("memory://", worker_name=f"{name}/1.1") as client:
        client.queues["mail"].put("k", jid="J")
        (job,) = client.queues["mail"].pop(1)
        attempt = Attempt.of(job, client.storage.clock())
        custody = Custody(client)
        custody.take(attempt, lambda: False)
        custody.keep(lambda: None)
        assert attempt.stopped is None

        client.jobs["J"].cancel()
        custody.keep(lambda: None)
        assert attempt.stopped is StopReason.CANCELED
        custody.close()


def _taken(client: Client, custody: Custody, jid: str, worker: str) -> Attempt:
    client.queues["mail"].put("k", jid=jid)
    with Client(client.storage.url, worker_name=worker) as child:
        (job,) = child.queues["mail"].pop(1)
    attempt = Attempt.of(job, client.storage.clock())
    custody.take(attempt, lambda: False)
    return attempt


def _refuse(*_: object) -> None:
    raise StoreUnavailable("the store is away")


@pytest.mark.parametrize("is_away", [False, True], ids=["one is lost", "the store is away"])
def test_a_job_that_ends_while_the_lock_of_another_is_not_renewed_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, *, is_away: bool
) -> None:
    with Client(f"memory://custody-{is_away}") as client:
        custody = Custody(client)
        lost, ended = (_taken(client, custody, f"J{n}", f"host-1/{n}.1") for n in (1, 2))
        client.jobs["J1"].cancel()
        if is_away:
            monkeypatch.setattr(client.storage, "run", _refuse)
        # both are due, since nobody has listened so far
        custody.keep(lambda: custody.release(ended))
        assert (lost.stopped is None, ended.stopped) == (is_away, None)
        custody.close()


def test_a_job_that_ended_while_its_own_lock_was_renewed_has_lost_nothing() -> None:
    with Client("memory://custody-own") as client:
        custody = Custody(client)
        ended = _taken(client, custody, "J", "host-1/1.1")
        client.jobs["J"].cancel()
        custody.keep(lambda: custody.release(ended))
        assert ended.stopped is None
        custody.close()


def test_a_lock_that_was_lost_is_forgotten_with_its_job() -> None:
    with Client("memory://custody-lost") as client:
        custody = Custody(client)
        lost = _taken(client, custody, "J", "host-1/1.1")
        client.jobs["J"].cancel()
        custody.keep(lambda: None)
        custody.release(lost)
        assert custody._suspended == {}
        custody.close()
