# SPDX-License-Identifier: MIT
"""What workers log of jobs, in each kind, read as the JSON that it is."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pyqless import Client
from pyqless.client.requests.effects import end_channel
from tests.workers import Worker, until

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc")

_RUNNER = """
import logging, os, time
from pyqless.worker import Finder, Retry, Runner, current_job, uses
from pyqless.worker.middleware import retry_on, time_limit

finder = Finder()

@finder.register("away")
@uses(retry_on(ConnectionError, backoff=lambda tries: 0.0))
def away(job):
    note()
    raise ConnectionError("away")

def note():
    current_job().logger.warning("trying", extra={"step": 1})

@finder.register("again")
async def again(job):
    raise Retry

@finder.register("late")
@uses(time_limit(0.3))
def late(job):
    while True:
        time.sleep(0.01)
        if job.data["listens"]:
            job.checkpoint()

@finder.register("itself")
def itself(job):
    job.fail("mine", "no good")

@finder.register("die")
def die(job):
    os._exit(3)

@finder.register("listen")
def listen(job):
    while True:
        time.sleep(0.01)
        job.checkpoint()

@finder.register("hang")
def hang(job):
    time.sleep(60)

runner = Runner(finder=finder)
"""

_OWN_LOG = """
handler = logging.StreamHandler()
handler.setFormatter(logging.Formatter("mine %(levelname)s %(message)s"))
logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
"""


@pytest.fixture
def client(one_redis_url: str) -> Iterator[Client]:
    with Client(one_redis_url) as client:
        yield client


def arguments(directory: Path, kind: str, text: str = _RUNNER) -> tuple[str, ...]:
    """Write the module of a runner, and give what makes the command use it."""
    (directory / "runs_and_logs.py").write_text(text)
    named = ("--path", str(directory), "--runner", "runs_and_logs:runner")
    return ("q", "--kind", kind, *(() if kind == "serial" else ("-c", "1")), *named)


def failures(worker: Worker) -> list[dict[str, Any]]:
    """Those of the log's records that tell of a failed job."""
    lines = [json.loads(line) for line in worker.log().splitlines()]
    return [told for told in lines if told.get("outcome") == "failed"]


@pytest.mark.parametrize("kind", ["serial", "threads", "asyncio", "forking"])
def test_every_job_that_fails_is_told_with_its_fields(
    client: Client, one_redis_url: str, tmp_path: Path, kind: str
) -> None:
    named = arguments(tmp_path, kind)
    with Worker(one_redis_url, *named, "--log-format", "json") as worker:
        queue = client.queues["q"]
        queue.put("away", jid="A", retries=1)
        queue.put("again", jid="B", retries=0)
        queue.put("late", {"listens": kind != "forking"}, jid="C")
        queue.put("itself", jid="D")
        queue.put("nothing", jid="E")
        until(lambda: len(failures(worker)) == 5, worker.log())
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()
        told = {failure["jid"]: failure for failure in failures(worker)}
        assert {jid: failure["group"] for jid, failure in told.items()} == {
            "A": "away:ConnectionError",
            "B": "failed-retries-q",
            "C": "late:TimeLimitExceeded",
            "D": "mine",
            "E": "nothing:CodeNotFound",
        }
        for jid, failure in told.items():
            assert failure["level"] == "WARNING"
            assert failure["klass"] == client.jobs[jid].klass_name
            assert failure["queue"] == "q"
            assert failure["seconds"] >= (0.3 if jid == "C" else 0)
            assert datetime.fromisoformat(failure["time"]).tzinfo is not None
            assert f"job {jid} ({failure['klass']}) from q failed" in failure["message"]
            assert f"(group {failure['group']})" in failure["message"]
        lines = [json.loads(line) for line in worker.log().splitlines()]
        trying = [line for line in lines if line["logger"] == "pyqless.job"]
        assert [(line["jid"], line["klass"], line["step"]) for line in trying] == [
            ("A", "away", 1)
        ] * 2


def test_a_job_whose_process_died_is_told_and_who_waits_for_its_end_hears_of_it(
    client: Client, one_redis_url: str, tmp_path: Path
) -> None:
    named = arguments(tmp_path, "forking")
    ended = client.storage.subscribe(end_channel(client.storage.keys, "J"))
    with Worker(one_redis_url, *named, "--log-format", "json") as worker:
        client.queues["q"].put("die", jid="J", retries=0)
        (told,) = until(lambda: failures(worker), worker.log())
        assert (told["jid"], told["klass"], told["group"]) == ("J", "die", "die:ChildDied")
        assert "the process that ran it ended with status 3" in told["message"]
        assert ended.get(5) is not None
        lines = map(json.loads, worker.log().splitlines())
        (died,) = [line for line in lines if line["level"] == "ERROR"]
        assert "ended with status 3, with J (die) in hand" in died["message"]
        assert [died[name] for name in ("jid", "klass", "queue")] == ["J", "die", "q"]
        assert died["worker"] == told["worker"]
    ended.close()


@pytest.mark.parametrize("kind", ["serial", "threads", "asyncio", "forking"])
def test_a_lock_that_is_gone_is_told_once_and_so_is_the_end_that_is_refused(
    client: Client, one_redis_url: str, tmp_path: Path, kind: str
) -> None:
    named = arguments(tmp_path, kind)
    with Worker(one_redis_url, *named, "--log-format", "json") as worker:
        queue = client.queues["q"]
        queue.put("listen", jid="lost")
        until(queue.running, worker.log())
        queue.pause()
        client.jobs["lost"].timeout()
        until(lambda: '"reason": "lost"' in worker.log(), worker.log())
        client.jobs["lost"].cancel()
        queue.unpause()
        queue.put("listen", jid="canceled")
        until(queue.running, worker.log())
        client.jobs["canceled"].cancel()
        until(lambda: '"reason": "canceled"' in worker.log(), worker.log())
        lines = [json.loads(line) for line in worker.log().splitlines()]
        of_jobs = [
            line for line in lines if line["level"] == "WARNING" and "child" not in line["message"]
        ]
        assert [(line["jid"], line.get("reason")) for line in of_jobs] == [
            ("lost", None),
            ("lost", "lost"),
            ("canceled", None),
            ("canceled", "canceled"),
        ]
        assert all(line["klass"] == "listen" and line["queue"] == "q" for line in of_jobs)


def test_a_job_that_is_cut_off_is_told_by_whoever_has_done_it(
    client: Client, one_redis_url: str, tmp_path: Path
) -> None:
    named = arguments(tmp_path, "forking")
    with Worker(one_redis_url, *named, "--log-format", "json", "--grace", "0") as worker:
        client.queues["q"].put("hang", jid="J")
        until(lambda: client.queues["q"].running() == ["J"], worker.log())
        worker.signal(signal.SIGTERM)
        assert worker.end() == 4, worker.log()
        lines = [json.loads(line) for line in worker.log().splitlines()]
        (told,) = [line for line in lines if line.get("outcome") == "stopped"]
        assert (told["jid"], told["reason"]) == ("J", "stopping")


@pytest.mark.parametrize("spawn", [False, True], ids=["fork", "spawn"])
def test_a_runner_may_set_up_the_log_of_children(
    client: Client, one_redis_url: str, tmp_path: Path, *, spawn: bool
) -> None:
    named = arguments(tmp_path, "forking", _RUNNER + _OWN_LOG)
    with Worker(one_redis_url, *named, *(["--spawn"] if spawn else [])) as worker:
        client.queues["q"].put("itself", jid="J")
        until(lambda: "job J (itself) from q failed" in worker.log(), worker.log())
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()
        logged = [line for line in worker.log().splitlines() if "told to" not in line]
        assert {line.split()[0] for line in logged} == {"mine"}
