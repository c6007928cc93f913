# SPDX-License-Identifier: MIT
"""A store that refuses a worker is final, whatever its kind; one that is away is waited for."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyqless.client import Client
from pyqless.doctor import Role, acl_line
from pyqless.errors import StoreUnsupported
from pyqless.worker.refusals import trial
from tests.servers import Server
from tests.workers import Worker, until

ROOT = Path(__file__).parent.parent.parent
KINDS = ("forking", "serial", "threads", "asyncio")


@pytest.fixture
def server(one_redis_server: Server) -> Iterator[Server]:
    """Give an empty server that knows a user who may put jobs, and no more."""
    one_redis_server.flush()
    with one_redis_server.client() as client:
        line = acl_line(Role.PRODUCER, user="producer")
        client.execute_command(*shlex.split(line), ">pw")
        client.execute_command("ACL", "SETUSER", "nobody", "on", ">pw", "-@all")
        yield one_redis_server
        client.execute_command("ACL", "DELUSER", "producer", "nobody")


def run(kind: str, url: str, queue: str = "q") -> tuple[int, str]:
    line = [sys.executable, "-m", "pyqless", "worker", queue, "-m", "tests.worker_jobs"]
    done = subprocess.run(
        [*line, "--kind", kind, "--url", url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("user", "database", "words"),
    [
        ("nobody:s3cret@", 0, "does not let us in"),
        ("", 99, "DB index is out of range"),
        ("nobody:pw@", 0, "forbids"),
    ],
    ids=["a wrong password", "no such database", "no rights"],
)
def test_a_store_that_refuses_us_is_final(
    server: Server, kind: str, user: str, database: int, words: str
) -> None:
    status, told = run(kind, f"redis://{user}127.0.0.1:{server.port}/{database}")
    assert status == 1
    assert told.startswith("pyqless: ")
    assert words in told
    assert told.count("\n") == 1
    assert "s3cret" not in told


@pytest.mark.parametrize("kind", KINDS)
def test_too_few_rights_to_take_jobs_are_final_too(server: Server, kind: str) -> None:
    status, told = run(kind, f"redis://producer:pw@127.0.0.1:{server.port}/0")
    assert status == 1
    assert "lacks or forbids" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("right", ["-zcard", "-hgetall"])
def test_they_are_final_where_queues_are_named_by_a_pattern(
    server: Server, kind: str, right: str
) -> None:
    """Whether it may not look which queues there are, or may not look into the one that there is."""
    with server.client() as admin:
        admin.execute_command("ACL", "SETUSER", "producer", "+@all", right)
    with Client(f"redis://127.0.0.1:{server.port}/0") as client:
        client.queues["emails"].put("tests.worker_jobs.Nothing")
    status, told = run(kind, f"redis://producer:pw@127.0.0.1:{server.port}/0", "e*")
    assert status == 1
    assert f"forbids {right[1:].upper()}" in told
    assert "Traceback" not in told


def test_a_file_that_is_no_store_is_final(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    path.write_text("this is no database, and will not become one")
    path.chmod(0o400)
    status, told = run("serial", f"sqlite:///{path}")
    assert status == 1
    assert told.count("\n") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_without_a_directory_is_final(tmp_path: Path, kind: str) -> None:
    status, told = run(kind, f"sqlite:///{tmp_path}/missing/jobs.db")
    assert status == 1
    assert told.startswith(f"pyqless: {tmp_path}/missing/jobs.db: there is no directory")
    assert told.count("\n") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_that_is_no_file_is_final(tmp_path: Path, kind: str) -> None:
    status, told = run(kind, f"sqlite:///{tmp_path}")
    assert status == 1
    assert told.startswith(f"pyqless: {tmp_path}: it cannot be opened")
    assert told.count("\n") == 1


@pytest.mark.parametrize("kind", ["serial", "threads", "asyncio"])
def test_rights_that_are_taken_away_later_are_waited_for(server: Server, kind: str) -> None:
    """A store that has served once may have a bad moment only."""
    with server.client() as admin:
        line = acl_line(Role.WORKER, user="producer")
        admin.execute_command(*shlex.split(line))
        with Worker(
            f"redis://producer:pw@127.0.0.1:{server.port}/0", "q", "--kind", kind
        ) as worker:
            until(lambda: admin.exists("ql:py:workers"), "it is at work")
            until(lambda: admin.pubsub_channels("ql:log"), "it has looked")
            admin.execute_command("ACL", "SETUSER", "producer", "-zrange")
            until(lambda: "no jobs for now" in worker.log(), "it is noticed")
            admin.execute_command("ACL", "SETUSER", "producer", "+zrange")
            until(lambda: "the store is back" in worker.log(), "it goes on")


@pytest.mark.parametrize("right", ["-publish", "-hset", "-zrem", "-del", "-multi"])
def test_a_trial_is_taken_from_workers_and_from_nobody_who_could_end_no_job(
    server: Server, right: str
) -> None:
    """Else one that is refused an end would never take jobs again, or at once."""
    with server.client() as admin:
        line = acl_line(Role.WORKER, user="producer")
        admin.execute_command(*shlex.split(line))
        with Client(f"redis://producer:pw@127.0.0.1:{server.port}/0") as client:
            client.storage.run(trial("w"))
            assert not admin.keys("ql:py:worker*")
            admin.execute_command("ACL", "SETUSER", "producer", right)
            with pytest.raises(StoreUnsupported, match=right[1:].upper()):
                client.storage.run(trial("w"))
