# SPDX-License-Identifier: MIT
"""The client itself: where it connects, under which name; settings and workers."""

from __future__ import annotations

import importlib.metadata
import logging
import math
import os
import socket
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio

import pyqless
from pyqless import AsyncClient, AsyncOnCommit, Client, OnCommit, Queue
from pyqless.errors import ClientClosed, InvalidArgument
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


BAD: list[Any] = ["x", -1, math.nan, math.inf, True, b"x", [1], {"a": 1}]

#: what each option of a storage takes none of, and where
BAD_OPTIONS = {
    "policy": ("redis://localhost:1", BAD),
    "durability": ("redis://localhost:1", BAD),
    "headroom": ("redis://localhost:1", BAD),
    "socket_timeout": ("redis://localhost:1", BAD),
    "socket_connect_timeout": ("redis://localhost:1", BAD),
    "synchronous": ("sqlite:///x.db", BAD),
    "timeout": ("sqlite:///x.db", BAD),
    "clock": ("memory://", BAD),
    "encoder": ("memory://", BAD),
    "read_only": ("memory://", ["x", 1, b""]),
    "max_data_size": ("memory://", BAD),
}


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("argument", BAD_OPTIONS)
def test_no_option_takes_what_it_cannot_use(kind: type[Any], argument: str) -> None:
    url, values = BAD_OPTIONS[argument]
    for value in values:
        with pytest.raises(InvalidArgument) as raised:
            kind(url, **{argument: value})
        assert raised.value.argument == argument


@pytest.mark.parametrize("url", ["redis://localhost:1", "sqlite:///x.db"])
@pytest.mark.parametrize("lanes", [*BAD, 0, 1.5], ids=repr)
def test_lanes_are_a_number(url: str, lanes: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^lanes must be a whole number") as raised:
        AsyncClient(url, lanes=lanes)
    assert raised.value.argument == "lanes"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    "options", [{"retry": "x"}, {"protocol": math.inf}], ids=["retry", "protocol"]
)
def test_options_of_redis_py_that_make_no_sense_to_it_are_told(
    kind: type[Any], options: dict[str, Any]
) -> None:
    if kind is Client and "retry" in options:
        return  # which redis-py for threads takes, and never looks at
    with pytest.raises(InvalidArgument, match="url or options make no sense"):
        kind("redis://localhost:1", **options)


async def test_those_that_it_looks_at_when_it_connects_are_told_then() -> None:
    with (
        Client("redis://localhost:1", retry="x") as client,
        pytest.raises(InvalidArgument, match=r"redis-py can make nothing of") as raised,
    ):
        client.queues["q"].length()
    assert isinstance(raised.value.__cause__, AttributeError)
    aio: Any = redis.asyncio.Redis(port=1)
    aio.connection_pool.connection_kwargs["retry"] = "x"
    async with AsyncClient(connection=aio) as other:
        with pytest.raises(InvalidArgument, match=r"redis-py can make nothing of"):
            await other.queues["q"].length()


@pytest.mark.parametrize("whole", [True, False])
def test_a_connection_for_the_other_client_is_told_from_nonsense(*, whole: bool) -> None:
    blocking: Any = redis.Redis() if whole else redis.ConnectionPool()
    aio: Any = redis.asyncio.Redis() if whole else redis.asyncio.ConnectionPool()
    with pytest.raises(
        InvalidArgument, match=r"not a redis\.asyncio\..*, which is for AsyncClient"
    ):
        Client(connection=aio)
    with pytest.raises(InvalidArgument, match=r"not a redis\.[^.]*\..*, which is for Client$"):
        AsyncClient(connection=blocking)
    with pytest.raises(InvalidArgument, match=r"a pool of redis, not a str$"):
        Client(connection="redis://localhost:1")


NO_MOMENTS = [
    None,
    "5",
    b"5",
    True,
    math.nan,
    math.inf,
    datetime(2026, 1, 1, tzinfo=UTC),
    Decimal(5),
    [5.0],
]


@pytest.mark.parametrize("store", ["memory://", "fakeredis://", "sqlite:///{}/x.db"])
@pytest.mark.parametrize("moment", NO_MOMENTS, ids=repr)
async def test_a_clock_that_gives_no_moment_is_told(
    tmp_path: Path, store: str, moment: Any
) -> None:
    url = store.format(tmp_path)
    with Client(url, clock=lambda: moment) as client:
        for call in (lambda queue: queue.put("k"), Queue.pop, Queue.counts):
            with pytest.raises(InvalidArgument, match=r"^clock must give Unix time") as raised:
                call(client.queues["q"])
            assert raised.value.argument == "clock"
            assert raised.value.value is moment
    async with AsyncClient(url, clock=lambda: moment) as aio:
        with pytest.raises(InvalidArgument, match=r"^clock must give Unix time"):
            await aio.queues["q"].put("k")


def test_a_clock_may_give_whole_numbers() -> None:
    with Client("memory://", clock=lambda: 5) as client:
        client.queues["q"].put("k", jid="j")
        assert client.jobs["j"].history[0].when == 5


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
    with pytest.raises(ClientClosed):
        client.queues["q"].put("k")


async def test_a_closed_client_in_memory_is_of_no_use_to_asyncio() -> None:
    client = AsyncClient("memory://")
    await client.close()
    with pytest.raises(ClientClosed):
        await client.queues["q"].put("k")
