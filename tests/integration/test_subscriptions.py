# SPDX-License-Identifier: MIT
"""Subscriptions on a Redis end when they are told to, and say so when they are broken."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator

import pytest
import redis

from pyqless.errors import StoreRefused, StoreUnavailable
from pyqless.storage import Message, open_storage
from pyqless.storage.channels import literal
from pyqless.storage.redis import AsyncRedisStorage, RedisStorage, pubsub
from tests.servers import Server

StartServer = Callable[..., Server]


@pytest.fixture
def storage(redis_url: str) -> Iterator[RedisStorage]:
    with RedisStorage(redis_url) as opened:
        yield opened


def test_names_and_patterns(storage: RedisStorage, redis_url: str) -> None:
    with (
        redis.Redis.from_url(redis_url) as client,
        storage.subscribe("a", "b", "c?", "d*") as subscription,
    ):
        sent = [("a", "1"), ("c1", "2"), ("b", "3"), ("d", "4"), ("c", "5"), ("d44", "\u20ac")]
        for channel, data in sent:
            client.publish(channel, data)
        assert subscription.drain() == [Message(*pair) for pair in sent if pair[0] != "c"]
        assert subscription.drain() == []


def test_whatever_redis_py_raises_is_an_error_of_the_store(
    storage: RedisStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise AttributeError("'NoneType' object has no attribute 'can_read'")

    with storage.subscribe("a") as subscription:
        monkeypatch.setattr(redis.client.PubSub, "get_message", broken)
        with pytest.raises(StoreUnavailable, match="the subscription is broken"):
            subscription.get(0)


def test_a_literal_name_is_no_pattern(storage: RedisStorage, redis_url: str) -> None:
    """So a user needs a right to the name alone."""
    names = ["w[1]", "w*", "w\\", "w[1]"]
    with (
        redis.Redis.from_url(redis_url) as client,
        storage.subscribe(*map(literal, names), literal("x[") + "*") as subscription,
    ):
        assert set(client.pubsub_channels("w*")) == {name.encode() for name in names}
        assert client.pubsub_numpat() == 1
        for channel in ("w1", "w[1]", "w", "w\\", "x", "x[1"):
            client.publish(channel, "")
        heard = [message.channel for message in subscription.drain()]
        assert heard == ["w[1]", "w\\", "x[1"]


async def test_a_name_may_be_given_twice(redis_url: str) -> None:
    async with AsyncRedisStorage(redis_url) as storage:
        subscription = await storage.subscribe("a", "a", "b*", "b*")
        with redis.Redis.from_url(redis_url) as client:
            client.publish("a", "1")
        assert await subscription.get(5) == Message("a", "1")
        await subscription.close()


def test_bytes_that_are_no_utf_8(storage: RedisStorage, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client, storage.subscribe("a*") as subscription:
        client.publish("a\udcff".encode("utf-8", "surrogateescape"), b"\xfe")
        assert subscription.get() == Message("a\udcff", "\udcfe")


def test_waiting_in_vain(storage: RedisStorage) -> None:
    with storage.subscribe("a") as subscription:
        assert subscription.get(timeout=0) is None
        assert subscription.get(timeout=0.05) is None


def test_closing_ends_the_wait_of_another_thread(storage: RedisStorage) -> None:
    subscription = storage.subscribe("a")
    got: list[Message] = []
    listener = threading.Thread(target=lambda: got.extend(subscription))
    listener.start()
    subscription.close()
    listener.join(10)
    assert not listener.is_alive()
    assert got == []
    assert subscription.get() is None


def test_a_connection_that_is_lost(storage: RedisStorage, redis_server: Server) -> None:
    """What was published meanwhile is lost, and nobody shall think otherwise."""
    with storage.subscribe("a") as subscription, redis_server.client() as admin:
        admin.client_kill_filter(_type="pubsub")
        with pytest.raises(StoreUnavailable, match="broken"):
            subscription.get()


def test_a_channel_that_is_forbidden(redis_server: Server) -> None:
    with redis_server.client() as admin:
        rules = {"keys": ["*"], "categories": ["+@all"], "channels": ["a"]}
        admin.acl_setuser("listener", enabled=True, nopass=True, reset_channels=True, **rules)
        url = redis_server.url.replace("redis://", "redis://listener:any@")
        with open_storage(url) as storage:
            for channels in (("b",), ("a", "b"), ("a*",)):
                with pytest.raises(StoreRefused, match="refuses the subscription"):
                    storage.subscribe(*channels)
            with storage.subscribe("a") as subscription:
                admin.publish("a", "1")
                assert subscription.get() == Message("a", "1")
        admin.acl_deluser("listener")


def test_a_server_that_does_not_answer(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pubsub, "_PATIENCE", 0.1)
    monkeypatch.setattr(pubsub, "_SLICE", 0.05)
    server = start_server("redis70")
    with open_storage(server.url) as storage, storage.subscribe("a") as subscription:
        server.process.send_signal(signal.SIGSTOP)
        with pytest.raises(StoreUnavailable, match="has not answered"):
            subscription.drain()
        server.process.send_signal(signal.SIGCONT)


# -- asyncio ----------------------------------------------------------------------------------------


async def test_closing_ends_the_wait_of_another_task(redis_url: str) -> None:
    async with AsyncRedisStorage(redis_url) as storage:
        subscription = await storage.subscribe("a")
        waiting = asyncio.create_task(subscription.get())
        await asyncio.sleep(0)
        await subscription.close()
        assert await waiting is None


async def test_a_cancelled_wait_loses_no_message(redis_url: str) -> None:
    async with (
        AsyncRedisStorage(redis_url) as storage,
        await storage.subscribe("a") as subscription,
    ):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await subscription.get()
        with redis.Redis.from_url(redis_url) as client:
            client.publish("a", "1")
        assert await subscription.get(timeout=5) == Message("a", "1")


async def test_a_connection_that_is_lost_with_asyncio(redis_server: Server) -> None:
    async with (
        AsyncRedisStorage(redis_server.url) as storage,
        await storage.subscribe("a") as subscription,
    ):
        with redis_server.client() as admin:
            admin.client_kill_filter(_type="pubsub")
        with pytest.raises(StoreUnavailable, match="broken"):
            await subscription.get()
