# SPDX-License-Identifier: MIT
"""The parent of children hears of their lost locks."""

from __future__ import annotations

import pytest

from pyqless import Client
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
