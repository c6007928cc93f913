# SPDX-License-Identifier: MIT
"""Commits that wait for replicas, and what a failover leaves of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import pyqless
from pyqless.core.keys import Keys
from pyqless.errors import InvalidArgument, NotReplicated
from pyqless.storage.redis.policy import Replication
from pyqless.storage.redis.steps import LinkLost
from tests.servers import Server
from tests.wires import Packet, tapped
from tests.workers import until


class Pair(NamedTuple):
    master: Server
    replica: Server


@pytest.fixture
def pair(start_server: Any, one_redis_server: Server) -> Pair:
    servers = [start_server(one_redis_server.kind) for _ in range(2)]
    pair = Pair(*servers)
    with pair.replica.client() as client:
        client.replicaof("127.0.0.1", pair.master.port)
        until(lambda: client.info("replication")["master_link_status"] == "up", "it follows")
    return pair


def test_what_was_acknowledged_outlives_the_master(pair: Pair) -> None:
    with pyqless.Client(pair.master.url, durability="replicated") as client:
        queue = client.queues["q"]
        acknowledged = [queue.put("shop.Job", {"number": number}) for number in range(100)]
        jobs = client.queues["q"].pop(50)
        for job in jobs:
            job.complete()
    pair.master.process.kill()
    with pair.replica.client() as admin:
        admin.replicaof("NO", "ONE")
    with pyqless.Client(pair.replica.url) as client:
        states = [client.jobs[jid].state for jid in acknowledged]
    assert states.count("complete") == 50
    assert states.count("waiting") == 50


def test_without_replicas_it_is_said_and_done_all_the_same(one_redis_url: str) -> None:
    durability = Replication(replicas=1, timeout=0.01)
    with pyqless.Client(one_redis_url, durability=durability) as client:
        with pytest.raises(NotReplicated, match="only 0 replicas") as caught:
            client.queues["q"].put("shop.Job", {}, jid="J")
        assert caught.value.value == 0
        assert client.jobs["J"].state == "waiting"


def test_the_result_comes_with_the_error(one_redis_url: str) -> None:
    durability = Replication(replicas=1, timeout=0.01)
    with pyqless.Client(one_redis_url) as client:
        client.queues["q"].put("shop.Job", {}, jid="J")
    with pyqless.Client(one_redis_url, durability=durability) as client:
        with pytest.raises(NotReplicated) as caught:
            client.jobs["J"].cancel()
        assert caught.value.result == ["J"]


def test_a_chain_goes_on_to_its_end(one_redis_url: str) -> None:
    durability = Replication(replicas=1, timeout=0.01)
    with pyqless.Client(one_redis_url) as client:
        jids = [client.queues["q"].put("shop.Job", {}) for _ in range(250)]
    with pyqless.Client(one_redis_url, durability=durability) as client:
        with pytest.raises(NotReplicated) as caught:
            client.jobs.cancel(*jids)
        assert caught.value.result == jids
        assert len(client.queues["q"]) == 0


def test_jobs_are_handed_out_all_the_same(
    one_redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    durability = Replication(replicas=1, timeout=0.01)
    with pyqless.Client(one_redis_url) as client:
        client.queues["q"].put("shop.Job", {}, jid="J")
    with pyqless.Client(one_redis_url, durability=durability) as client:
        job = client.queues["q"].pop()
        assert job is not None
        assert job.jid == "J"
    assert "jobs are in hand" in caplog.text


def test_what_writes_nothing_waits_for_nobody(one_redis_url: str) -> None:
    durability = Replication(replicas=1, timeout=5.0)
    with pyqless.Client(one_redis_url, durability=durability) as client:
        assert client.queues["q"].counts().waiting == 0


@pytest.mark.parametrize("durability", ["twice", 1, True])
def test_a_durability_that_there_is_not(durability: object) -> None:
    with pytest.raises(InvalidArgument) as caught:
        pyqless.Client("redis://localhost", durability=durability)
    assert (caught.value.argument, caught.value.value) == ("durability", durability)


@pytest.mark.parametrize(("name", "value"), [("replicas", 0), ("timeout", 0.0)])
def test_a_replication_that_makes_no_sense(name: str, value: float) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Replication(**{name: value})  # type: ignore[arg-type]
    assert caught.value.argument == name


def test_the_store_has_no_wait(one_redis_server: Server) -> None:
    """A user without the right to WAIT learns that nothing is known of the replicas."""
    with one_redis_server.client() as admin:
        admin.execute_command("ACL", "SETUSER", "w", "on", ">w", "~*", "&*", "+@all", "-wait")
        try:
            url = one_redis_server.url.replace("redis://", "redis://w:w@")
            with pyqless.Client(url, durability="replicated") as client:
                with pytest.raises(NotReplicated, match="not known") as caught:
                    client.queues["q"].put("shop.Job", {}, jid="K")
                assert caught.value.value is None
                assert client.jobs["K"].state == "waiting"
        finally:
            admin.acl_deluser("w")


def test_a_connection_that_breaks_while_it_waits(one_redis_server: Server) -> None:
    with pyqless.Client(
        one_redis_server.url, durability=Replication(timeout=5.0), socket_timeout=0.1
    ) as client:
        with pytest.raises(NotReplicated, match="not known"):
            client.queues["q"].put("shop.Job", {}, jid="L")
        with pyqless.Client(one_redis_server.url) as other:
            assert other.jobs["L"].state == "waiting"


def test_a_connection_that_breaks_before_it_waits(pair: Pair) -> None:
    """Another one would be told at once that all replicas have all that it has written: nothing."""

    def lose(packet: Packet, _: object) -> None:
        if packet[0][0] == "EXPIRE":
            raise LinkLost("lost", sent=True)

    with (
        tapped(lose),
        pyqless.Client(pair.master.url, durability="replicated") as client,
        pair.master.client() as others,
    ):
        client.queues["q"].put("shop.Job", {})
        # the next commit brings the fence back, which is seen to before the replicas are
        others.delete(*others.keys(f"{Keys().own}fence:*"))
        with pytest.raises(NotReplicated, match="not known"):
            client.queues["q"].put("shop.Job", {}, jid="L")
        assert client.jobs["L"].state == "waiting"
