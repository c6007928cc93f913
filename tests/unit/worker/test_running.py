# SPDX-License-Identifier: MIT
"""Running jobs: how a run ends, and what the store is told."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from pyqless import Client, Queue
from pyqless.worker import (
    Finder,
    JobStopped,
    Retry,
    Runner,
    SerialWorker,
    Settings,
    StopReason,
    TimeLimitExceeded,
    uses,
)
from pyqless.worker.middleware import (
    constant,
    exponential,
    hooks,
    linear,
    memory_limit,
    reporting,
    retry_on,
    time_limit,
)
from pyqless.worker.verdicts import Again, Done, Failed, Left, Stopped
from tests.unit.worker.conftest import Clock

Work = Callable[..., Any]


# -- by return --------------------------------------------------------------------------------


def test_a_job_that_returns_is_complete(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    finder.register("run")(lambda job: job.data["n"] + 1)
    queue.put("run", {"n": 1}, jid="J")
    assert work() == Done(2)
    assert client.jobs["J"].state == "complete"
    assert work() is None


def test_coroutines_run_in_a_worker_that_blocks(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    @finder.register("run")
    async def run(job: Any) -> str:
        job.data["step"] = 1
        await job.checkpoint()
        await asyncio.sleep(0)
        return str(job.queue_name)

    queue.put("run", {}, jid="J")
    assert work() == Done("mail")
    assert client.jobs["J"].data == {"step": 1}


def test_a_result_is_kept_with_the_history_when_asked(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    finder.register("run")(lambda job: {"sum": 3})
    queue.put("run", {}, jid="J")
    work(keeps_results=True)
    job = client.jobs["J"]
    assert job.state == "complete"
    assert [entry["value"] for entry in job.history if entry["what"] == "result"] == [{"sum": 3}]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"ids": [1j]}, "result['ids'][0] is of a type that JSON has not, complex: 1j"),
        (1j, "result is of a type that JSON has not, complex: 1j"),
        ("x" * 2**21, "result is too large: "),
    ],
)
def test_a_job_whose_result_cannot_be_kept_is_complete_without(
    client: Client,
    queue: Queue,
    finder: Finder,
    work: Work,
    caplog: pytest.LogCaptureFixture,
    result: Any,
    words: str,
) -> None:
    finder.register("run")(lambda job: result)
    queue.put("run", {}, jid="J")
    assert work(keeps_results=True) == Done(result)
    job = client.jobs["J"]
    assert (job.state, job.result) == ("complete", None)
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert f"job J (run) is complete, but its result is left out: {words}" in record.getMessage()
    assert (record.__dict__["jid"], record.__dict__["queue"]) == ("J", "mail")
    assert record.exc_info is None


def test_what_breaks_in_an_encoder_leaves_out_the_result(
    url: str, queue: Queue, finder: Finder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    finder.register("run")(lambda job: object())
    queue.put("run", {}, jid="J")
    with Client(url, clock=clock, worker_name="ann", encoder=lambda value: value.name) as client:
        runner = Runner(finder=finder, keeps_results=True)
        SerialWorker(client, Settings(queues=["mail"], runner=runner)).drain()
        assert client.jobs["J"].state == "complete"
    assert "AttributeError" in caplog.text


def test_data_that_cannot_be_stored_fails_the_job_and_stays_as_it_was(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        job["bad"] = object()

    queue.put("run", {"n": 1}, jid="J")
    assert work().group == "run:InvalidArgument"
    assert client.jobs["J"].data == {"n": 1}


# -- by the job itself ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (lambda job: job.complete(), "complete"),
        (lambda job: job.complete("next"), "waiting"),
        (lambda job: job.complete_and_pop(), "complete"),
        (lambda job: job.fail("group", "message"), "failed"),
        (lambda job: job.retry(), "waiting"),
        (lambda job: job.requeue("next"), "waiting"),
        (lambda job: job.timeout(), "stalled"),
    ],
    ids=["complete", "advance", "turn", "fail", "retry", "requeue", "timeout"],
)
@pytest.mark.parametrize("compat", [False, True])
def test_a_job_that_ends_its_run_itself_is_left_alone(
    client: Client,
    queue: Queue,
    finder: Finder,
    work: Work,
    end: Callable[[Any], None],
    state: str,
    *,
    compat: bool,
) -> None:
    finder.register("run")(end)
    queue.put("run", {}, jid="J")
    assert work(compat=compat) == Left()
    assert client.jobs["J"].state == state


def test_a_job_that_cancels_itself_is_gone(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    finder.register("run")(lambda job: job.cancel())
    queue.put("run", {}, jid="J")
    assert work() == Stopped(StopReason.CANCELED)
    assert client.jobs.get("J") is None


def test_with_compat_a_return_completes_nothing(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    finder.register("run")(lambda job: None)
    queue.put("run", {}, jid="J")
    assert work(compat=True) == Left()
    assert client.jobs["J"].state == "running"


def test_an_error_after_the_end_changes_nothing(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        job.complete()
        raise ValueError

    queue.put("run", {}, jid="J")
    assert work() == Left()
    assert client.jobs["J"].state == "complete"


# -- by exception -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "group"),
    [
        (ValueError("no"), "run:ValueError"),
        (SystemExit(3), "run:SystemExit"),
        (asyncio.CancelledError(), "run:CancelledError"),
        (TimeLimitExceeded("too long"), "run:TimeLimitExceeded"),
    ],
)
def test_an_exception_fails_the_job(
    client: Client,
    queue: Queue,
    finder: Finder,
    work: Work,
    error: BaseException,
    group: str,
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        raise error

    queue.put("run", {}, jid="J")
    assert work().group == group
    failure = client.jobs["J"].failure
    assert failure is not None
    assert (failure.group, failure.worker) == (group, "ann")
    assert type(error).__name__ in failure.message


@pytest.mark.parametrize(
    ("klass", "group"), [("run", "mail-ValueError"), ("Empty", "mail-method-missing")]
)
def test_groups_as_qless_py_has_them(
    queue: Queue, finder: Finder, work: Work, klass: str, group: str
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        raise ValueError

    finder.register("Empty")(type("Empty", (), {}))
    queue.put(klass, {}, jid="J")
    assert work(compat=True).group == group


def test_code_that_may_not_run_fails_the_job_and_can_be_unfailed(
    client: Client, queue: Queue, work: Work
) -> None:
    queue.put("os.system", "true", jid="J")
    assert work().group == "os.system:CodeNotFound"
    assert queue.unfail("os.system:CodeNotFound") == 1


def test_a_long_message_is_cut(queue: Queue, finder: Finder, work: Work) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        raise ValueError("x" * 100_000)

    queue.put("run", {}, jid="J")
    assert len(work(message_limit=500).message) == 500


def test_an_interrupt_gives_the_job_back_and_goes_on_up(
    client: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        raise KeyboardInterrupt

    queue.put("run", {}, jid="J", retries=0)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert (client.jobs["J"].state, client.jobs["J"].remaining) == ("waiting", 0)


# -- trying again -----------------------------------------------------------------------------


def test_a_job_can_ask_to_be_tried_again(
    client: Client, queue: Queue, finder: Finder, work: Work, clock: Clock
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        raise Retry(30)

    queue.put("run", {}, jid="J")
    assert work() == Again(30)
    assert (client.jobs["J"].state, client.jobs["J"].remaining) == ("scheduled", 4)
    clock.now += 29
    assert work() is None
    clock.now += 2
    assert work() == Again(30)


def test_retries_grow_apart_and_the_last_error_is_kept(
    client: Client, queue: Queue, finder: Finder, work: Work, clock: Clock
) -> None:
    @finder.register("run")
    @uses(retry_on(ConnectionError, backoff=exponential(2.0, jitter=0)))
    def run(job: Any) -> None:
        raise ConnectionError("away")

    queue.put("run", {}, jid="J", retries=2)
    delays = []
    for _ in range(2):
        verdict = work()
        delays.append(verdict.delay)
        clock.now += verdict.delay
    assert delays == [2.0, 4.0]
    assert isinstance(work(), Failed)
    job = client.jobs["J"]
    assert job.state == "failed"
    assert job.failure is not None
    assert job.failure.group == "run:ConnectionError"
    assert "away" in job.failure.message


def test_other_errors_are_not_tried_again(queue: Queue, finder: Finder, work: Work) -> None:
    @finder.register("run")
    @uses(retry_on(ConnectionError))
    def run(job: Any) -> None:
        raise ValueError

    queue.put("run", {})
    assert isinstance(work(), Failed)


def test_backoffs() -> None:
    assert [constant(3)(tries) for tries in range(3)] == [3, 3, 3]
    assert [linear(3, cap=8)(tries) for tries in range(4)] == [3, 6, 8, 8]
    assert [exponential(1, cap=5, jitter=0)(tries) for tries in range(4)] == [1, 2, 4, 5]
    assert exponential(1, cap=60, jitter=0)(100_000) == 60
    drawn = {exponential(8)(0) for _ in range(50)}
    assert len(drawn) > 1
    assert all(4 <= delay <= 8 for delay in drawn)


# -- middleware -------------------------------------------------------------------------------


def noting(notes: list[str], name: str) -> Any:
    @contextmanager
    def middleware(job: Any) -> Iterator[None]:
        notes.append(f"{name} in")
        try:
            yield
        finally:
            notes.append(f"{name} out")

    return middleware


def test_the_workers_middleware_lies_around_the_jobs_own(
    queue: Queue, finder: Finder, work: Work
) -> None:
    notes: list[str] = []

    @finder.register("run")
    @uses(noting(notes, "c"), noting(notes, "d"))
    def run(job: Any) -> None:
        notes.append("run")

    queue.put("run", {})
    work(middleware=[noting(notes, "a"), noting(notes, "b")])
    assert notes == [
        *("a in", "b in", "c in", "d in"),
        "run",
        *("d out", "c out", "b out", "a out"),
    ]


def test_a_coroutine_takes_both_kinds(queue: Queue, finder: Finder, work: Work) -> None:
    notes: list[str] = []

    @asynccontextmanager
    async def waiting(job: Any) -> Any:
        await asyncio.sleep(0)
        notes.append("async")
        yield

    @finder.register("run")
    @uses(noting(notes, "sync"))
    async def run(job: Any) -> None:
        notes.append("run")

    finder.register("function")(lambda job: None)
    queue.put("run", {}, jid="J")
    assert work(middleware=[waiting]) == Done(None)
    assert notes == ["async", "sync in", "run", "sync out"]
    queue.put("function", {})
    assert work(middleware=[waiting]).group == "function:TypeError"


def test_a_middleware_can_deal_with_an_error(queue: Queue, finder: Finder, work: Work) -> None:
    @contextmanager
    def forgiving(job: Any) -> Iterator[None]:
        try:
            yield
        except ValueError:
            job.logger.info("never mind")

    @finder.register("run")
    def run(job: Any) -> None:
        raise ValueError

    queue.put("run", {})
    assert work(middleware=[forgiving]) == Done(None)


def test_hooks_are_called_however_the_job_ends(queue: Queue, finder: Finder, work: Work) -> None:
    calls: list[str] = []

    @finder.register("run")
    def run(job: Any) -> None:
        raise ValueError

    queue.put("run", {})
    around = hooks(before=lambda: calls.append("before"), after=lambda: calls.append("after"))
    assert isinstance(work(middleware=[around]), Failed)
    assert calls == ["before", "after"]


def test_errors_are_handed_on_and_retries_are_not(queue: Queue, finder: Finder, work: Work) -> None:
    seen: list[object] = []

    @contextmanager
    def scope(job: Any) -> Iterator[None]:
        seen.append(job.jid)
        yield

    @finder.register("bad")
    def bad(job: Any) -> None:
        raise ValueError("bad")

    @finder.register("again")
    def again(job: Any) -> None:
        raise Retry

    for klass, jid in (("bad", "J"), ("again", "K")):
        queue.put(klass, {}, jid=jid)
        work(middleware=[reporting(lambda error: seen.append(str(error)), scope)])
    assert seen == ["J", "bad", "K"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
def test_too_much_memory_fails_the_job_alone(queue: Queue, finder: Finder, work: Work) -> None:
    @finder.register("run")
    def run(job: Any) -> int:
        return len(bytearray(2**40))

    queue.put("run", {})
    assert work(middleware=[memory_limit(2**36)]).group == "run:MemoryError"
    assert bytearray(2**20)


# -- stopping ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", [StopReason.STOPPING, StopReason.DROPPED])
def test_a_job_that_is_stopped_goes_back_at_no_cost(
    client: Client, queue: Queue, finder: Finder, work: Work, reason: StopReason
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        try:
            job.attempt.stop(reason)
            job.checkpoint()
        except Exception:  # noqa: BLE001 - what careless jobs do
            pytest.fail("code that catches exceptions must not swallow the end")

    queue.put("run", {}, jid="J", retries=0)
    assert work() == Stopped(reason)
    job = client.jobs["J"]
    assert (job.state, job.remaining) == ("waiting", 0)


def test_what_a_lost_job_gives_is_refused(
    client: Client, other: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    @finder.register("run")
    def run(job: Any) -> str:
        other.jobs["J"].timeout()
        assert other.queues["mail"].pop() is not None
        job.attempt.stop(StopReason.LOST)
        return "too late"

    queue.put("run", {}, jid="J")
    assert work() == Stopped(StopReason.LOST)
    job = client.jobs["J"]
    assert (job.state, job.worker_name) == ("running", "bob")


def test_a_loss_that_nobody_noticed_is_noticed_at_the_end(
    client: Client, other: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        other.jobs["J"].timeout()
        other.queues["mail"].pop()

    queue.put("run", {}, jid="J")
    assert work() == Stopped(StopReason.LOST)
    assert client.jobs["J"].worker_name == "bob"


@pytest.mark.parametrize(("retry", "state"), [(False, "failed"), (True, "waiting")])
def test_a_time_limit_is_noticed_at_a_checkpoint(
    client: Client,
    queue: Queue,
    finder: Finder,
    work: Work,
    clock: Clock,
    *,
    retry: bool,
    state: str,
) -> None:
    @finder.register("run")
    @uses(time_limit(5, retry=retry))
    def run(job: Any) -> None:
        assert job.attempt.deadline == clock.now + 5
        job.attempt.stop(StopReason.TIME_LIMIT)
        job.checkpoint()

    queue.put("run", {}, jid="J")
    assert work().group == "run:TimeLimitExceeded"
    assert client.jobs["J"].state == state


# -- what a job has at hand -------------------------------------------------------------------


def test_a_checkpoint_keeps_what_has_changed(
    client: Client, other: Client, queue: Queue, finder: Finder, work: Work
) -> None:
    @finder.register("run")
    def run(job: Any) -> None:
        job["step"] = 2
        job.checkpoint()
        assert other.jobs["J"].data == {"step": 2}

    queue.put("run", {"step": 1}, jid="J")
    assert work() == Done(None)


def test_the_log_names_the_job(
    queue: Queue, finder: Finder, work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pyqless")
    finder.register("run")(lambda job: job.logger.info("at %d", 7, extra={"step": 7}))
    queue.put("run", {}, jid="J")
    work()
    (record,) = (record for record in caplog.records if record.name == "pyqless.job")
    assert record.getMessage() == "[run J] at 7"
    fields = {"jid": "J", "klass": "run", "queue": "mail", "worker": "ann", "step": 7}
    assert fields.items() <= vars(record).items()


def _says_nothing(_job: Any) -> None: ...


def _raises_after_its_end(job: Any) -> None:
    job.complete()
    raise ValueError


def _ends_after_its_lock(job: Any) -> None:
    job.attempt.stop(StopReason.LOST)


@pytest.mark.parametrize(
    ("function", "compat", "words"),
    [
        (_says_nothing, True, "its lock will expire"),
        (_raises_after_its_end, False, "raised after its end"),
        (_ends_after_its_lock, False, "ended in vain after 0.000 s: lost"),
    ],
)
def test_what_is_odd_about_an_end_is_told_with_the_jobs_fields(
    queue: Queue,
    finder: Finder,
    work: Work,
    caplog: pytest.LogCaptureFixture,
    function: Any,
    words: str,
    *,
    compat: bool,
) -> None:
    finder.register("run")(function)
    queue.put("run", {}, jid="J")
    work(compat=compat)
    (record,) = (record for record in caplog.records if words in record.getMessage())
    fields = {"jid": "J", "klass": "run", "queue": "mail", "worker": "ann"}
    assert fields.items() <= vars(record).items()


@pytest.mark.parametrize("jid", ["50%", "%s", "%(jid)s", "%d%%"])
@pytest.mark.parametrize(
    ("said", "told"),
    [(("at %d", 7), "at 7"), (("at %(n)d", {"n": 7}), "at 7"), (("all 100%",), "all 100%")],
)
def test_a_percent_sign_in_a_name_is_no_place_for_an_argument(
    queue: Queue,
    finder: Finder,
    work: Work,
    caplog: pytest.LogCaptureFixture,
    jid: str,
    said: tuple[object, ...],
    told: str,
) -> None:
    finder.register("run")(lambda job: job.logger.warning(*said))
    queue.put("run", {}, jid=jid)
    work()
    (record,) = (record for record in caplog.records if record.name == "pyqless.job")
    assert record.getMessage() == f"[run {jid}] {told}"


def test_the_log_tells_which_line_of_the_job_has_spoken(
    queue: Queue, finder: Finder, work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    def speak(job: Any) -> None:
        job.logger.warning("here")
        job.logger.log(logging.WARNING, "here")

    def run(job: Any) -> None:
        speak(job)
        warn_of_caller(job)

    def warn_of_caller(job: Any) -> None:
        job.logger.warning("there", stacklevel=2)

    finder.register("run")(run)
    queue.put("run", {}, jid="J")
    work()
    records = [record for record in caplog.records if record.name == "pyqless.job"]
    assert [record.funcName for record in records] == ["speak", "speak", "run"]
    assert {record.pathname for record in records} == {__file__}


def test_job_stopped_is_no_exception() -> None:
    assert not issubclass(JobStopped, Exception)
