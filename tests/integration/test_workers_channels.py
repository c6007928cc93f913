# SPDX-License-Identifier: MIT
"""A user who may do all but use channels, as a new user of Redis 7 is, cannot end a job: no worker begins with one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyqless import Client
from tests.servers import Server
from tests.workers import Worker, until

ROOT = Path(__file__).parent.parent.parent

#: all that the documentation asks for, as it seems
RIGHTS = (">pw", "on", "~*", "+@all", "-@scripting", "resetchannels")


@pytest.fixture
def url(one_redis_server: Server) -> Iterator[str]:
    """Give the URL of a user without channels."""
    one_redis_server.flush()
    with one_redis_server.client() as client:
        client.execute_command("ACL", "SETUSER", "mute", *RIGHTS)
        yield f"redis://mute:pw@127.0.0.1:{one_redis_server.port}/0"
        client.execute_command("ACL", "DELUSER", "mute")


@pytest.mark.parametrize("kind", ["forking", "serial", "threads", "asyncio"])
def test_a_user_without_channels_is_told_at_once(
    one_redis_server: Server, url: str, kind: str
) -> None:
    with Client(one_redis_server.url) as client:
        client.queues["q"].put("k", jid="J")
        line = [sys.executable, "-m", "pyqless", "worker", "q", "-m", "tests.worker_jobs"]
        done = subprocess.run(
            [*line, "--kind", kind, "--url", url],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "`pyqless doctor --acl worker`" in done.stderr
        assert "&ql:*" in done.stderr
        assert client.jobs["J"].state == "waiting"


def test_the_right_to_the_channels_of_pyqless_is_enough(one_redis_server: Server, url: str) -> None:
    with one_redis_server.client() as admin:
        admin.execute_command("ACL", "SETUSER", "mute", "&ql:*", "&ql:w:*")
    with (
        Client(one_redis_server.url) as client,
        Worker(url, "q", "--kind", "serial") as worker,
    ):
        worker.put(client, "touch", "J")
        until(lambda: client.jobs["J"].state == "complete", worker.log())
