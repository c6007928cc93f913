# SPDX-License-Identifier: MIT
"""The client itself: where it connects, under which name; settings and workers."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import socket
from typing import Any

import pytest
import redis

import pyqless
from pyqless import AsyncClient, AsyncOnCommit, Client, OnCommit, Queue
from pyqless.errors import InvalidArgument, StoreUnavailable
from tests.unit.client.moved import MovedClock


def test_the_version_is_that_of_the_package() -> None:
    assert pyqless.__version__ == importlib.metadata.version("pyqless")


def test_all_that_is_named_is_there() -> None:
    assert all(hasattr(pyqless, name) for name in pyqless.__all__)


def test_the_library_is_silent_unless_it_is_told_otherwise() -> None:
    handlers = logging.getLogger("pyqless").handlers
    assert any(isinstance(handler, logging.NullHandler) for handler in handlers)


def test_a_worker_is_named_after_host_and_process(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Client(url) as client:
        assert client.worker_name == f"{socket.gethostname()}-{os.getpid()}"
        monkeypatch.setattr(os, "getpid", lambda: 4321)  # as after a fork
        assert client.worker_name == f"{socket.gethostname()}-4321"


def test_a_client_says_where_it_is_and_who(url: str) -> None:
    with Client(url, worker_name="ann") as client:
        assert repr(client) == f"<Client {url} as 'ann'>"
        assert repr(client.queues["q"]) == "<Queue 'q'>"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("url", {"url": 5}),
        ("url", {"url": "gopher://host"}),
        ("connection", {"url": "memory://", "connection": object()}),
        ("worker_name", {"url": "memory://", "worker_name": ""}),
        ("namespace", {"url": "memory://", "namespace": ""}),
        ("max_data_size", {"url": "memory://", "max_data_size": 0}),
    ],
    ids=range(6),
)
def test_what_a_client_is_made_of_is_checked(
    kind: type[Any], argument: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        kind(**options)
    assert raised.value.argument == argument


@pytest.mark.parametrize(
    "options",
    [
        {"url": "redis://ann:hunter2@localhost:1/0"},
        {"connection": redis.Redis.from_url("redis://ann:hunter2@localhost:1/0")},
        {"connection": redis.ConnectionPool.from_url("redis://:hunter2@localhost:1/0")},
    ],
    ids=["url", "client", "pool"],
)
def test_a_client_keeps_its_password_to_itself(options: dict[str, Any]) -> None:
    with Client(**options) as client:
        assert "localhost" in repr(client)
        assert "hunter2" not in repr(client)


def test_namespaces_keep_apart(url: str) -> None:
    with Client(url) as one, Client(url, namespace="two") as two:
        one.queues["q"].put("k")
        assert two.queues["q"].peek() is None
        assert one.queues["q"].peek() is not None
        assert {key.partition(":")[0] for key in one.storage.dump()} == {"ql"}


# -- settings ---------------------------------------------------------------------------------


def test_settings_have_defaults(client: Client) -> None:
    assert client.config.all() == {
        "application": "qless",
        "heartbeat": 60,
        "grace-period": 10,
        "stats-history": 30,
        "histogram-history": 7,
        "jobs-history-count": 50000,
        "jobs-history": 604800,
    }


def test_settings_work_as_a_dict(client: Client) -> None:
    config = client.config
    config["heartbeat"] = 120
    config["application"] = "mail"
    config["ratio"] = 0.5
    assert (config["heartbeat"], config["application"], config["ratio"]) == (120, "mail", 0.5)
    assert "ratio" in config
    assert {"ratio", "heartbeat", "grace-period"} <= set(config)
    del config["heartbeat"], config["ratio"]
    assert config["heartbeat"] == 60
    assert "ratio" not in config
    with pytest.raises(KeyError, match="ratio"):
        config["ratio"]
    assert (config.get("ratio"), config.get("ratio", 7), config.get("heartbeat", 7)) == (
        None,
        7,
        60,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("heartbeat", "long"),
        ("heartbeat", 0),
        ("grace-period", -1),
        ("max-job-history", 2.5),
        ("jobs-history-count", "5"),
        ("q-max-concurrency", -1),
        ("application", True),
        ("application", None),
    ],
    ids=range(8),
)
def test_a_setting_that_would_harm_every_call_is_refused(
    client: Client, name: str, value: Any
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        client.config[name] = value
    assert (raised.value.argument, raised.value.value) == (name, value)


def test_numbers_are_written_as_other_clients_write_them(client: Client) -> None:
    client.config["heartbeat"] = 120.0
    client.config["grace-period"] = 0.1
    assert client.storage.dump()["ql:config"]["value"] == {
        "heartbeat": "120",
        "grace-period": "0.1",
    }


# -- workers ----------------------------------------------------------------------------------


def test_workers_and_what_they_have_in_hand(
    client: Client, bob: Client, queue: Queue, clock: MovedClock
) -> None:
    queue.put("k", jid="a")
    queue.pop()
    clock.move(1)
    queue.put("k", jid="b")
    bob.queues["mail"].pop()
    clock.move(59.5)

    assert [tuple(counts) for counts in client.workers] == [("bob", 1, 0), ("ann", 0, 1)]
    assert client.workers["ann"] == ([], ["a"])
    assert client.workers["bob"] == (["b"], [])
    assert client.workers["no"] == ([], [])


def test_a_worker_is_struck_from_the_list_and_keeps_its_jobs(client: Client, queue: Queue) -> None:
    queue.put("k", jid="a")
    queue.pop()
    client.workers.deregister("ann")
    assert client.workers.counts() == []
    assert client.workers["ann"].jobs == ["a"]


# -- reprs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_everything_says_what_it_is_in_few_words_and_no_secrets(kind: Any) -> None:
    client = kind("redis://ann:hunter2@localhost:1/0", worker_name="w")
    queue = client.queues["mail"]
    function = pyqless.job(queue="mail", name="mail.send")(print)
    on_commit = OnCommit if kind is Client else AsyncOnCommit
    prefix = "" if kind is Client else "Async"
    url = "redis://ann:***@localhost:1/0"
    expected = {
        client.queues: f"<{prefix}Queues of {url}>",
        client.jobs: f"<{prefix}Jobs of {url}>",
        client.recurring: f"<{prefix}RecurringJobs of {url}>",
        client.workers: f"<{prefix}Workers of {url}>",
        client.tags: f"<{prefix}Tags of {url}>",
        client.config: f"<{prefix}Config of {url}>",
        client.consumer("a", "b"): f"<{prefix}Consumer of 'a', 'b'>",
        on_commit(client, print): f"<{prefix}OnCommit with <{prefix}Client {url} as 'w'>>",
        queue: f"<{prefix}Queue 'mail'>",
        function: "<JobFunction mail.send in 'mail'>",
        function.on(client): f"<{prefix}Order of <JobFunction mail.send in 'mail'>>",
    }
    assert {repr(each) for each in expected} == {*expected.values()}


def test_events_say_where_they_come_from(client: Client) -> None:
    with client.events() as events:
        assert repr(events) == f"<Events of {client.storage.url}>"


def test_a_closed_client_in_memory_is_of_no_use() -> None:
    client = Client("memory://")
    client.close()
    with pytest.raises(StoreUnavailable, match="the storage is closed"):
        client.queues["q"].put("k")


async def test_a_closed_client_in_memory_is_of_no_use_to_asyncio() -> None:
    client = AsyncClient("memory://")
    await client.close()
    with pytest.raises(StoreUnavailable, match="the storage is closed"):
        await client.queues["q"].put("k")
