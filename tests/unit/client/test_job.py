# SPDX-License-Identifier: MIT
"""Handles of jobs: what they show, and what their calls do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from pyqless import Client, Job, Queue
from pyqless.client import Failure, HistoryEntry
from pyqless.client.requests import jobs as requests
from pyqless.core.effects import Factory
from pyqless.core.keyspace import Keyspace
from pyqless.core.transaction import Transaction
from pyqless.errors import (
    CorruptedJob,
    DataMismatch,
    DataTooLarge,
    HasDependents,
    InvalidArgument,
    JobLost,
    JobNotFound,
    NotDepending,
    NotRunning,
)
from tests.unit.client.moved import MovedClock


@pytest.fixture
def job(queue: Queue) -> Job:
    """Give a job in hand."""
    queue.put("Send", {"to": "ann"}, jid="j")
    job = queue.pop()
    assert job is not None
    return job


def spoil(client: Client, jid: str, **fields: str) -> None:
    """Write fields of a job as another program might."""
    key = client.storage.keys.job(jid)

    def write(tx: Transaction) -> Any:
        for name, text in fields.items():
            tx.hset(key, name, text)
        return
        yield

    client.storage.run(write)


# -- looking jobs up --------------------------------------------------------------------------


def test_a_job_that_is_not_there(client: Client) -> None:
    assert client.jobs.get("no") is None
    with pytest.raises(JobNotFound) as raised:
        client.jobs["no"]
    assert (raised.value.argument, raised.value.value) == ("jid", "no")


def test_several_jobs_are_looked_up_and_absent_ones_left_out(client: Client, queue: Queue) -> None:
    for jid in ("a", "b"):
        queue.put("Send", jid=jid)
    assert [job.jid for job in client.jobs.multiget("b", "no", "a")] == ["b", "a"]
    assert client.jobs.multiget() == []


def test_a_handle_shows_where_the_job_comes_from_and_goes_to(client: Client, queue: Queue) -> None:
    queue.put("Send", jid="a")
    queue.put("Send", jid="b", depends=["a"])
    queue.recur("Send", None, 60, jid="r")
    popped = {job.jid: job for job in queue.pop(5)}

    assert client.jobs["a"].dependents == ["b"]
    assert client.jobs["b"].dependencies == ["a"]
    assert popped["r-1"].spawned_from_jid == "r"
    assert popped["a"].spawned_from_jid is None


def test_the_history_tells_all_with_whole_numbers(client: Client, job: Job) -> None:
    job.log("halfway", done=3, of=[7.5, 8])
    job.complete()

    assert client.jobs["j"].history == [
        {"what": "put", "when": 1_400_000_000, "q": "mail"},
        {"what": "popped", "when": 1_400_000_000, "worker": "ann"},
        {"what": "halfway", "when": 1_400_000_000, "done": 3, "of": [7.5, 8]},
        {"what": "done", "when": 1_400_000_000},
    ]
    assert repr(client.jobs["j"].history[2]["done"]) == "3"


def test_what_is_usual_in_a_history_has_names(client: Client, job: Job) -> None:
    job.log("halfway", q=["not", "a", "queue"], done=3)
    job.fail("oops", "no")
    put, popped, logged, failed = client.jobs["j"].history
    assert (put.what, put.when, put.queue_name) == ("put", 1_400_000_000, "mail")
    assert (put.worker_name, put.group) == (None, None)
    assert (popped.what, popped.worker_name, popped.queue_name) == ("popped", "ann", None)
    assert (failed.what, failed.worker_name, failed.group) == ("failed", "ann", "oops")
    assert (logged.what, logged["done"], logged["q"]) == ("halfway", 3, ["not", "a", "queue"])
    assert json.loads(json.dumps(put)) == {"what": "put", "when": 1_400_000_000, "q": "mail"}


@pytest.mark.parametrize("entry", [{"when": "then", "what": 5}, {}])
def test_a_history_may_hold_anything(entry: dict[str, Any]) -> None:
    assert HistoryEntry(entry).when == 0
    assert HistoryEntry(entry).what == str(entry.get("what", ""))


@dataclass
class Sum:
    total: int


def test_a_result_can_have_a_type(client: Client, job: Job) -> None:
    with pytest.raises(DataMismatch, match=r"^result must be"):
        job.result_as(int)
    job.log("result", value={"total": 3})
    job.complete()
    job.refresh()
    assert job.result_as(Sum) == Sum(3)
    with pytest.raises(DataMismatch, match=r"^result\['total'\] must be str") as caught:
        job.result_as(dict[str, str])
    assert caught.value.argument == "result['total']"


def test_an_entry_of_the_history_is_as_long_as_data_at_most(
    url: str, client: Client, job: Job
) -> None:
    with Client(url, max_data_size=30) as small:
        same = small.jobs["j"]
        same.log("12345678901234567890", n=5678)  # {"n":5678} has 10 bytes
        same.log("é" * 15)
        history = client.jobs["j"].history
        for message, data in (
            ("x" * 31, {}),
            ("é" * 15 + "x", {}),
            ("x" * 20, {"n": 56789}),
            ("", {"n": "x" * 23}),
        ):
            with pytest.raises(DataTooLarge, match=r"31 bytes as JSON; .* max_data_size is 30$"):
                same.log(message, **data)
        assert client.jobs["j"].history == history


def test_a_handle_says_what_it_is(job: Job) -> None:
    assert repr(job) == "<Job j: Send, running in 'mail'>"


# -- data -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "send",
    [Job.heartbeat, Job.complete, Job.requeue, lambda job: job.fail("g", "m")],
    ids=["heartbeat", "complete", "requeue", "fail"],
)
@pytest.mark.parametrize("assign", [True, False])
def test_changed_data_goes_back(
    client: Client,
    job: Job,
    send: Callable[[Job], object],
    assign: bool,  # noqa: FBT001
) -> None:
    if assign:
        job.data = {"to": "bob"}
    else:
        job.data["to"] = "bob"
    send(job)
    assert client.jobs["j"].data == {"to": "bob"}


@pytest.mark.parametrize("text", ['{"a" : 1.0}', '"\udcff"', "[NaN]", "{broken"])
def test_data_that_nobody_changed_stays_as_it_was_written(client: Client, text: str) -> None:
    queue = client.queues["mail"]
    queue.put("Send", jid="j")
    spoil(client, "j", data=text)
    job = queue.pop()
    assert job is not None
    if text != "{broken":
        assert job.data is not None
    job.complete("next")
    assert client.jobs["j"].raw_data == text


def test_data_that_is_no_json_harms_only_who_looks_at_it(client: Client, job: Job) -> None:
    spoil(client, "j", data="{broken")
    job.refresh()
    assert job.raw_data == "{broken"
    assert job.heartbeat() > 0
    with pytest.raises(CorruptedJob, match="job j: the data is no JSON"):
        _ = job.data


def test_what_data_has_become_is_checked_before_anything_is_sent(job: Job) -> None:
    job.data["to"] = object()
    with pytest.raises(InvalidArgument, match=r"data\['to'\]"):
        job.complete()
    job.data = "x" * 2**20
    with pytest.raises(DataTooLarge):
        job.heartbeat()
    job.refresh()
    assert (job.state, job.data) == ("running", {"to": "ann"})


# -- in hand ----------------------------------------------------------------------------------


def test_a_job_is_completed(client: Client, job: Job) -> None:
    assert job.complete() == "complete"
    assert (job.state, job.queue_name, job.worker_name, job.expires_at) == ("complete", "", "", 0)
    assert client.jobs.complete() == ["j"]


def test_a_job_that_is_deleted_as_it_completes_shows_complete(client: Client, job: Job) -> None:
    client.config["jobs-history-count"] = 0
    assert job.complete() == "complete"
    assert job.state == "complete"
    assert client.jobs.get("j") is None


def test_old_completed_jobs_go_when_another_completes(
    client: Client, queue: Queue, clock: MovedClock
) -> None:
    for _ in range(10):
        queue.put("Send")
    for job in queue.pop(10):
        job.complete()
    clock.move(7 * 86400 + 1)
    queue.put("Send", jid="last")
    (job,) = queue.pop(1)
    assert job.complete() == "complete"
    assert job.state == "complete"
    assert client.jobs.complete() == ["last"]


@pytest.mark.parametrize(
    ("options", "state"),
    [({}, "waiting"), ({"delay": 5}, "scheduled"), ({"depends": ["other"]}, "depends")],
)
def test_a_job_goes_on(job: Job, queue: Queue, options: dict[str, Any], state: str) -> None:
    queue.put("Send", jid="other")
    assert job.complete("next", **options) == state
    assert job.queue_name == "next"
    assert queue.client.queues["next"].counts()._asdict()[state] == 1


def test_a_job_fails(client: Client, job: Job, clock: MovedClock) -> None:
    job.fail("bounced", "no such address")

    expected = Failure("bounced", "no such address", clock.now, "ann")
    assert (job.state, job.failure) == ("failed", expected)
    assert client.jobs.failed() == {"bounced": 1}
    page = client.jobs.failed("bounced")
    assert (page.total, [failed.failure for failed in page.jobs]) == (1, [expected])
    assert client.jobs.failed("other") == (0, [])


def test_failed_jobs_come_in_pages(client: Client, queue: Queue) -> None:
    for jid in "abc":
        queue.put("Send", jid=jid)
        (job,) = queue.pop(1)
        job.fail("g", "m")
    page = client.jobs.failed("g", 1, 1)
    assert (page.total, [job.jid for job in page.jobs]) == (3, ["b"])


def test_a_job_is_given_back(job: Job) -> None:
    assert job.failure is None
    assert job.retry(5, group="busy", message="try later") == 4
    assert (job.state, job.remaining) == ("scheduled", 4)
    assert job.failure is not None
    assert job.failure.group == "busy"


def test_a_job_without_retries_fails_when_it_is_given_back(queue: Queue) -> None:
    queue.put("Send", retries=0)
    (job,) = queue.pop(1)
    assert job.retry() == -1
    assert job.state == "failed"


def test_a_heartbeat_keeps_the_job(job: Job, clock: MovedClock) -> None:
    assert job.ttl == 60
    clock.move(50)
    assert job.ttl == 10
    assert job.heartbeat() == clock.now + 60
    assert (job.expires_at, job.ttl) == (clock.now + 60, 60)


def test_a_job_is_taken_from_its_worker(bob: Client, job: Job, queue: Queue) -> None:
    bob.jobs["j"].timeout()
    assert bob.jobs["j"].state == "stalled"
    with pytest.raises(NotRunning):
        job.complete()
    assert [job.jid for job in queue.pop(1)] == ["j"]


def test_a_job_that_nobody_has_in_hand_is_taken_from_nobody(client: Client, queue: Queue) -> None:
    queue.put("Send", jid="j")
    with pytest.raises(NotRunning):
        client.jobs["j"].timeout()


# -- whose job it is --------------------------------------------------------------------------


def test_a_handle_that_was_looked_up_calls_in_the_clients_name(bob: Client, job: Job) -> None:
    seen = bob.jobs["j"]
    assert (seen.worker_name, seen.acting_worker) == ("ann", "bob")
    for call in (seen.complete, seen.heartbeat, seen.retry, lambda: seen.fail("g", "m")):
        with pytest.raises(JobLost) as raised:
            call()
        assert raised.value.value == "ann"
    assert job.complete() == "complete"


def test_a_handle_that_was_popped_calls_in_the_name_that_popped_it(
    url: str, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Client(url, clock=clock) as client:
        client.queues["mail"].put("Send")
        (job,) = client.queues["mail"].pop(1)
        monkeypatch.setattr(os, "getpid", lambda: 4321)  # as after a fork
        assert client.worker_name.endswith("-4321")
        assert job.acting_worker == job.worker_name != client.worker_name
        assert job.complete() == "complete"


# -- whatever its state -----------------------------------------------------------------------


def test_a_job_moves_and_keeps_what_is_not_given(client: Client, queue: Queue) -> None:
    queue.put("Send", {"n": 1}, jid="j", priority=5, tags=["a"], retries=2)
    (job,) = queue.pop(1)
    job.move("other", retries=7, delay=3)

    assert (job.state, job.queue_name) == ("scheduled", "other")
    assert (job.priority, job.tags, job.retries, job.remaining) == (5, ["a"], 7, 7)
    job.refresh()
    assert (job.state, job.queue_name, job.klass_name, job.data) == (
        "scheduled",
        "other",
        "Send",
        {"n": 1},
    )
    assert queue.running() == []


def test_a_job_is_put_anew_into_its_own_queue(job: Job, queue: Queue) -> None:
    job.requeue()
    assert (job.state, job.queue_name) == ("waiting", "mail")
    assert [again.jid for again in queue.pop(5)] == ["j"]


def test_a_job_that_is_gone_cannot_be_requeued(job: Job) -> None:
    job.cancel()
    with pytest.raises(JobNotFound):
        job.requeue()
    with pytest.raises(JobNotFound):
        job.refresh()


def test_a_job_that_others_wait_for_is_cancelled_with_them_only(
    client: Client, queue: Queue
) -> None:
    queue.put("Send", jid="a")
    queue.put("Send", jid="b", depends=["a"])
    with pytest.raises(HasDependents) as raised:
        client.jobs["a"].cancel()
    assert raised.value.value == ["b"]
    client.jobs.cancel("a", "b", "no")
    assert client.jobs.multiget("a", "b") == []


def test_dependencies_change(client: Client, queue: Queue) -> None:
    for jid in "abc":
        queue.put("Send", jid=jid)
    queue.put("Send", jid="d", depends=["a"])
    job = client.jobs["d"]
    job.depend("b", "c")
    job.refresh()
    assert job.dependencies == ["a", "b", "c"]
    job.undepend("a")
    job.refresh()
    assert (job.dependencies, job.state) == (["b", "c"], "depends")
    job.undepend(all=True)
    job.refresh()
    assert (job.dependencies, job.state) == ([], "waiting")
    with pytest.raises(NotDepending):
        job.depend("a")


def test_a_priority_is_assigned_or_set(client: Client, queue: Queue) -> None:
    for jid in "ab":
        queue.put("Send", jid=jid)
    job = client.jobs["b"]
    job.priority = 5
    assert (job.priority, repr(job.priority)) == (5, "5")
    job.set_priority(0.5)
    assert job.priority == 0.5
    assert client.jobs["b"].priority == 0.5
    assert [popped.jid for popped in queue.pop(2)] == ["b", "a"]


# -- marks ------------------------------------------------------------------------------------


def test_tags_come_and_go(client: Client, job: Job) -> None:
    assert job.tag("a", "b") == ["a", "b"]
    assert job.untag("a") == ["b"]
    assert job.tags == client.jobs["j"].tags == ["b"]
    assert client.jobs.tagged("b") == (1, ["j"])
    assert client.jobs.tagged("a") == (0, [])


def test_tags_that_another_writer_gave_as_numbers_are_texts(client: Client, job: Job) -> None:
    spoil(client, "j", tags='["a",5]')
    job.refresh()
    assert job.tags == ["a", "5"]


def test_the_most_frequent_tags(client: Client, queue: Queue) -> None:
    queue.put("Send", tags=["a", "b"])
    queue.put("Send", tags=["b", "a", "c"])
    queue.put("Send", tags=["b"])
    assert client.tags.top() == ["b", "a"]
    assert client.tags.top(1, 1) == ["a"]


def test_a_job_is_tracked(client: Client, job: Job) -> None:
    assert not job.tracked
    assert job.track()
    assert not job.track()
    assert job.tracked
    found = client.jobs.tracked()
    assert ([tracked.jid for tracked in found.jobs], found.expired) == (["j"], [])
    assert job.untrack()
    assert not job.tracked
    assert client.jobs.tracked() == ([], [])


def test_a_tracked_job_that_is_gone_is_named(client: Client, job: Job) -> None:
    job.track()
    job.cancel()
    assert client.jobs.tracked() == ([], ["j"])


@pytest.mark.parametrize(
    ("field", "attribute"),
    [
        ("tags", "tags"),
        ("priority", "priority"),
        ("retries", "retries"),
        ("remaining", "remaining"),
        ("failure", "failure"),
    ],
)
def test_a_spoilt_field_harms_only_who_looks_at_it(job: Job, field: str, attribute: str) -> None:
    job._note(**{field: "nope"})
    with pytest.raises(CorruptedJob) as raised:
        getattr(job, attribute)
    assert (raised.value.argument, raised.value.value) == (field, "nope")


@pytest.mark.parametrize("member", ["group", "message", "worker", "when"])
@pytest.mark.parametrize("value", ["null", "[]", "{}", "true"])
def test_a_failure_that_makes_no_sense_is_named(job: Job, member: str, value: str) -> None:
    job._note(state="failed", failure=f'{{"group":"g","{member}":{value}}}')
    with pytest.raises(CorruptedJob) as raised:
        _ = job.failure
    assert raised.value.argument == "failure"


@pytest.mark.parametrize("text", ["{}", "[]", '{"message":"m"}'])
def test_a_failure_without_a_group_is_none(job: Job, text: str) -> None:
    job._note(failure=text)
    assert job.failure is None


# -- what it costs ----------------------------------------------------------------------------


def batches(client: Client, transition: Factory[Any]) -> int:
    """Count the trips that the reads of a transition take; nothing is written."""
    keyspace = Keyspace()
    for key, entry in client.storage.dump().items():
        copy(keyspace, key, entry)
    steps = transition(Transaction(client.storage.clock(), client.storage.keys))
    taken = 0
    with suppress(StopIteration):
        batch = next(steps)
        while True:
            taken += 1
            batch = steps.send([keyspace.read(read) for read in batch.reads])
    return taken


def copy(keyspace: Keyspace, key: str, entry: dict[str, Any]) -> None:
    match entry["type"], entry["value"]:
        case "hash", value:
            keyspace.write(("HSET", key, *(text for pair in value.items() for text in pair)))
        case "list", value:
            keyspace.write(("RPUSH", key, *value))
        case "set", value:
            keyspace.write(("SADD", key, *value))
        case "zset", value:
            for member, score in value:
                keyspace.write(("ZADD", key, float(score), member))


CALLS: list[Callable[[Job], object]] = [
    Job.heartbeat,
    Job.timeout,
    Job.complete,
    lambda job: job.complete("next"),
    lambda job: job.complete("next", delay=5),
    lambda job: job.fail("g", "m"),
    Job.retry,
    lambda job: job.retry(5, group="g", message="m"),
    lambda job: job.requeue("next", priority=3, tags=["b"], retries=7),
    lambda job: job.requeue(depends=["other"]),
    lambda job: job.set_priority(0.1),
    lambda job: job.tag("x", "y"),
    lambda job: job.untag("a"),
    Job.track,
]

SHOWN = (
    "state",
    "queue_name",
    "worker_name",
    "expires_at",
    "priority",
    "tags",
    "retries",
    "remaining",
    "failure",
    "tracked",
    "klass_name",
)


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_after_its_own_call_a_handle_shows_what_the_store_has(
    client: Client, queue: Queue, call: Callable[[Job], object]
) -> None:
    queue.put("Send", [1], jid="j", tags=["a"])
    (job,) = queue.pop(1)
    queue.put("Send", jid="other")
    call(job)
    seen = client.jobs["j"]
    assert [getattr(job, name) for name in SHOWN] == [getattr(seen, name) for name in SHOWN]


@pytest.mark.parametrize(
    "request_",
    [
        requests.heartbeat,
        requests.timeout,
        lambda job: requests.complete(job, None, 0, None),
        lambda job: requests.complete(job, "next", 0, None),
        lambda job: requests.fail(job, "g", "m"),
        lambda job: requests.retry(job, 0, None, None),
        lambda job: requests.requeue(
            job, "next", delay=0, priority=None, tags=None, retries=None, depends=None
        ),
    ],
    ids=["heartbeat", "timeout", "complete", "advance", "fail", "retry", "requeue"],
)
def test_to_keep_a_handle_current_takes_no_trip_of_its_own(
    client: Client, job: Job, request_: Callable[[Job], Factory[Any]]
) -> None:
    assert batches(client, request_(job)) == 1
