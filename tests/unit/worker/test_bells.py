# SPDX-License-Identifier: MIT
"""What wakes a worker without work, and what it asks the store until then; time stands still unless it is moved."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

import pytest

from pyqless import AsyncClient, Client, Queue
from pyqless.core import waking
from pyqless.errors import StoreRefused, StoreUnavailable
from pyqless.worker import bells
from pyqless.worker.bells import AsyncBell, Bell
from pyqless.worker.control import Control
from pyqless.worker.fetching import AsyncFetcher, Fetcher
from pyqless.worker.lookout import Lookout
from pyqless.worker.verdicts import giving_back
from tests.unit.worker.conftest import Clock


async def got(value: Any) -> Any:
    """Take what either kind gives, waited for or not."""
    return await value if inspect.isawaitable(value) else value


class Idle:
    """
    A worker that takes one turn after another: it fetches, and waits if there was nothing.

    Attributes:
        pops: how often the store was asked for jobs.
        looks: how often it was looked at.
    """

    def __init__(self, fetcher: Any, bell: Any, storage: Any) -> None:
        self.fetcher = fetcher
        fetcher._bell = bell
        self.storage = storage
        self.pops = self.looks = 0

    async def turn(self) -> list[str]:
        """Fetch; the jids, or wait a moment."""
        jids = [job.jid for job in await got(self.fetcher.fetch())]
        if not jids:
            await got(self.fetcher.wait())
        return jids

    async def turns(self, count: int) -> list[str]:
        """Take turns until one gives a job."""
        for _ in range(count):
            if jids := await self.turn():
                return jids
        return []


@pytest.fixture(autouse=True)
def _no_time_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bells, "SLICE", 0.002)


@pytest.fixture
def queue(other: Client) -> Queue:
    """Give the queue of somebody else's, whose calls are not counted."""
    return other.queues["mail"]


@pytest.fixture
def queues() -> list[str]:
    return ["mail"]


@pytest.fixture
def listen() -> bool:
    return True


@pytest.fixture(params=["blocking", "asyncio"])
def idle(
    request: pytest.FixtureRequest,
    client: Client,
    async_client: AsyncClient,
    clock: Clock,
    queues: list[str],
    *,
    listen: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> Idle:
    """Give a worker that looks every 20 seconds, and at once where it knows why."""
    options: dict[str, Any] = {"listen": listen, "chance": lambda: 1.0, "clock": clock}
    lookout, control = Lookout(queues, None), Control()
    if request.param == "blocking":
        bell = Bell(client, 20.0, lambda: False, **options)
        idle = Idle(Fetcher(client, lookout, control), bell, client.storage)
    else:
        slow = AsyncBell(async_client, 20.0, lambda: False, **options)
        idle = Idle(AsyncFetcher(async_client, lookout, control), slow, async_client.storage)
    run = idle.storage.run

    def counted(transition: Any, *rest: Any, **options: Any) -> Any:
        if getattr(transition, "func", None) is waking.outlook:
            idle.looks += 1
        elif getattr(transition, "func", None) is not waking.is_limited:
            idle.pops += 1
        return run(transition, *rest, **options)

    monkeypatch.setattr(idle.storage, "run", counted)
    return idle


async def test_a_worker_without_work_asks_once_and_looks_now_and_then(
    idle: Idle, clock: Clock
) -> None:
    assert await idle.turns(10) == []
    assert (idle.pops, idle.looks) == (2, 2), "it asks once more when it has begun to listen"
    clock.now += 19.9
    assert await idle.turns(10) == []
    assert idle.looks == 2
    clock.now += 0.2
    assert await idle.turns(10) == []
    assert (idle.pops, idle.looks) == (2, 3)


@pytest.mark.parametrize("what", ["delay", "recurrence", "lock"])
async def test_what_is_due_is_not_slept_through(
    idle: Idle, other: Client, queue: Queue, clock: Clock, what: str
) -> None:
    if what == "delay":
        queue.put("k", {}, jid="J", delay=3)
    elif what == "recurrence":
        queue.recur("k", {}, 60, jid="J", offset=3)
    else:
        other.config["grace-period"] = 0
        queue.heartbeat = 3
        queue.put("k", {}, jid="J")
        queue.pop()
    clock.now += 1
    assert await idle.turns(5) == []
    clock.now += 1.9
    asked = idle.pops
    assert await idle.turns(5) == []
    assert idle.pops == asked
    clock.now += 0.2
    assert await idle.turns(3) == (["J-1"] if what == "recurrence" else ["J"])


async def test_a_job_that_is_put_with_a_delay_meanwhile_is_known_of(
    idle: Idle, queue: Queue, clock: Clock
) -> None:
    await idle.turns(5)
    queue.put("k", {}, jid="J", delay=3)
    assert await idle.turns(5) == []
    clock.now += 3.1
    assert await idle.turns(2) == ["J"]


async def test_what_is_due_and_not_to_be_had_is_not_asked_for_time_and_again(
    idle: Idle, queue: Queue, clock: Clock
) -> None:
    queue.max_concurrency = 1
    queue.put("k", {})
    queue.pop()
    queue.put("k", {}, delay=3)
    clock.now += 4
    await idle.turns(5)
    asked = idle.pops
    await idle.turns(5)
    assert idle.pops == asked


async def test_a_put_wakes_and_one_elsewhere_does_not(
    idle: Idle, other: Client, queue: Queue
) -> None:
    await idle.turns(5)
    asked = idle.pops
    other.queues["other"].put("k", {})
    assert await idle.turns(3) == []
    assert idle.pops == asked
    queue.put("k", {}, jid="J")
    assert await idle.turns(2) == ["J"]


@pytest.mark.parametrize("idle", ["blocking"], indirect=True)
async def test_what_was_said_while_nobody_listened_wakes_once(
    idle: Idle, other: Client, queue: Queue
) -> None:
    await idle.turns(5)
    for number in range(20):
        queue.put("k", {}, jid=f"J{number}")
    other.jobs.cancel_many([f"J{number}" for number in range(20)])
    asked = idle.pops
    assert await idle.turns(5) == []
    assert idle.pops == asked + 1


async def test_a_job_that_a_worker_gives_back_wakes_the_others(
    idle: Idle, other: Client, queue: Queue
) -> None:
    queue.put("k", {}, jid="J")
    queue.pop()
    assert await idle.turns(5) == []
    other.storage.run(giving_back("J", "bob", "dropped"))
    assert await idle.turns(2) == ["J"]


async def test_what_lua_clients_do_in_silence_is_found_at_the_next_look(
    idle: Idle, other: Client, queue: Queue, clock: Clock
) -> None:
    queue.pause()
    queue.put("k", {}, jid="J")
    assert await idle.turns(5) == []
    other.storage.run(_unpause_in_silence)
    assert await idle.turns(5) == []
    clock.now += 20
    assert await idle.turns(3) == ["J"]


def _unpause_in_silence(tx: Any) -> Any:
    tx.srem(tx.keys.paused, "mail")
    return
    yield


async def test_jobs_are_asked_for_once_a_minute_whatever_a_look_shows(
    idle: Idle, clock: Clock
) -> None:
    await idle.turns(5)
    asked = idle.pops
    for _ in range(5):
        clock.now += 11
        await idle.turns(3)
    assert idle.pops == asked
    clock.now += 6
    await idle.turns(3)
    assert idle.pops == asked + 1


@pytest.mark.parametrize("listen", [False])
async def test_without_messages_a_put_is_found_at_the_next_look(
    idle: Idle, queue: Queue, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle.storage, "subscribe", None)  # nobody calls it
    await idle.turns(5)
    queue.put("k", {}, jid="J")
    assert await idle.turns(3) == []
    clock.now += 20
    assert await idle.turns(3) == ["J"]


@pytest.mark.parametrize("queues", [["new*"]])
async def test_queues_that_come_up_are_listened_to(idle: Idle, other: Client, clock: Clock) -> None:
    assert await idle.turns(5) == []
    assert idle.looks == 0, "there is no queue to look at"
    other.queues["new1"].put("k", {}, jid="J")
    clock.now += 6
    assert await idle.turns(2) == ["J"]
    assert await idle.turns(5) == []
    other.queues["new2"].put("k", {}, jid="K")
    clock.now += 6
    assert await idle.turns(2) == ["K"]
    other.queues["new2"].pause()
    other.queues["new2"].put("k", {}, jid="L")
    assert await idle.turns(5) == []
    other.queues["new2"].unpause()
    assert await idle.turns(2) == ["L"]


async def test_a_store_that_lets_nobody_listen_is_told_once(
    idle: Idle, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    asked = []

    def refuse(*_: Any) -> Any:
        asked.append(True)
        raise StoreRefused("no")

    monkeypatch.setattr(idle.storage, "subscribe", refuse)
    for _ in range(5):
        clock.now += 6
        await idle.turns(2)
    assert len(asked) == 1
    assert caplog.messages == ["the store lets nobody listen: looking every 20 s"]


async def test_a_subscription_that_fails_is_tried_again_a_second_later(
    idle: Idle, clock: Clock, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fail(*_: Any) -> Any:
        asked.append(True)
        raise StoreUnavailable("no room for connections")

    with monkeypatch.context() as patch:
        patch.setattr(idle.storage, "subscribe", fail)
        await idle.turns(5)
        assert len(asked) == 1
        clock.now += 1
        await idle.turns(5)
        assert len(asked) == 2
    queue.put("k", {}, jid="J")
    clock.now += 1
    assert await idle.turns(2) == ["J"], "it asks once more when it has begun to listen"


async def test_a_store_that_is_away_while_a_worker_looks_is_waited_for(
    idle: Idle,
    clock: Clock,
    queue: Queue,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    pauses: list[float] = []
    is_async = isinstance(idle.fetcher, AsyncFetcher)

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(idle.fetcher._bell, "pause", pause if is_async else pauses.append)
    await idle.turns(5)
    clock.now += 20
    with monkeypatch.context() as patch:
        patch.setattr(idle.storage, "run", _away)
        await idle.turns(2)
    assert len(pauses) == 2, "it looks, and asks"
    queue.put("k", {}, jid="J")
    assert await idle.turns(1) == ["J"]
    assert caplog.messages == ["no jobs for now, trying again: away", "the store is back"]


async def test_looks_that_are_refused_while_jobs_can_be_asked_for_are_told_once(
    idle: Idle, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The pauses grow, since what can be done does not make any better what cannot."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    is_async = isinstance(idle.fetcher, AsyncFetcher)
    monkeypatch.setattr(idle.fetcher._bell, "pause", pause if is_async else pauses.append)
    await idle.turns(5)
    with monkeypatch.context() as patch:
        patch.setattr(idle.fetcher._bell, "rings", _away_async if is_async else _away)
        await idle.turns(8)
    assert caplog.messages == ["no jobs for now, trying again: away"]
    assert len(pauses) == 8
    assert max(pauses) > 4 * pauses[0]
    await idle.turns(1)
    assert caplog.messages[1:] == ["the store is back"]


async def _away_async(*_: Any) -> Any:
    raise StoreUnavailable("away")


def _away(*_: Any, **__: Any) -> Any:
    raise StoreUnavailable("away")


def test_a_pause_ends_with_the_worker(client: Client) -> None:
    answers = iter([False, True])
    bell = Bell(client, 20.0, lambda: next(answers), listen=False)
    bell.pause(600)
    assert list(answers) == []


async def test_a_pause_ends_with_the_worker_of_asyncio(async_client: AsyncClient) -> None:
    answers = iter([False, True])
    await AsyncBell(async_client, 20.0, lambda: next(answers), listen=False).pause(600)
    assert list(answers) == []


def test_workers_do_not_look_all_at_once(client: Client) -> None:
    chances: list[Callable[[], float]] = [lambda: 0.0, lambda: 0.5]
    made = [Bell(client, 10.0, lambda: False, chance=chance) for chance in chances]
    assert [bell._interval for bell in made] == [8.0, 9.0]
