# SPDX-License-Identifier: MIT
"""When workers without work begin with a job that becomes due."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from pyqless import Client
from tests.workers import Worker

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc")

#: and how many jobs each is to run at once
KINDS = {"forking": ["-c", "1"], "threads": ["-c", "1"], "asyncio": ["-c", "1"], "serial": []}


def test_delayed_and_recurring_jobs_begin_when_they_are_due(one_redis_url: str) -> None:
    """Long before the next look, which is a minute away."""
    with ExitStack() as stack:
        client = stack.enter_context(Client(one_redis_url))
        workers = {
            kind: stack.enter_context(
                Worker(one_redis_url, kind, "--kind", kind, *count, "--interval", "60")
            )
            for kind, count in KINDS.items()
        }
        for kind, worker in workers.items():
            worker.put(client, "touch", f"first-{kind}", kind)
        for kind, worker in workers.items():
            worker.began(f"first-{kind}")
            data = {"marks": worker.marks_path}
            client.queues[kind].put("tests.worker_jobs.touch", data, jid=f"late-{kind}", delay=0.6)
            client.queues[kind].recur(
                "tests.worker_jobs.touch", data, 60, jid=f"recurs-{kind}", offset=0.6
            )
        for kind, worker in workers.items():
            worker.began(f"late-{kind}")
            worker.began(f"recurs-{kind}-1")
