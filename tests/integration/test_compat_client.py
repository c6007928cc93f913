# SPDX-License-Identifier: MIT
"""``pyqless.compat.qless``: qless-py's names, return types and errors, as its clients meet them on the Lua core."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from pyqless.compat import qless
from pyqless.compat.qless.exceptions import LostLockException, QlessException
from pyqless.compat.qless.profile import Profiler
from pyqless.compat.qless.util import import_class
from pyqless.errors import JobLost, NotRunning, QlessError
from tests.servers import Server

NAMES = {
    "": "Client Config Events Job Jobs QlessException Queue Queues RecurringJob Workers formatter handler logger retry",
    ".config": "Config",
    ".exceptions": "LostLockException QlessException",
    ".job": "BaseJob Job RecurringJob",
    ".listener": "Events Listener",
    ".profile": "Profiler",
    ".queue": "Jobs Queue",
    ".util": "import_class",
    ".workers": "Worker",
    ".workers.forking": "ForkingWorker NUM_CPUS",
    ".workers.greenlet": "GeventWorker",
    ".workers.serial": "SerialWorker",
}


@pytest.fixture
def connect(store_url: str) -> Iterator[Callable[..., qless.Client]]:
    """Open clients of the store."""
    clients: list[qless.Client] = []

    def open_client(name: str) -> qless.Client:
        clients.append(qless.Client(store_url, hostname=name))
        return clients[-1]

    yield open_client
    for client in clients:
        client.close()


@pytest.fixture
def client(connect: Callable[..., qless.Client]) -> qless.Client:
    return connect("ann")


@pytest.fixture
def other(connect: Callable[..., qless.Client], client: qless.Client) -> qless.Client:
    return connect("bob")


def running(client: qless.Client, jid: str = "J", **options: Any) -> qless.Job:
    """Put a job and take it."""
    client.queues["q"].put("Klass", {"a": 1}, jid=jid, **options)
    job: qless.Job = client.queues["q"].pop()
    assert job.jid == jid
    return job


# -- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", NAMES)
def test_names_stand_where_they_are_looked_for(module: str) -> None:
    names = vars(import_module("pyqless.compat.qless" + module))
    assert [name for name in NAMES[module].split() if name not in names] == []


def run_python(program: str, **environment: str) -> str:
    line = [sys.executable, "-W", "error", "-c", program]
    ran = subprocess.run(
        line, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    return ran.stdout + ran.stderr


def test_it_can_stand_in_for_the_module_itself() -> None:
    program = """
from pyqless.compat import qless as ours
ours.install()
ours.install()
import qless, qless.workers.serial
from qless.exceptions import LostLockException
from qless.job import Job
assert qless is ours and Job is ours.Job and issubclass(LostLockException, ours.QlessException)
assert qless.workers.serial.SerialWorker.__module__ == "pyqless.compat.qless.workers.serial"
print("same")
"""
    assert run_python(program) == "same\n"


def test_it_does_not_stand_in_for_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "qless.py").touch()
    program = "import qless; from pyqless.compat import qless; qless.install()"
    told = run_python(program, PYTHONPATH=str(tmp_path))
    assert "ImportError: another qless is imported already" in told


def test_classes_go_by_the_names_that_both_know(client: qless.Client) -> None:
    queue = client.queues["q"]
    assert queue.class_string("any.Name") == "any.Name"
    assert queue.class_string(SimpleNamespace) == "types.SimpleNamespace"
    assert queue.class_string(qless.Job) == "qless.job.Job"
    assert import_class("qless.job.Job") is qless.Job
    queue.put(qless.Job, {}, jid="J")
    job = client.jobs["J"]
    assert job is not None
    assert repr(job) == "<qless.job.Job J>"
    assert job.klass is qless.Job


# -- what calls give --------------------------------------------------------------------------


def test_where_there_is_nothing(client: qless.Client) -> None:
    queue = client.queues["q"]
    nothing: dict[str, int | bool | str] = dict.fromkeys(
        ("waiting", "running", "stalled", "scheduled", "depends", "recurring"), 0
    )
    assert client.queues.counts == client.workers.counts == client.tags() == {}
    assert client.jobs.tracked() == {"jobs": [], "expired": {}}
    assert client.jobs.tagged("x") == {"total": 0, "jobs": {}}
    assert client.jobs.failed() == {}
    assert client.jobs.failed("group") == {"total": 0, "jobs": []}
    assert client.jobs.complete() == client.jobs.get() == client.jobs.get("no") == []
    assert client.jobs["no"] is None
    assert client.workers["no"] == {"jobs": [], "stalled": []}
    assert queue.counts == {"name": "q", "paused": False, **nothing}
    assert queue.pop() is queue.peek() is None
    assert queue.pop(3) == queue.peek(3) == queue.jobs.running() == []
    assert len(queue) == 0


def test_a_job_shows_what_it_was_put_with(client: qless.Client) -> None:
    queue = client.queues["q"]
    assert queue.put("Klass", {"a": 1}, jid="J", tags=["t"], priority=2, retries=3) == "J"
    assert len(queue.put("Klass", {})) == 32
    job = queue.peek()
    shown = {name: value for name, value in vars(job).items() if name not in ("client", "history")}
    assert shown == {
        "jid": "J",
        "klass_name": "Klass",
        "queue_name": "q",
        "data": {"a": 1},
        "tags": ["t"],
        "priority": 2,
        "original_retries": 3,
        "retries_left": 3,
        "state": "waiting",
        "tracked": False,
        "worker_name": "",
        "expires_at": 0,
        "dependents": [],
        "dependencies": [],
        "failure": {},
    }
    assert [(entry["what"], entry["q"], type(entry["when"])) for entry in job.history] == [
        ("put", "q", int)
    ]
    assert job.queue.name == "q"
    assert (job["a"], job["b"]) == (1, None)
    assert next(job.jid for job in queue.pop(10)) == "J"
    assert client.jobs.get("J", "no")[0].worker_name == "ann"


@pytest.mark.parametrize("command", ["put", "requeue", "recur"])
def test_no_retries_mean_five(client: qless.Client, command: str) -> None:
    queue = client.queues["q"]
    queue.put("Klass", {}, jid="J", retries=1)
    arguments: list[Any] = ["Klass", {}, *([60] if command == "recur" else [])]
    jid = "R" if command == "recur" else "J"
    with pytest.warns(UserWarning, match="retries=0 means 5") as warned:
        assert getattr(queue, command)(*arguments, jid=jid, retries=0) == jid
    assert warned[0].filename == __file__
    job: Any = client.jobs[jid]
    assert (job.retries if command == "recur" else job.original_retries) == 5


def test_a_lock_is_renewed_in_whole_seconds(client: qless.Client) -> None:
    client.config["heartbeat"] = 10
    job = running(client)
    assert 9 < job.ttl <= 10
    client.queues["q"].heartbeat = 20
    job["b"] = 2
    assert job.heartbeat() == job.expires_at == int(job.expires_at)
    assert 18 < job.ttl <= 20
    assert client.jobs.get("J")[0].data == {"a": 1, "b": 2}


def test_the_end_of_a_run(client: qless.Client) -> None:
    job = running(client)
    assert job.retry() == 4
    assert client.queues["q"].pop().complete("next") == "waiting"
    assert client.queues["next"].pop().complete("next", delay=60) == "scheduled"
    assert client.jobs.get("J")[0].move("q") == "J"
    assert client.queues["q"].pop().complete() == "complete"
    assert client.jobs.complete() == ["J"]


def test_failures(client: qless.Client) -> None:
    assert running(client).fail("group", "message") == "J"
    failed = client.jobs.failed("group")
    assert (failed["total"], [job.jid for job in failed["jobs"]]) == (1, ["J"])
    failure = failed["jobs"][0].failure
    assert isinstance(failure.pop("when"), int)
    assert failure == {"group": "group", "message": "message", "worker": "ann"}
    assert client.jobs.failed() == {"group": 1}
    assert client.unfail("group", "q") == 1
    assert client.queues["q"].pop().retry(group="again", message="later") == 4
    assert client.jobs.get("J")[0].failure["group"] == "again"


def test_tracking_tells_in_texts(client: qless.Client) -> None:
    job = running(client)
    assert (job.track(), client.track("J")) == ("1", "0")
    [tracked] = client.jobs.tracked()["jobs"]
    assert tracked.heartbeat() > time.time()  # qless-py gives such a job the wrong client
    assert (client.untrack("J"), job.untrack()) == ("1", "0")


def test_tags_are_told_in_json(client: qless.Client) -> None:
    job = running(client, tags=["a"])
    assert job.tag("b") == '["a","b"]'
    assert job.untag("a") == '["b"]'
    assert job.tags == ["a"]
    assert client.jobs.tagged("b") == {"total": 1, "jobs": ["J"]}
    client.queues["q"].put("Klass", {}, tags=["b"])
    assert client.tags() == ["b"]


def test_calls_that_say_little(client: qless.Client) -> None:
    queue = client.queues["q"]
    job = running(client)
    assert queue.pause() is queue.unpause() is job.timeout() is None  # type: ignore[func-returns-value]
    assert client.jobs.get("J")[0].state == "stalled"
    queue.put("Klass", {}, jid="waits", depends=["J"])
    waiting: Any = client.jobs["waits"]
    assert waiting.depend("J") == waiting.undepend("J") == 1
    assert waiting.cancel() == waiting.cancel() == ["waits"]


def test_jobs_wait_for_others(client: qless.Client) -> None:
    queue = client.queues["q"]
    for jid in ("a", "b"):
        queue.put("Klass", {}, jid=jid)
    queue.put("Klass", {}, jid="c", depends=["a"])
    job: Any = client.jobs["c"]
    assert job.depend("b") == 1
    assert client.jobs.get("c")[0].dependencies == ["a", "b"]
    assert queue.jobs.depends() == ["c"]
    assert job.undepend(all=True) == 1
    assert client.jobs.get("c")[0].state == "waiting"


def test_a_priority_is_written_through(client: qless.Client) -> None:
    job = running(client)
    job.priority = 7
    assert client.jobs.get("J")[0].priority == 7
    job.priority = 0  # qless-py goes on showing what was there before
    assert job.priority == client.jobs.get("J")[0].priority == 0


def test_workers_and_queues_are_counted(client: qless.Client, other: qless.Client) -> None:
    running(other)
    assert client.workers.counts == [{"name": "bob", "jobs": 1, "stalled": 0}]
    assert client.workers["bob"] == {"jobs": ["J"], "stalled": []}
    [counts] = client.queues.counts
    assert (counts["name"], counts["running"], counts["paused"]) == ("q", 1, False)
    assert client.queues["q"].heartbeat == 60


def test_statistics(client: qless.Client) -> None:
    running(client).complete()
    stats = client.queues["q"].stats()
    assert sorted(stats) == ["failed", "failures", "retries", "run", "wait"]
    assert stats["run"]["count"] == sum(stats["run"]["histogram"]) == 1
    assert len(stats["run"]["histogram"]) == 60 + 59 + 23 + 6
    assert client.queues["q"].stats(86400.0)["run"]["count"] == 0


# -- settings ---------------------------------------------------------------------------------


def test_settings_are_a_dict(client: qless.Client) -> None:
    config = client.config
    assert (config["heartbeat"], config["unset"], config["application"]) == (60, None, "qless")
    config.update({"zero": 0, "text": "a b"}, number=1.5)
    assert (config["zero"], config["number"], config["text"]) == (0, 1.5, "a b")
    assert (config.get("zero", 3), config.get("unset", 3)) == (0, 3)
    assert config.all["zero"] == "0"
    assert config.pop("zero") == 0
    assert "zero" not in config
    assert list(config) == list(config.keys())
    assert dict(config.items()) == config.all
    config.clear()
    assert len(config) == len(config.values()) == 7


# -- recurring jobs ---------------------------------------------------------------------------


def recurring(client: qless.Client) -> qless.RecurringJob:
    queue = client.queues["q"]
    assert queue.recur("Klass", {"a": 1}, 60, jid="R", tags=["t"], retries=3, priority=1) == "R"
    job = client.jobs["R"]
    assert isinstance(job, qless.RecurringJob)
    return job


def test_a_recurring_job_shows_and_takes_settings(client: qless.Client) -> None:
    job = recurring(client)
    assert client.queues["q"].jobs.recurring() == ["R"]
    assert (job.klass_name, job.queue_name, job.tags) == ("Klass", "q", ["t"])
    assert (job.data, job.count) == ({"a": 1}, 0)
    job.priority, job.retries, job.interval = 0, 2, 30
    job.data = {"b": 2}
    job.klass = qless.Job
    job.count = 7  # nobody but the store counts
    for seen in (job, client.jobs["R"]):
        assert isinstance(seen, qless.RecurringJob)
        assert (seen.priority, seen.retries, seen.interval) == (0, 2, 30)
        assert (seen.data, seen.klass_name, seen.klass) == ({"b": 2}, "qless.job.Job", qless.Job)
    assert (job.count, client.jobs["R"].count) == (7, 0)  # type: ignore[union-attr]


def test_a_recurring_job_comes_again(client: qless.Client) -> None:
    job = recurring(client)
    first = job.next
    assert first is not None
    assert client.queues["q"].pop().jid == "R-1"
    assert job.next == pytest.approx(first + 60)


def test_a_recurring_job_moves_and_goes(client: qless.Client) -> None:
    job = recurring(client)
    assert job.tag("u") == '["t","u"]'
    assert job.untag("t") == '["u"]'
    assert job.move("other") == 1
    assert job.queue_name == "q"
    assert client.queues["other"].jobs.recurring() == ["R"]
    assert job.cancel() is job.next is None  # type: ignore[func-returns-value]
    assert client.jobs["R"] is None


# -- errors -----------------------------------------------------------------------------------


def test_errors_have_the_words_of_the_core(client: qless.Client, other: qless.Client) -> None:
    running(client)
    theirs: Any = other.jobs["J"]
    with pytest.raises(QlessException) as lost:
        theirs.complete()
    assert str(lost.value) == "Complete(): Job J has been handed out to another worker: ann"
    assert isinstance(lost.value.__cause__, JobLost)
    with pytest.raises(QlessException, match=r"Unknown command nope"):
        client("nope")
    with pytest.raises(QlessException, match=r"Requeue\(\): Job no does not exist"):
        client.queues["q"].requeue("Klass", {}, jid="no")
    with pytest.raises(QlessException, match=r'Recur\(\): Arg "interval" must be greater than 0'):
        client.queues["q"].recur("Klass", {}, 0)


def test_a_lost_lock_is_told_by_its_jid(client: qless.Client, other: qless.Client) -> None:
    job = running(client)
    with pytest.raises(LostLockException, match=r"^J$"):
        other.jobs.get("J")[0].heartbeat()
    job.retry()
    with pytest.raises(LostLockException) as lost:
        job.heartbeat()
    assert lost.value.__cause__ is not None
    assert isinstance(lost.value.__cause__.__cause__, NotRunning)


def test_commands_take_texts_and_numbers(client: qless.Client) -> None:
    assert client("config.set", "option", b"\xff") is None
    assert client("config.get", "option") == "\udcff"
    values: list[Any] = [{}, None, True]
    for value in values:
        with pytest.raises(QlessException, match="texts and numbers") as refused:
            client("config.set", "option", value)
        assert (refused.value.argument, refused.value.value) == ("args", value)


def test_what_does_not_answer_is_an_error_of_redis_py() -> None:
    client = qless.Client("redis://127.0.0.1:1")
    with pytest.raises(redis.ConnectionError) as away:
        client.queues["q"].pop()
    assert isinstance(away.value, QlessError)
    assert not isinstance(away.value, QlessException)
    client.close()


@pytest.mark.parametrize("name", ["client", "jobs", "queues", "workers", "config", "queue", "job"])
def test_there_are_no_other_attributes(client: qless.Client, name: str) -> None:
    queue = client.queues["q"]
    things: dict[str, Any] = {"client": client, "queue": queue, "job": running(client)}
    thing = things[name] if name in things else getattr(client, name)
    with pytest.raises(AttributeError):
        _ = thing.foo


# -- Redis itself -----------------------------------------------------------------------------


def test_the_client_of_redis_py_is_there(one_redis_url: str) -> None:
    url = f"{one_redis_url}?clock=store"  # an option of ours, which redis-py does not know
    client = qless.Client(url, decode_responses=False, socket_timeout=3)
    client.queues["q"].put("Klass", {})
    assert client.redis.get("list") is None
    client.redis.rpush("list", "text")
    assert client.redis.brpop(["list"], 1) == ("list", "text")
    assert client.redis.connection_pool.connection_kwargs["socket_timeout"] == 3
    client.close()


def test_a_profile(one_redis_server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    client = qless.Client(one_redis_server.url)
    before = client.redis.config_get("slowlog-*")
    with Profiler(client):
        client.queues["q"].put("Klass", {})
    told = capsys.readouterr().out
    assert "Raw Redis Commands" in told
    assert " zadd => " in told
    assert " config => " not in told
    assert client.redis.config_get("slowlog-*") == before
    client.close()
