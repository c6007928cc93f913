# SPDX-License-Identifier: MIT
"""Events: what happens is told by name, from whichever channel it comes."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import pyqless
from pyqless import Client, Event, Queue
from pyqless.client.events import event_of
from pyqless.core.keys import Keys
from pyqless.errors import StoreUnavailable
from pyqless.storage import AsyncSubscription, Message, Subscription


def taken(events: Any) -> list[Event]:
    """Take what has been published already; in memory that comes at once."""
    found = []
    while (event := events.get(timeout=0)) is not None:
        found.append(event)
    return found


def test_what_happens_to_a_tracked_job(client: Client, queue: Queue) -> None:
    queue.put("k", jid="a")
    with client.events("tracked") as events:
        client.jobs["a"].track()
        (job,) = queue.pop(1)
        job.complete()
        client.jobs["a"].untrack()
        assert [(event.name, event.source, event.jid) for event in taken(events)] == [
            ("track", "tracked", "a"),
            ("popped", "tracked", "a"),
            ("completed", "tracked", "a"),
            ("untrack", "tracked", "a"),
        ]


def test_the_log_tells_of_every_job(client: Client, queue: Queue) -> None:
    with client.events("log") as events:
        queue.put("k", jid="a")
        (job,) = queue.pop(1)
        job.complete("next")
        client.config["heartbeat"] = 5
        assert taken(events) == [
            Event(name="put", source="log", jid="a", details={"queue": "mail"}),
            Event(name="advanced", source="log", jid="a", details={"queue": "mail", "to": "next"}),
            Event(
                name="config_set",
                source="log",
                jid=None,
                details={"option": "heartbeat", "value": "5"},
            ),
        ]


def test_a_worker_hears_of_its_own_jobs(client: Client, bob: Client, queue: Queue) -> None:
    queue.put("k", jid="a")
    queue.pop()
    lost = Event(name="lock_lost", source="worker", jid="a", details={"worker": "ann"})
    with client.events("worker") as own, bob.events("worker") as others:
        with bob.events("worker", worker="ann") as watched:
            bob.jobs["a"].timeout()
            assert taken(watched) == [lost]
        assert taken(own) == [lost]
        assert taken(others) == []


@pytest.mark.parametrize("worker", ["w[1]", "w*", "w?", "w\\1"])
def test_a_name_may_hold_what_is_special_in_patterns(
    client: Client, url: str, queue: Queue, worker: str
) -> None:
    queue.put("k", jid="a")
    queue.put("k", jid="b")
    with (
        Client(url, worker_name=worker) as watcher,
        watcher.events("worker") as own,
        watcher.events("worker", worker="w1") as others,
    ):
        for name in (worker, "w1"):
            with Client(url, worker_name=name) as popper:
                (job,) = popper.queues["mail"].pop(1)
            client.jobs[job.jid].cancel()
        assert [event.details["worker"] for event in taken(own)] == [worker]
        assert [event.details["worker"] for event in taken(others)] == ["w1"]


def test_all_sources_unless_any_is_named(client: Client, queue: Queue) -> None:
    queue.put("k", jid="a")
    (job,) = queue.pop(1)
    job.track()
    with client.events() as events:
        job.cancel()
        assert {(event.source, event.name, event.jid) for event in taken(events)} == {
            ("log", "canceled", "a"),
            ("tracked", "canceled", "a"),
            ("worker", "canceled", "a"),
        }


def test_iteration_waits_and_ends_when_it_is_closed(client: Client, queue: Queue) -> None:
    events = client.events("log")
    heard: list[str] = []
    first = threading.Event()

    def listen() -> None:
        for event in events:
            heard.append(event.name)
            first.set()

    listener = threading.Thread(target=listen)
    listener.start()
    queue.put("k")
    assert first.wait(10)
    events.close()
    listener.join(10)
    assert not listener.is_alive()
    assert heard == ["put"]


def test_callbacks_are_called_by_name_until_it_is_closed(client: Client, queue: Queue) -> None:
    events = client.events("log")
    heard: list[str | None] = []

    def note(event: Event) -> None:
        heard.append(event.jid)
        if event.jid == "b":
            events.close()

    queue.put("k", jid="a")
    client.config["heartbeat"] = 5
    queue.put("k", jid="b")
    events.listen({"put": note})
    assert heard == ["a", "b"]


async def test_callbacks_for_asyncio_are_awaited(async_client: pyqless.AsyncClient) -> None:
    async with async_client, async_client.events("log") as events:
        heard: list[str | None] = []

        async def note(event: Event) -> None:
            heard.append(event.jid)
            await events.close()

        await async_client.queues["mail"].put("k", jid="a")
        await events.listen({"put": note})
        assert heard == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "nope", "5", "[]", "{}", '{"jid":"a"}', '{"event":1}', '{"event":null,"jid":"a"}'),
        *('{"event":"put","jid":["a"]}', '{"event":"put","jid":"a","queue":{}}'),
        *('{"event":"put","to":5}', "[" * 100_000),
    ],
    ids=lambda text: text[:40],
)
def test_what_makes_no_sense_has_no_name(text: str) -> None:
    event = event_of(Keys(), Message("ql:log", text))
    assert (event.name, event.source, event.jid, event.details) == ("", "log", None, {"data": text})


async def test_events_for_asyncio(async_client: pyqless.AsyncClient) -> None:
    async with async_client, async_client.events("log") as events:
        await async_client.queues["mail"].put("k", jid="a")
        async for event in events:
            assert (event.name, event.jid) == ("put", "a")
            break
        assert await events.get(timeout=0) is None
        await events.close()


async def test_listening_begins_at_the_latest_with_the_first_event_asked_for(
    async_client: pyqless.AsyncClient,
) -> None:
    events = async_client.events("log")
    assert await events.get(timeout=0) is None
    await async_client.queues["mail"].put("k", jid="a")
    event = await events.get(timeout=10)
    assert event is not None
    assert event.name == "put"
    await events.close()
    await async_client.close()


async def test_closing_what_never_listened_is_no_error(async_client: pyqless.AsyncClient) -> None:
    events = async_client.events()
    await events.close()
    await async_client.close()
    assert events._messages is None


async def test_closing_while_it_begins_to_listen_ends_the_wait(
    async_client: pyqless.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = async_client.events("log")
    storage = async_client.storage
    closed: list[object] = []

    async def subscribe(*channels: str) -> AsyncSubscription:
        messages = await type(storage).subscribe(storage, *channels)
        close = messages.close

        async def noted() -> None:
            closed.append(messages)
            await close()

        monkeypatch.setattr(messages, "close", noted)
        await events.close()
        return messages

    monkeypatch.setattr(storage, "subscribe", subscribe)
    assert await events.get() is None
    assert len(closed) == 1
    await async_client.close()


async def test_closing_while_it_listens_anew_ends_the_wait_of_a_task(
    async_client: pyqless.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = async_client.storage
    async with async_client, async_client.events("log") as events:

        async def broken(timeout: float | None = None) -> None:
            raise StoreUnavailable("the subscription is broken")

        async def subscribe(*channels: str) -> AsyncSubscription:
            await events.close()
            return await type(storage).subscribe(storage, *channels)

        monkeypatch.setattr(events._messages, "get", broken)
        monkeypatch.setattr(storage, "subscribe", subscribe)
        assert await events.get() is None


def test_closing_while_it_listens_anew_ends_the_wait(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = client.events("log")
    storage, closed = client.storage, []

    def broken(timeout: float | None = None) -> None:
        raise StoreUnavailable("the subscription is broken")

    def subscribe(*channels: str) -> Subscription:
        messages = type(storage).subscribe(storage, *channels)
        close = messages.close

        def noted() -> None:
            closed.append(messages)
            close()

        monkeypatch.setattr(messages, "close", noted)
        events.close()
        return messages

    monkeypatch.setattr(events._messages, "get", broken)
    monkeypatch.setattr(storage, "subscribe", subscribe)
    assert events.get() is None
    assert len(closed) == 1
