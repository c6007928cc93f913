# SPDX-License-Identifier: MIT
"""The kinds of workers that live in one process, on a store in memory."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest

from pyqless import AsyncClient, Client, Queue
from pyqless.errors import InvalidArgument
from pyqless.worker import (
    AsyncWorker,
    ExitCode,
    Finder,
    ForkingWorker,
    JobStopped,
    Limits,
    Runner,
    SerialWorker,
    Settings,
    ThreadWorker,
    forking,
    records,
    taking,
)
from pyqless.worker.control import Phase
from pyqless.worker.signals import NUDGE
from tests.unit.worker.conftest import Clock
from tests.workers import until

Kind = Callable[..., Any]


def settings(finder: Finder, **options: Any) -> Settings:
    return Settings(queues=["mail"], runner=Runner(finder=finder), interval=0.05, **options)


def run(kind: str, client: Client, url: str, options: Settings) -> ExitCode:
    """Run a worker of a kind in this thread, until a job or a limit ends it."""
    if kind == "serial":
        return SerialWorker(client, options).run()
    if kind == "threads":
        return ThreadWorker(client, options, 4).run()

    async def main() -> ExitCode:
        async_client = AsyncClient(url, worker_name="ann", clock=client.storage.clock)
        return await AsyncWorker(async_client, options, 4).run()

    return asyncio.run(main())


KINDS = pytest.mark.parametrize("kind", ["serial", "threads", "asyncio"])


@KINDS
def test_functions_and_coroutines_run_in_each_kind(
    client: Client, queue: Queue, url: str, finder: Finder, kind: str
) -> None:
    @finder.register("function")
    def function(job: Any) -> None:
        job["step"] = 1
        job.checkpoint()
        job.heartbeat()

    @finder.register("coroutine")
    async def coroutine(job: Any) -> None:
        job["step"] = 1
        await job.checkpoint()
        await job.heartbeat()

    for number in range(6):
        queue.put("function" if number % 2 else "coroutine", {}, jid=f"J{number}")
    code = run(kind, client, url, settings(finder, limits=Limits(jobs=6)))
    assert code is ExitCode.RECYCLE
    assert sorted(client.jobs.complete()) == [f"J{number}" for number in range(6)]
    assert all(client.jobs[f"J{number}"].data == {"step": 1} for number in range(6))
    assert client.workers.counts() == []
    assert records(client) == []


@KINDS
def test_orders_of_another_thread_end_it(
    client: Client, queue: Queue, url: str, finder: Finder, kind: str
) -> None:
    options = settings(finder)
    worker: Any
    if kind == "asyncio":
        worker = AsyncWorker(AsyncClient(url, worker_name="ann"), options)
    else:
        worker = {"serial": SerialWorker, "threads": ThreadWorker}[kind](client, options)
    finder.register("run")(lambda job: worker.control.finish())
    queue.put("run", {}, jid="J")
    code = asyncio.run(worker.run()) if kind == "asyncio" else worker.run()
    assert code is ExitCode.DONE
    assert client.jobs["J"].state == "complete"


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_jobs_run_at_once(
    client: Client, queue: Queue, url: str, finder: Finder, kind: str
) -> None:
    together = threading.Barrier(3, timeout=10)
    finder.register("run")(lambda job: together.wait() * 0)
    for number in range(3):
        queue.put("run", {}, jid=f"J{number}")
    run(kind, client, url, settings(finder, limits=Limits(jobs=3)))
    assert len(client.jobs.complete()) == 3


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_a_job_that_comes_back_while_its_last_run_goes_on_is_put_off(
    client: Client, other: Client, queue: Queue, url: str, finder: Finder, kind: str
) -> None:
    """The two runs would hold the lock in the same name."""
    popped_again = threading.Event()
    runs: list[str] = []

    @finder.register("run")
    def work(job: Any) -> None:
        runs.append(job.jid)
        if len(runs) == 1:
            other.jobs["J"].timeout()
            until(lambda: other.jobs["J"].state == "scheduled", "it is put off")
            popped_again.set()
            queue.put("end", {})

    finder.register("end")(lambda job: None)
    queue.put("run", {}, jid="J")
    run(kind, client, url, settings(finder, limits=Limits(jobs=2), listen=False))
    assert popped_again.is_set()
    assert runs == ["J"]
    assert client.jobs["J"].state == "scheduled"


def test_a_function_cannot_be_cancelled_only_told(
    client: Client, other: Client, queue: Queue, url: str, finder: Finder
) -> None:
    ended = threading.Event()

    @finder.register("run")
    def work(job: Any) -> None:
        queue.pause()
        other.jobs["J"].timeout()
        until(lambda: job.attempt.stopped, "it is told")
        ended.set()
        job.checkpoint()

    client.config["heartbeat"] = 60
    queue.put("run", {}, jid="J")
    run("asyncio", client, url, settings(finder, limits=Limits(jobs=1)))
    assert ended.is_set()
    assert client.jobs["J"].state == "stalled"


def test_a_sandbox_is_empty_before_and_after(
    client: Client, queue: Queue, url: str, finder: Finder, tmp_path: Path
) -> None:
    @finder.register("run")
    def work(job: Any) -> None:
        assert list(job.sandbox.iterdir()) == []
        (job.sandbox / "file").write_text("x")
        (job.sandbox / "folder").mkdir()
        (job.sandbox / "folder" / "file").write_text("x")

    for jid in ("A", "B"):
        queue.put("run", {}, jid=jid)
    run("serial", client, url, settings(finder, sandbox=tmp_path, limits=Limits(jobs=2)))
    assert len(client.jobs.complete()) == 2
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_an_earlier_worker_of_the_name_left_is_resumed(
    client: Client, queue: Queue, url: str, finder: Finder
) -> None:
    finder.register("run")(lambda job: None)
    queue.put("run", {}, jid="J", retries=0)
    assert queue.pop() is not None
    run("serial", client, url, settings(finder, resume=True, limits=Limits(jobs=1)))
    assert client.jobs["J"].state == "complete"


@KINDS
def test_what_children_of_the_name_left_is_resumed(
    client: Client, queue: Queue, url: str, clock: Clock, finder: Finder, kind: str
) -> None:
    finder.register("run")(lambda job: None)
    for name in ("ann/1.1", "ann/2.7", "annabel"):
        queue.put("run", {}, jid=name)
        with Client(url, clock=clock, worker_name=name) as child:
            assert child.queues["mail"].pop() is not None
    run(kind, client, url, settings(finder, resume=True, limits=Limits(jobs=2)))
    assert sorted(client.jobs.complete()) == ["ann/1.1", "ann/2.7"]
    assert client.jobs["annabel"].state == "running"
    assert [counts.name for counts in client.workers.counts()] == ["annabel"]


# -- signals ----------------------------------------------------------------------------------


def test_signals_go_where_they_went_before(client: Client, finder: Finder) -> None:
    before = signal.getsignal(signal.SIGUSR1)
    worker = SerialWorker(client, settings(finder))
    with taking(worker):
        os.kill(os.getpid(), signal.SIGUSR1)
        until(lambda: worker.control.drops == 1)
        os.kill(os.getpid(), signal.SIGHUP)
        until(lambda: worker.control.reloads == 1)
    assert signal.getsignal(signal.SIGUSR1) is before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR2], ids=lambda number: number.name)
def test_orders_are_heard_where_nobody_reads_the_log_any_more(
    client: Client, finder: Finder, number: signal.Signals
) -> None:
    worker = SerialWorker(client, settings(finder))
    kept, (unread, stderr) = os.dup(2), os.pipe()
    os.close(unread)
    os.dup2(stderr, 2)
    try:
        with taking(worker):
            os.kill(os.getpid(), number)
            until(lambda: not worker.control.takes_jobs)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(stderr)


class Ordered(NamedTuple):
    """How a job ends whose worker is sent a signal."""

    code: ExitCode
    state: str


@pytest.mark.parametrize(
    ("number", "end"),
    [
        (signal.SIGTERM, Ordered(ExitCode.CUT_OFF, "waiting")),
        (signal.SIGINT, Ordered(ExitCode.CUT_OFF, "waiting")),
        (signal.SIGQUIT, Ordered(ExitCode.DONE, "complete")),
        (signal.SIGUSR1, Ordered(ExitCode.RECYCLE, "waiting")),
        (signal.SIGUSR2, Ordered(ExitCode.RECYCLE, "complete")),
        (signal.SIGCONT, Ordered(ExitCode.RECYCLE, "complete")),
        (signal.SIGHUP, Ordered(ExitCode.RECYCLE, "complete")),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_signal_table_on_a_store_in_memory(
    client: Client, queue: Queue, finder: Finder, number: signal.Signals, end: Ordered
) -> None:
    @finder.register("run")
    def work(job: Any) -> None:
        os.kill(os.getpid(), number)
        until(lambda: heard(worker), "it is heard")
        job.checkpoint()

    def heard(worker: SerialWorker) -> object:
        control = worker.control
        orders = (control.drops, control.dumps, control.reloads, number == signal.SIGCONT)
        if control.is_stopping:
            worker.pass_on_orders()
        return any(orders) or not control.is_running

    queue.put("run", {}, jid="J", retries=0)
    limits = Limits(jobs=1) if end.code is ExitCode.RECYCLE else Limits()
    worker = SerialWorker(client, settings(finder, limits=limits))
    with taking(worker):
        assert worker.run() is end.code
    assert client.jobs["J"].state == end.state


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([signal.SIGCONT], []),
        ([signal.SIGTERM, signal.SIGCONT], ["stop"]),
        ([signal.SIGQUIT, signal.SIGCONT], ["finish"]),
        ([signal.SIGUSR2, signal.SIGCONT, signal.SIGCONT], ["show stacks and pause", "resume"]),
        ([signal.SIGUSR2, signal.SIGTERM, signal.SIGCONT], ["show stacks and pause", "stop"]),
    ],
)
def test_going_on_is_told_of_only_where_it_makes_a_difference(
    client: Client,
    finder: Finder,
    capfd: pytest.CaptureFixture[str],
    numbers: list[signal.Signals],
    told: list[str],
) -> None:
    """As systemd stops a service: by TERM, and by CONT right behind it."""
    worker = SerialWorker(client, settings(finder))
    with taking(worker):
        for number in numbers:
            signal.raise_signal(number)
    lines = [line for line in capfd.readouterr().err.splitlines() if "told to" in line]
    assert [line.removeprefix("pyqless: told to ").partition(" (")[0] for line in lines] == told
    assert not worker.control.is_paused


@pytest.mark.parametrize(("grace", "seconds"), [(0.0, 5.0), (0.3, 5.0), (60.0, 60.0)])
def test_a_job_that_was_interrupted_has_the_time_to_end(
    client: Client, finder: Finder, monkeypatch: pytest.MonkeyPatch, grace: float, seconds: float
) -> None:
    """However short the grace time is: the process ends in the middle of it only if it does not do so."""
    told: list[object] = []
    clock = iter([0.0, 0.25, seconds, seconds + 0.25])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr(signal, "pthread_kill", lambda _, number: told.append(number))
    monkeypatch.setattr(os, "_exit", told.append)
    worker = SerialWorker(client, settings(finder, grace=grace))
    worker._is_in_code = True
    worker._insist()
    assert told == [NUDGE]
    worker.control.phase = Phase.ENDING
    with pytest.raises(JobStopped):
        worker.interrupt()
    for _ in range(2):
        worker._insist()
    assert told == [NUDGE], "the job is not interrupted while it ends"
    worker._insist()
    assert told[1:] == [ExitCode.CUT_OFF]


@pytest.mark.parametrize("how", ["told twice at once", "cancelled from outside"])
def test_jobs_that_were_not_told_yet_go_back_all_the_same(
    client: Client,
    queue: Queue,
    url: str,
    finder: Finder,
    caplog: pytest.LogCaptureFixture,
    how: str,
) -> None:
    """As of two signals in a row, before the worker has looked for orders."""

    async def main() -> None:
        theirs = AsyncClient(url, worker_name="ann", clock=client.storage.clock)
        worker = AsyncWorker(theirs, settings(finder))
        task = asyncio.create_task(worker.run())

        @finder.register("run")
        async def run(_job: Any) -> None:
            if how == "cancelled from outside":
                task.cancel()
            else:
                worker.control.stop()
                worker.control.stop()
            await asyncio.sleep(600)

        (code,) = await asyncio.gather(task, return_exceptions=True)
        assert code is ExitCode.CUT_OFF or isinstance(code, asyncio.CancelledError)

    queue.put("run", {}, jid="J", retries=0)
    asyncio.run(main())
    assert client.jobs["J"].state == "waiting"
    assert "job J (run) stopped after 0.000 s: stopping" in caplog.text


def test_code_that_cannot_be_loaded_anew_stays_as_it_was(
    finder: Finder, caplog: pytest.LogCaptureFixture
) -> None:
    def renew() -> Runner:
        raise SyntaxError("no Python")

    old = settings(finder, renew=renew)
    assert old.renewed() is old
    assert "stays as it was" in caplog.text
    new = Runner(finder=finder)
    assert settings(finder, renew=lambda: new).renewed().runner is new


# -- what makes no sense ----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "most"), [(ThreadWorker, 1000), (AsyncWorker, 10_000)])
def test_so_many_at_once_are_refused(
    client: Client, async_client: AsyncClient, finder: Finder, kind: Kind, most: int
) -> None:
    used = async_client if kind is AsyncWorker else client
    for many in (0, -1, most + 1, 10**30):
        with pytest.raises(InvalidArgument, match=f"must lie between 1 and {most}: "):
            kind(used, settings(finder), many)
    for other in ("3", 1.5, True):
        with pytest.raises(InvalidArgument, match="must be a whole number"):
            kind(used, settings(finder), other)
    kind(used, settings(finder), most)


def test_so_many_children_are_refused(client: Client, finder: Finder) -> None:
    for many in (0, 1001, 1_000_000):
        with pytest.raises(
            InvalidArgument, match=f"processes must lie between 1 and 1000: {many}$"
        ):
            ForkingWorker(lambda name: client, settings(finder), name="me", processes=many)


def test_a_child_that_cannot_begin_is_tried_again_later(
    finder: Finder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def no_room(*_: object) -> NoReturn:
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(forking, "Child", no_room)
    connect = partial(_worker_of, f"sqlite://{tmp_path}/q.db")
    worker = ForkingWorker(connect, settings(finder), name="me", processes=1)
    (slot,) = worker._slots
    worker._fill(slot)
    assert (slot.child, caplog.messages) == (
        None,
        [f"child me/1.1 does not begin: [Errno {errno.EAGAIN}] no more processes"],
    )
    assert slot.not_before > time.monotonic()
    worker.client.close()


def _worker_of(url: str, name: str) -> Client:
    return Client(url, worker_name=name)


def test_children_cannot_share_a_store_in_memory(client: Client, finder: Finder) -> None:
    with pytest.raises(InvalidArgument, match="children cannot share"):
        ForkingWorker(lambda name: client, settings(finder), name="me")
