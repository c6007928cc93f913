# SPDX-License-Identifier: MIT
"""The signal table, for each kind of worker, as processes on real stores: a file, and a server."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyqless import Client
from pyqless.worker import records
from tests.workers import Worker, is_alive, state, until

KINDS = ("forking", "serial", "threads", "asyncio")

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc")


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Repeat the test on both."""
    if request.param == "redis":
        return str(request.getfixturevalue("one_redis_url"))
    return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as client:
        yield client


def start(url: str, kind: str, *arguments: str) -> Worker:
    return Worker(url, "q", "--kind", kind, *([] if kind == "serial" else ["-c", "2"]), *arguments)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_term_and_int_let_jobs_end_within_the_grace_time(
    url: str, client: Client, kind: str, number: int
) -> None:
    with start(url, kind) as worker:
        worker.put(client, "sleep", "J", seconds=0.7)
        worker.began("J")
        worker.signal(number)
        assert worker.end() == 0, worker.log()
    assert state(client, "J") == "complete"
    assert client.workers.counts() == []
    assert records(client) == []


@pytest.mark.parametrize("kind", ["forking", "threads"])
def test_a_job_that_listens_goes_back_at_once(url: str, client: Client, kind: str) -> None:
    with start(url, kind, "--grace", "60") as worker:
        worker.put(client, "checkpoints", "J", seconds=60, retries=0)
        worker.began("J")
        worker.signal(signal.SIGTERM)
        assert worker.end() == 4, worker.log()
    job = client.jobs["J"]
    assert (job.state, job.remaining) == ("waiting", 0)


@pytest.mark.parametrize("kind", ["forking", "serial"])
@pytest.mark.parametrize("again", [False, True], ids=["when its time is over", "at the second"])
def test_a_job_that_does_not_is_cut_off_and_goes_back(
    url: str, client: Client, kind: str, *, again: bool
) -> None:
    with start(url, kind, "--grace", "60" if again else "0.3") as worker:
        worker.put(client, "sleep", "J", seconds=60, retries=0)
        worker.began("J")
        worker.signal(signal.SIGTERM)
        if again:
            until(lambda: "told to stop" in worker.log(), "the first is heard")  # or they may merge
            worker.signal(signal.SIGTERM)
        assert worker.end() == 4, worker.log()
        job = client.jobs["J"]
        assert (job.state, job.remaining) == ("waiting", 0), worker.log()
        assert worker.log().count("told to stop") == (2 if again else 1), "by others"
        assert worker.log().count("job J (tests.worker_jobs.sleep) stopped after") == 1


def test_a_coroutine_is_cancelled_and_goes_back(url: str, client: Client) -> None:
    with start(url, "asyncio", "--grace", "0.3") as worker:
        worker.put(client, "coroutine", "J", seconds=60)
        worker.began("J")
        worker.signal(signal.SIGTERM)
        assert worker.end() == 4, worker.log()
        assert [mark.what for mark in worker.marks()] == ["began", "left"]
        assert "lost" not in worker.log()
    assert state(client, "J") == "waiting"


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_a_thread_that_does_not_is_left_to_its_lock(url: str, client: Client, kind: str) -> None:
    """It might still be at work when another gets the job."""
    with start(url, kind, "--grace", "0.3") as worker:
        worker.put(client, "sleep", "J", seconds=60)
        worker.began("J")
        worker.signal(signal.SIGTERM)
        assert worker.end() == 4, worker.log()
        (told,) = [line for line in worker.log().splitlines() if "job J" in line]
        assert "job J (tests.worker_jobs.sleep) is left to its lock after" in told
    assert state(client, "J") == "running"


@pytest.mark.parametrize("kind", KINDS)
def test_quit_finishes_what_is_in_hand(url: str, client: Client, kind: str) -> None:
    with start(url, kind, "--grace", "0.1") as worker:
        worker.put(client, "checkpoints", "J", seconds=0.7)
        worker.began("J")
        worker.put(client, "sleep", "K", seconds=0, priority=-1)
        if kind != "serial":
            until(lambda: state(client, "K") == "complete")  # the other one takes it
        worker.signal(signal.SIGQUIT)
        assert worker.end() == 0, worker.log()
    assert state(client, "J") == "complete"
    if kind == "serial":
        assert state(client, "K") == "waiting"


@pytest.mark.parametrize("kind", KINDS)
def test_usr1_drops_what_is_in_hand_and_goes_on(url: str, client: Client, kind: str) -> None:
    # a thread cannot be stopped, only told
    klass = {"asyncio": "coroutine", "threads": "checkpoints"}.get(kind, "sleep")
    with start(url, kind) as worker:
        worker.put(client, klass, "J", seconds=60, retries=0)
        worker.began("J")
        client.queues["q"].pause()
        worker.signal(signal.SIGUSR1)
        until(lambda: state(client, "J") == "waiting", "J goes back")
        assert client.jobs["J"].remaining == 0
        client.jobs["J"].cancel()
        client.queues["q"].unpause()
        worker.put(client, "touch", "K")
        worker.began("K")
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()


@pytest.mark.parametrize("kind", KINDS)
def test_usr2_pauses_and_shows_stacks_and_cont_goes_on(url: str, client: Client, kind: str) -> None:
    with start(url, kind) as worker:
        worker.put(client, "touch", "A")
        worker.began("A")
        worker.signal(signal.SIGUSR2)
        until(lambda: "most recent call first" in worker.log(), "stacks")
        until(lambda: any(record.is_paused for record in records(client)), "it says so")
        worker.put(client, "touch", "B")
        assert not worker.marks("began B")
        assert state(client, "B") == "waiting"
        worker.signal(signal.SIGCONT)
        worker.began("B")
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()


#: a module of jobs, and one with a runner that knows those jobs by names of its own
JOBS = "from tests.worker_jobs import mark\ndef run(job):\n    mark(job, {word!r})\n"
RUNNER = """
from changing_jobs import run
from pyqless.worker import Finder, Runner
runner = Runner(finder=Finder(functions={"changing_jobs.run": run}))
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("named", [("-m", "changing_jobs"), ("--runner", "changing_work:runner")])
def test_hup_brings_new_code(
    url: str, client: Client, kind: str, named: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "changing_work.py").write_text(RUNNER)

    def write(word: str) -> None:
        (tmp_path / "changing_jobs.py").write_text(JOBS.format(word=word))

    def ask(jid: str, worker: Worker) -> str:
        client.queues["q"].put("changing_jobs.run", {"marks": worker.marks_path}, jid=jid)
        until(lambda: state(client, jid) == "complete", worker.log())
        return worker.marks()[-1].what

    write("old")
    arguments = ("--path", str(tmp_path), *named)
    with Worker(url, "q", "--kind", kind, *arguments, PYTHONDONTWRITEBYTECODE="1") as worker:
        assert ask("A", worker) == "old"
        write("new")
        before = worker.children()
        worker.signal(signal.SIGHUP)
        if kind == "forking":
            until(lambda: not set(before) & set(worker.children()), "children are replaced")
        else:
            until(lambda: ask(f"B{os.urandom(4).hex()}", worker) == "new", "new code")
        assert ask("C", worker) == "new"
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()


@pytest.mark.parametrize("named", [("-m", "changing_jobs"), ("--runner", "changing_work:runner")])
def test_hup_with_code_that_cannot_be_imported_keeps_the_old(
    tmp_path: Path, named: tuple[str, str]
) -> None:
    """Children are replaced all the same, and have the code that their parent has."""
    module, url = tmp_path / "changing_jobs.py", f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    module.write_text(JOBS.format(word="old"))
    (tmp_path / "changing_work.py").write_text(RUNNER)
    arguments = ("--kind", "forking", "-c", "1", "--path", str(tmp_path), *named)
    with (
        Worker(url, "q", *arguments, PYTHONDONTWRITEBYTECODE="1") as worker,
        Client(url) as client,
    ):
        (before,) = until(worker.children)
        module.write_text("def run(")
        worker.signal(signal.SIGHUP)
        until(lambda: "stays as it was" in worker.log() and "SyntaxError" in worker.log())
        until(lambda: worker.children() and before not in worker.children(), "it is replaced")
        client.queues["q"].put("changing_jobs.run", {"marks": worker.marks_path}, jid="J")
        until(lambda: state(client, "J") != "waiting" and worker.marks(), worker.log())
        assert worker.marks()[-1].what == "old"


def test_no_child_outlives_a_parent_that_is_killed(url: str, client: Client) -> None:
    with start(url, "forking") as worker:
        worker.put(client, "sleep", "J", seconds=60)
        worker.put(client, "spin", "K", seconds=60)
        pids = [worker.began(jid).pid for jid in ("J", "K")]
        worker.signal(signal.SIGKILL)
        worker.end()
        until(lambda: not any(map(is_alive, pids)), "the children end, too")


def test_a_child_that_is_told_to_end_finishes_and_is_replaced(url: str, client: Client) -> None:
    with Worker(url, "q", "--kind", "forking", "-c", "1") as worker:
        worker.put(client, "sleep", "J", seconds=0.5)
        first = worker.began("J").pid
        os.kill(first, signal.SIGTERM)
        worker.put(client, "touch", "K")
        assert worker.began("K").pid != first
        assert state(client, "J") == "complete"
        worker.signal(signal.SIGTERM)
        assert worker.end() == 0, worker.log()
