# SPDX-License-Identifier: MIT
"""``pyqless.compat.qless``: events, how jobs are run, and workers."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import redis

from pyqless.compat import qless
from pyqless.compat.qless.job import BaseJob
from pyqless.compat.qless.listener import Listener
from pyqless.compat.qless.workers import Worker
from pyqless.compat.qless.workers.forking import ForkingWorker
from pyqless.compat.qless.workers.greenlet import GeventWorker
from pyqless.compat.qless.workers.serial import SerialWorker
from pyqless.errors import InvalidArgument
from tests.workers import is_alive, until

HERE = f"{__name__}."


@pytest.fixture
def client(store_url: str) -> Iterator[qless.Client]:
    """Give a client of a store in memory, and of a Redis."""
    client = qless.Client(store_url, hostname="ann")
    yield client
    client.close()


def put(client: qless.Client, method: str, klass: str = "Klass", **options: Any) -> None:
    client.queues[method].put(HERE + klass, {}, jid="J", **options)


def seen(client: qless.Client, jid: str = "J") -> qless.Job:
    [job] = client.jobs.get(jid)
    return job


# -- messages ---------------------------------------------------------------------------------


def test_callbacks_hear_all_that_is_said_while_the_thread_runs(client: qless.Client) -> None:
    heard: list[str] = []
    events = client.events
    for name in ("popped", "completed", "put"):
        events.on(name, lambda jid, name=name: heard.append(f"{name} {jid}"))  # type: ignore[misc]
    assert events.off("put") is not None
    put(client, "q")
    client.track("J")
    with events.thread():
        client.queues["q"].pop().complete("q")
    assert heard == ["popped J", "completed J"]
    events.on("put", lambda jid: heard.append(f"put {jid}"))
    with events.thread():  # a second time, and again after off: qless-py can do neither
        seen(client).move("other")
    assert heard[2:] == ["put J"]


def test_there_are_no_other_events(client: qless.Client) -> None:
    with pytest.raises(NotImplementedError, match='callback "nonsense"'):
        client.events.on("nonsense", print)
    assert client.events.off("nonsense") is None


def test_a_listener_listens_to_redis_py_until_told_otherwise(one_redis_url: str) -> None:
    with redis.Redis.from_url(one_redis_url) as connection:
        listener = Listener(connection, ["channel"])
        listener.subscribe()
        connection.publish("channel", "said")
        messages = listener.listen()
        expected = {"type": "message", "pattern": None, "channel": "channel", "data": "said"}
        assert next(messages) == expected
        threading.Timer(0.05, listener.unlisten).start()
        assert next(messages, None) is None


# -- how jobs are run -------------------------------------------------------------------------


class Klass:
    """What the jobs here run."""

    wrong = "text"

    @staticmethod
    def by_queue(job: qless.Job) -> None:
        job["ran"] = "by_queue"
        job.complete()

    @staticmethod
    def raises(job: qless.Job) -> None:
        raise ValueError("password=secret")

    @staticmethod
    @qless.retry(KeyError, LookupError)
    def expected(job: qless.Job) -> None:
        """Say something."""
        raise IndexError if job.retries_left > 3 else ValueError

    def unbound(self, job: qless.Job) -> None:
        """Not to be called with a job alone."""


class Process(Klass):
    """One with a method for all queues."""

    @staticmethod
    def process(job: qless.Job) -> None:
        job["ran"] = "process"
        job.complete()


@pytest.mark.parametrize(
    ("queue", "klass", "ran"), [("by_queue", "Process", "by_queue"), ("q", "Process", "process")]
)
def test_a_method_is_named_like_the_queue(
    client: qless.Client, queue: str, klass: str, ran: str
) -> None:
    put(client, queue, klass)
    client.queues[queue].pop().process()
    assert (seen(client).state, seen(client)["ran"]) == ("complete", ran)


@pytest.mark.parametrize(
    ("queue", "klass", "group"),
    [
        ("raises", "Klass", "raises-ValueError"),
        ("unbound", "Klass", "unbound-TypeError"),
        ("q", "Klass", "q-method-missing"),
        ("wrong", "Klass", "wrong-method-type"),
        ("q", "Missing", "q-AttributeError"),
    ],
)
def test_a_job_that_cannot_be_run_fails(
    client: qless.Client, queue: str, klass: str, group: str
) -> None:
    put(client, queue, klass)
    client.queues[queue].pop().process()
    assert (seen(client).state, seen(client).failure["group"]) == ("failed", group)


@pytest.mark.parametrize(
    ("name", "group"), [("no.such.Module", "q-ImportError"), ("NoModule", "q-ValueError")]
)
def test_a_job_whose_module_is_missing_fails(client: qless.Client, name: str, group: str) -> None:
    client.queues["q"].put(name, {}, jid="J")
    client.queues["q"].pop().process()
    assert seen(client).failure["group"] == group


def test_a_failure_tells_the_traceback_without_secrets(client: qless.Client) -> None:
    put(client, "raises")
    client.queues["raises"].pop().process()
    message = seen(client).failure["message"]
    assert message.startswith("Traceback (most recent call last):\n")
    assert message.endswith("ValueError: password=***")


def test_what_was_to_be_expected_is_tried_again(client: qless.Client) -> None:
    assert Klass.expected.__doc__ == "Say something."
    put(client, "expected")
    queue = client.queues["expected"]
    for _ in range(2):
        queue.pop().process()
    assert (seen(client).state, seen(client).retries_left) == ("waiting", 3)
    queue.pop().process()
    assert seen(client).failure["group"] == "expected-ValueError"


def test_code_that_has_changed_is_loaded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = qless.Client("memory://")
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "changing_code.py"
    for number in (1, 20):
        module.write_text(f"class Klass:\n    number = {number}\n")
        client.queues["q"].put("changing_code.Klass", {}, jid="J")
        assert seen(client).klass.number == number
        BaseJob.reload("changing_code.Klass")
    module.unlink()  # its age is not known any more
    assert seen(client).klass.number == 20
    monkeypatch.delitem(sys.modules, "changing_code")


# -- workers in this process ------------------------------------------------------------------


class Few(SerialWorker):
    """One that ends as soon as it finds nothing, and takes no signals."""

    def jobs(self) -> Iterator[qless.Job | None]:
        return takewhile(bool, super().jobs())

    def signals(self, *_: Any) -> None:
        """Take none."""


def test_jobs_are_divided_evenly() -> None:
    assert Worker.divide(range(5), 2) == [[0, 2, 4], [1, 3]]
    assert Worker.divide([], 2) == [[], []]


def test_a_sandbox_is_empty_before_and_after(tmp_path: Path) -> None:
    sandbox = tmp_path / "some" / "where"
    sandbox.mkdir(parents=True)
    (sandbox / "old").touch()
    with Worker.sandbox(str(sandbox)):
        assert list(sandbox.iterdir()) == []
        (sandbox / "new").mkdir()
    assert list(sandbox.iterdir()) == []
    (sandbox / "new").touch()
    Worker.clean(sandbox)
    assert list(sandbox.iterdir()) == []


def test_a_worker_takes_queues_and_names(client: qless.Client) -> None:
    worker = Worker(["a", client.queues["b"]], client, interval=3)
    assert [queue.name for queue in worker.queues] == ["a", "b"]
    assert (worker.interval, worker.resume, worker.shutdown) == (3, [], False)
    assert worker.kwargs == {"interval": 3}
    with pytest.raises(NotImplementedError, match='must override "kill"'):
        worker.kill("J")


def test_queues_take_turns_and_jobs_are_taken_one_by_one(client: qless.Client) -> None:
    for queue, jid in [("a", "A1"), ("a", "A2"), ("b", "B1")]:
        client.queues[queue].put("Klass", {}, jid=jid)
    jobs = Worker(["a", "b"], client).jobs()
    first = next(jobs)
    assert first is not None
    assert (first.jid, client.queues["b"].counts["running"]) == ("A1", 0)
    assert [job and job.jid for job in (next(jobs), next(jobs), next(jobs))] == ["B1", "A2", None]


def test_jobs_in_hand_are_resumed_unless_lost(client: qless.Client) -> None:
    for jid, queue in [("A", "q"), ("B", "other"), ("C", "q")]:
        client.queues[queue].put("Klass", {}, jid=jid)
        client.queues[queue].pop()
    worker = Worker(["q"], client, resume=True)
    assert sorted(job.jid for job in worker.resume) == ["A", "C"]
    seen(client, "C").timeout()
    seen(client, "C").cancel()
    resumed = [job.jid for job in Few(["q"], client, resume=worker.resume).jobs() if job]
    assert resumed == ["A"]


class Looks:
    """Looks around."""

    @staticmethod
    def q(job: qless.Job) -> None:
        job["sandbox"] = job.sandbox
        Path(job.sandbox, "mess").touch()
        job.complete()


def test_jobs_are_run_in_turn(client: qless.Client, tmp_path: Path) -> None:
    jids = [client.queues["q"].put(HERE + "Looks", {}) for _ in range(3)]
    Few(["q"], client, sandbox=str(tmp_path)).run()
    assert {seen(client, jid)["sandbox"] for jid in jids} == {str(tmp_path)}
    assert client.jobs.complete() == [*reversed(jids)]
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_sleeps_can_be_stopped(client: qless.Client) -> None:
    class Quiet(SerialWorker):
        def signals(self, *_: Any) -> None:
            """Take none."""

    worker = Quiet(["q"], client, interval=60)
    thread = threading.Thread(target=worker.run)
    thread.start()
    worker.stop()
    thread.join(5)
    assert not thread.is_alive()


def test_a_worker_hears_what_becomes_of_its_jobs(client: qless.Client) -> None:
    killed: list[str] = []

    class Kills(Few):
        def kill(self, jid: str) -> None:
            killed.append(jid)
            raise KeyboardInterrupt  # even that must not end the listening

    for jid in ("A", "B"):
        client.queues["q"].put("Klass", {}, jid=jid)
    jobs = client.queues["q"].pop(2)
    with Kills(["q"], client).listener():
        jobs[0].timeout()
        jobs[1].cancel()
    assert killed == ["A", "B"]


def test_children_cannot_share_memory() -> None:
    client = qless.Client("memory://")
    with pytest.raises(InvalidArgument, match="children cannot share memory://"):
        ForkingWorker(["q"], client)
    client.close()


def test_what_children_run_is_a_class_or_its_name(one_redis_url: str) -> None:
    client = qless.Client(one_redis_url)
    worker = ForkingWorker(["q"], client, workers=3, interval=7)
    assert (worker.count, type(worker.spawn())) == (3, SerialWorker)
    worker = ForkingWorker(["q"], client, klass="qless.workers.serial.SerialWorker", interval=7)
    child = worker.spawn(sandbox="here")
    assert (type(child), child.interval, child.sandbox) == (SerialWorker, 7, "here")
    client.close()


def test_greenlets(client: qless.Client, tmp_path: Path) -> None:
    gevent = pytest.importorskip("gevent")

    class FewGreenlets(GeventWorker):
        def jobs(self) -> Iterator[qless.Job | None]:
            return takewhile(bool, super().jobs())

        def signals(self, *_: Any) -> None:
            """Take none."""

    jids = [client.queues["q"].put(HERE + "Looks", {}) for _ in range(3)]
    worker = FewGreenlets(["q"], client, greenlets=1, sandbox=str(tmp_path))
    worker.run()
    assert client.jobs.complete() == [*reversed(jids)]
    assert {seen(client, jid)["sandbox"] for jid in jids} == {str(tmp_path / "greenlet-0")}
    worker.greenlets["J"] = greenlet = gevent.spawn(gevent.sleep, 60)
    for jid in ("J", "unknown"):
        worker.kill(jid)
    assert isinstance(greenlet.get(), gevent.GreenletExit)


def test_greenlets_need_gevent(client: qless.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gevent", None)
    with pytest.raises(ImportError, match="GeventWorker needs gevent"):
        GeventWorker(["q"], client)


# -- workers in processes of their own --------------------------------------------------------

#: a program that was written for qless-py, but for its first two lines
PROGRAM = """
from pyqless.compat import qless
qless.install()

import os, sys, time
import qless
from qless.workers.forking import ForkingWorker
from qless.workers.serial import SerialWorker

class Work:
    @staticmethod
    def q(job):
        note(job, "began")
        if job["cancels"]:
            job.cancel()
        if job["dies"] and not os.path.exists("../died"):
            open("../died", "x").close()
            os.abort()
        time.sleep(job["seconds"] or 0)
        note(job, "ended")
        if not job["cancels"]:
            job.complete()

def note(job, what):
    with open(job["notes"], "a") as notes:
        notes.write(f"{what} {job.jid} {os.getpid()} {os.getcwd()}\\n")

def main(kind, url):
    client = qless.Client(url, hostname="ann")
    kind = {"serial": SerialWorker, "forking": ForkingWorker}[kind]
    kind(["q"], client, interval=0.1, workers=1).run()

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


class Program:
    """The program, at work in a directory of its own."""

    def __init__(self, url: str, kind: str, directory: Path) -> None:
        self.notes_path = directory / "notes"
        self.directory = directory
        (directory / "program.py").write_text(PROGRAM)
        with (directory / "told").open("w") as told:
            self.process = subprocess.Popen(
                [sys.executable, "program.py", kind, url],
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stderr=told,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(directory), *sys.path])},
                start_new_session=True,
            )

    def put(self, client: qless.Client, jid: str, **data: Any) -> None:
        data["notes"] = str(self.notes_path)
        client.queues["q"].put("program.Work", data, jid=jid)

    def noted(self, what: str, jid: str) -> list[str]:
        """The process id and working directory of the first who has noted it."""

        def lines() -> list[str]:
            text = self.notes_path.read_text() if self.notes_path.exists() else ""
            return [line for line in text.splitlines() if line.startswith(f"{what} {jid} ")]

        found: list[str] = until(lines, f"{jid} {what}")
        return found[0].split(" ", 3)[2:]

    def end(self) -> tuple[int, str]:
        """Wait for its end, and give its exit status and what it has said on standard error."""
        return self.process.wait(timeout=20), (self.directory / "told").read_text()

    def kill(self) -> None:
        """End it and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def program(one_redis_url: str, tmp_path: Path) -> Iterator[Callable[[str], Program]]:
    """Start the program with a kind of worker; afterwards neither it nor a child of it is there."""
    programs: list[Program] = []

    def start(kind: str) -> Program:
        programs.append(Program(one_redis_url, kind, tmp_path))
        return programs[-1]

    yield start
    for program in programs:
        program.kill()


@pytest.fixture
def redis_client(one_redis_url: str) -> Iterator[qless.Client]:
    client = qless.Client(one_redis_url, hostname="ann")
    yield client
    client.close()


def test_a_lost_job_ends_with_its_process(
    program: Callable[[str], Program], redis_client: qless.Client
) -> None:
    worker = program("serial")
    worker.put(redis_client, "J", seconds=60)
    worker.noted("began", "J")
    began = time.monotonic()
    redis_client.jobs.get("J")[0].timeout()
    assert worker.end() == (1, "")
    assert time.monotonic() - began < 10


def test_a_job_that_cancels_itself_goes_on(
    program: Callable[[str], Program], redis_client: qless.Client
) -> None:
    worker = program("serial")
    worker.put(redis_client, "J", cancels=True, seconds=0.5)
    worker.noted("ended", "J")
    worker.put(redis_client, "K")
    worker.noted("ended", "K")
    assert redis_client.jobs["J"] is None
    worker.process.send_signal(signal.SIGQUIT)
    assert worker.end() == (0, "")


def test_a_warning_alone_ends_nothing(
    program: Callable[[str], Program], redis_client: qless.Client
) -> None:
    redis_client.config["heartbeat"] = 0.3
    worker = program("serial")
    worker.put(redis_client, "J", seconds=1.5)
    worker.noted("began", "J")
    other = qless.Client(str(redis_client.storage.url), hostname="bob")
    until(lambda: (other.queues["q"].pop(), seen(other).history[-1]["what"] == "timed-out")[1])
    worker.noted("ended", "J")
    until(lambda: seen(other).state == "complete")
    other.close()
    worker.process.send_signal(signal.SIGQUIT)
    assert worker.end() == (0, "")


def test_a_stack_is_shown_and_the_job_goes_on(
    program: Callable[[str], Program], redis_client: qless.Client
) -> None:
    worker = program("serial")
    worker.put(redis_client, "J", seconds=0.5)
    worker.noted("began", "J")
    worker.process.send_signal(signal.SIGUSR1)
    worker.noted("ended", "J")
    worker.process.send_signal(signal.SIGQUIT)
    status, told = worker.end()
    assert status == 0
    assert told.startswith(f"Signaled traceback for {worker.process.pid}:\n")
    assert "time.sleep(job" in told


def test_children_are_replaced_and_end_with_their_parent(
    program: Callable[[str], Program], redis_client: qless.Client
) -> None:
    worker = program("forking")
    worker.put(redis_client, "J", dies=True)
    died, directory = worker.noted("began", "J")
    assert directory == str(worker.directory / "qless-py-workers" / "sandbox-0")
    redis_client.jobs.get("J")[0].timeout()
    child, directory = worker.noted("ended", "J")
    assert child != died
    assert directory == str(worker.directory / "qless-py-workers" / "sandbox-0")
    worker.put(redis_client, "K", seconds=60)
    worker.noted("began", "K")
    worker.process.send_signal(signal.SIGTERM)
    assert worker.end() == (0, "")
    until(lambda: not is_alive(int(child)))


def test_children_may_finish_their_jobs(
    program: Callable[[str], Program], redis_client: qless.Client
) -> None:
    worker = program("forking")
    worker.put(redis_client, "J", seconds=0.5)
    worker.noted("began", "J")
    worker.process.send_signal(signal.SIGQUIT)
    assert worker.end() == (0, "")
    assert seen(redis_client).state == "complete"
