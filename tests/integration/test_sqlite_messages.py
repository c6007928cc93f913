# SPDX-License-Identifier: MIT
"""Messages by way of a file: between processes, at once, in order, and in bounded space."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from pyqless.core.effects import Factory, Transition
from pyqless.core.transaction import Transaction
from pyqless.storage import Message, Storage, open_async_storage, open_storage
from pyqless.storage.sqlite import driver, listeners, subscription
from pyqless.storage.subscriptions import GAP
from tests.sqlite_files import start, url_of

PATIENCE = 60.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def storage(path: Path) -> Iterator[Storage]:
    with open_storage(url_of(path, synchronous="normal")) as storage:
        yield storage


def publishing(*messages: tuple[str, str]) -> Factory[None]:
    def transition(tx: Transaction) -> Transition[None]:
        for channel, data in messages:
            tx.publish(channel, data)
        return
        yield

    return transition


def count(path: Path, table: str) -> int:
    connection = apsw.Connection(str(path))
    number = connection.execute(f"SELECT count(*) FROM {table}").get  # noqa: S608
    connection.close()
    return int(str(number))


def bells(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.glob("*.bell"))


PUBLISH = """
    import time
    from sys import stdin
    storage = open_storage(argv[1])

    def transition(tx):
        tx.publish("told", repr(time.monotonic()))
        return
        yield

    storage.run(transition)
    print("ready", flush=True)
    for line in stdin:
        storage.run(transition)
"""


def test_a_message_of_another_process_comes_at_once(path: Path, storage: Storage) -> None:
    with storage.subscribe("told") as ear, start(PUBLISH, url_of(path)) as process:
        assert ear.get(PATIENCE) is not None
        delays = []
        for _ in range(20):
            process.stdin.write("go\n")
            process.stdin.flush()
            message = ear.get(PATIENCE)
            assert message is not None
            delays.append(time.monotonic() - float(message.data))
        process.stdin.close()
    assert statistics.median(delays) < 0.05


async def test_a_message_of_another_process_comes_at_once_to_asyncio(path: Path) -> None:
    async with (
        open_async_storage(url_of(path)) as storage,
        await storage.subscribe("told") as ear,
    ):
        with start(PUBLISH, url_of(path)) as process:
            assert await ear.get(PATIENCE) is not None
            delays = []
            for _ in range(20):
                process.stdin.write("go\n")
                process.stdin.flush()
                message = await ear.get(PATIENCE)
                assert message is not None
                delays.append(time.monotonic() - float(message.data))
            process.stdin.close()
        assert statistics.median(delays) < 0.05


def test_messages_that_nobody_listens_for_are_not_kept(path: Path, storage: Storage) -> None:
    with storage.subscribe("told", "a?c*") as ear:
        storage.run(publishing(("other", "1"), ("told", "2"), ("abcd", "3"), ("ac", "4")))
        assert ear.drain() == [Message("told", "2"), Message("abcd", "3")]
        assert count(path, "message") == 2
    assert count(path, "message") == 0
    assert count(path, "listener") == 0
    assert bells(path) == []
    storage.run(publishing(("told", "5")))
    assert count(path, "message") == 0


def test_each_gets_what_it_listens_for(storage: Storage, path: Path) -> None:
    with (
        open_storage(url_of(path)) as other,
        storage.subscribe("a", "b") as first,
        other.subscribe("*") as second,
    ):
        storage.run(publishing(("a", "1"), ("c", "2")))
        other.run(publishing(("b", "3")))
        assert first.drain() == [Message("a", "1"), Message("b", "3")]
        assert second.drain() == [Message("a", "1"), Message("c", "2"), Message("b", "3")]
        assert first.drain() == second.drain() == []


def test_flushing_leaves_listeners_alone(storage: Storage) -> None:
    with storage.subscribe("told") as ear:
        storage.flush()
        storage.run(publishing(("told", "1")))
        assert ear.drain() == [Message("told", "1")]


def test_only_so_many_messages_are_kept(
    path: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "_KEPT", 20)
    monkeypatch.setattr(listeners, "_SWEEP", 5)
    with storage.subscribe("told") as ear:
        for number in range(100):
            storage.run(publishing(("told", str(number))))
            assert count(path, "message") < 20 + 5
        gap, *heard = ear.drain()
        assert gap == GAP
        assert 20 <= len(heard) < 25
        assert [int(message.data) for message in heard] == list(range(100 - len(heard), 100))
        storage.run(publishing(("told", "100")))
        assert ear.drain() == [Message("told", "100")]


def test_a_publisher_that_dies_before_it_rings_is_heard_all_the_same(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "ring", lambda *_: True)
    with storage.subscribe("told") as ear:
        storage.run(publishing(("told", "1")))
        assert ear.get(PATIENCE) == Message("told", "1")


def test_without_sockets_one_looks_now_and_then(
    path: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_bell(_: str) -> None:
        raise OSError("no sockets here")

    monkeypatch.setattr(subscription, "Bell", no_bell)
    with storage.subscribe("told") as ear:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(ear.get, PATIENCE)
            storage.run(publishing(("told", "1")))
            assert waiting.result(PATIENCE) == Message("told", "1")
        assert bells(path) == []
        assert ear.get(0.05) is None
    assert count(path, "listener") == 0


async def test_without_sockets_asyncio_looks_now_and_then(
    path: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_bell(_: str) -> None:
        raise OSError("no sockets here")

    monkeypatch.setattr(subscription, "Bell", no_bell)
    async with (
        open_async_storage(url_of(path)) as awaited,
        await awaited.subscribe("told") as ear,
    ):
        storage.run(publishing(("told", "1")))
        assert await ear.get(PATIENCE) == Message("told", "1")
        assert await ear.get(0.05) is None


LISTEN = """
    storage = open_storage(argv[1])
    ear = storage.subscribe("told")
    print("ready", flush=True)
    ear.get()
"""


def test_a_listener_that_was_killed_is_forgotten(path: Path, storage: Storage) -> None:
    with start(LISTEN, url_of(path)) as process:
        assert process.stdout.readline() == "ready\n"
        assert len(bells(path)) == 1
        process.send_signal(signal.SIGKILL)
    assert count(path, "listener") == 1
    storage.run(publishing(("told", "1")))
    assert count(path, "listener") == 0
    assert count(path, "message") == 0
    assert bells(path) == []


def test_closing_ends_a_wait(storage: Storage) -> None:
    ear = storage.subscribe("told")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ear.get)
        ear.close()
        assert waiting.result(PATIENCE) is None
    assert ear.get() is None
    ear.close()


def test_iteration_ends_when_the_subscription_is_closed(storage: Storage) -> None:
    ear = storage.subscribe("told")
    heard: list[Message] = []
    listening = threading.Thread(target=lambda: heard.extend(ear))
    listening.start()
    storage.run(publishing(("told", "1"), ("told", "2")))
    while len(heard) < 2:
        time.sleep(0.001)
    ear.close()
    listening.join(PATIENCE)
    assert not listening.is_alive()
    assert [message.data for message in heard] == ["1", "2"]


FORK = """
    import os
    storage = open_storage(argv[1])
    ear = storage.subscribe("told")
    child = os.fork()
    if not child:
        os._exit(0 if ear.get() is None else 1)
    print(os.waitpid(child, 0)[1], flush=True)
    print(*ear.get(60), flush=True)
    storage.close()
"""


def test_the_bell_stays_with_the_parent(path: Path, storage: Storage) -> None:
    with start(FORK, url_of(path)) as process:
        assert process.stdout.readline() == "0\n"
        assert len(bells(path)) == 1
        storage.run(publishing(("told", "1")))
        assert process.stdout.readline() == "told 1\n"


async def test_a_wait_that_is_cancelled_loses_nothing(path: Path, storage: Storage) -> None:
    async with (
        open_async_storage(url_of(path)) as awaited,
        await awaited.subscribe("told") as ear,
    ):
        heard = []
        for number in range(100):
            storage.run(publishing(("told", str(number))))
            waiting = asyncio.create_task(ear.get())
            for _ in range(number % 5):
                await asyncio.sleep(0)
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                heard.append(await waiting)
        while (message := await ear.get(0)) is not None:
            heard.append(message)
        assert heard == [Message("told", str(number)) for number in range(100)]


async def test_closing_ends_a_wait_in_asyncio(path: Path) -> None:
    async with open_async_storage(url_of(path)) as storage:
        ear = await storage.subscribe("told")
        waiting = asyncio.create_task(ear.get())
        await asyncio.sleep(0)
        await ear.close()
        assert await asyncio.wait_for(waiting, PATIENCE) is None
        await ear.close()
    assert bells(path) == []


RINGING = """
import sys
from pyqless import Client

with Client(sys.argv[1]) as client, client.events("log") as events:
    client.queues["q"].put("k")
    assert events.get(30) is not None
"""


def test_a_process_that_has_rung_a_bell_leaves_nothing_open(path: Path) -> None:
    line = [sys.executable, "-X", "dev", "-W", "error", "-c", RINGING, url_of(path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
