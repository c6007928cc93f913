# SPDX-License-Identifier: MIT
"""Looking: every job, explanations, sweeps with a dry run, and clients that only look."""

from __future__ import annotations

import io
from typing import Any

import pytest
import redis

from pyqless import AsyncClient, Client
from pyqless.client import Swept
from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.transaction import Transaction
from pyqless.doctor.roles import Role, acl_line
from pyqless.errors import InvalidArgument, JobNotFound, ReadOnlyClient
from pyqless.storage import transfer
from tests.integration.conftest import got, listed


async def fill(client: Any) -> None:
    """Put a job in each place: waiting, delayed, waiting for another, running, failed, complete."""
    queue = client.queues["q"]
    for jid in ("failed", "complete", "running"):
        await got(queue.put("k", jid=jid))
        job = await got(queue.pop())
        if jid == "failed":
            await got(job.fail("group", "message"))
        if jid == "complete":
            await got(job.complete())
    await got(queue.put("k", jid="later", delay=500))
    await got(queue.put("k", jid="waits", depends=["later"]))
    for number in range(5):
        await got(queue.put("k", jid=f"w{number}"))


async def test_all_jobs_are_met_once(client: Any) -> None:
    await fill(client)
    queue = client.queues["q"]

    here = {"running", "later", "waits", "w0", "w1", "w2", "w3", "w4"}
    assert {job.jid for job in await listed(queue.all(page=2))} == here
    assert len(await listed(queue.all())) == len(here)
    assert [job.jid for job in await listed(queue.all("scheduled", "running"))] == [
        "running",
        "later",
    ]
    everywhere = [job.jid for job in await listed(client.jobs.all(page=3))]
    assert sorted(everywhere) == sorted(here | {"failed", "complete"})
    assert await got(queue.waiting(1, 2)) == ["w1", "w2"]


async def test_a_walk_asks_for_no_more_than_it_needs(client: Any) -> None:
    await fill(client)
    walk = client.queues["q"].all("waiting", page=2)
    first = await anext(walk) if hasattr(walk, "__anext__") else next(walk)
    assert first.jid == "w0"
    assert client.storage.metrics.commits - await commits(client) < 3


async def commits(client: Any) -> int:
    before = int(client.storage.metrics.commits)
    await got(client.queues["q"].length())
    return before


async def test_states_that_there_are_not_are_refused(client: Any) -> None:
    for call in (client.queues["q"].all, client.queues["q"].purge):
        with pytest.raises(InvalidArgument) as caught:
            await got(call("asleep"))
        assert caught.value.argument == "states"
    with pytest.raises(InvalidArgument):
        await got(client.queues["q"].move_all("q"))


async def test_a_job_is_explained(client: Any) -> None:
    await fill(client)
    assert (await got(client.jobs.explain("waits"))).depends == ("later",)
    job = await got(client.jobs.get("running"))
    told = await got(job.explain())
    assert (told.reason, told.until) == ("running", job.expires_at)
    with pytest.raises(JobNotFound):
        await got(client.jobs.explain("nobody"))


async def test_a_queue_is_purged_moved_and_deleted(client: Any) -> None:
    await fill(client)
    queue, other = client.queues["q"], client.queues["other"]

    assert await got(queue.move_all("other", dry_run=True)) == Swept(7, ())
    assert await got(queue.move_all("other")) == Swept(7, ())
    assert await got(other.waiting()) == ["w0", "w1", "w2", "w3", "w4"]
    assert await got(other.purge("waiting")) == Swept(5, ())
    assert await got(other.purge("scheduled")) == Swept(0, ("later",))
    assert await got(other.delete(dry_run=True)) == Swept(2, ())
    assert await got(other.delete()) == Swept(2, ())
    assert [counts.name for counts in await got(client.queues.counts())] == ["q"]
    assert (await got(client.jobs.get("running"))).state == "running"


async def test_old_failures_are_purged(client: Any) -> None:
    client.storage.clock = lambda: 1000.0
    await fill(client)
    client.storage.clock = lambda: 5000.0
    assert await got(client.jobs.purge_failed(4001)) == Swept(0, ())
    assert await got(client.jobs.purge_failed(4000, dry_run=True)) == Swept(1, ())
    assert await got(client.jobs.failed()) == {"group": 1}
    assert await got(client.jobs.purge_failed(4000, "group")) == Swept(1, ())
    assert await got(client.jobs.failed()) == {}


# -- clients that only look -------------------------------------------------------------------


async def views(client: Any) -> list[Any]:
    """Take every view that may put something in order first."""
    queue = client.queues["q"]
    return [
        await got(queue.counts()),
        await got(client.queues.counts()),
        [job.jid for job in await got(queue.peek(20))],
        await got(queue.scheduled()),
        await got(client.workers.counts()),
        [job.jid for job in await got(client.jobs.multiget("w0", "later"))],
        (await got(client.jobs.get("w0"))).klass_name,
        await got(client.jobs.failed()),
    ]


async def test_a_client_that_only_looks_sees_what_others_see(opened: Any) -> None:
    client = opened(worker_name="ann", clock=lambda: 1000.0)
    await fill(client)
    await got(client.queues["q"].recur("k", None, 60, jid="r", offset=10))
    # by then the delayed job is due, and so is the recurring one
    looking = opened(read_only=True, clock=lambda: 1501.0)
    tidying = opened(worker_name="ann", clock=lambda: 1501.0)

    before = await keys(client)
    seen = await views(looking)
    assert await keys(client) == before
    told = await views(tidying)
    assert await keys(client) != before
    # the recurring job was peeked at, so its children wait when counts are taken again
    assert seen[2] == told[2]
    assert seen[0].waiting == told[0].waiting
    assert seen[3:] == told[3:]


async def keys(client: Any) -> Any:
    """All that the store holds, by a client that can tell."""
    with Client(client.storage.url) as other:
        return other.storage.dump()


async def test_a_client_that_only_looks_changes_nothing(opened: Any) -> None:
    await fill(opened())
    client = opened(read_only=True)
    queue = client.queues["q"]
    job = await got(client.jobs.get("w0"))
    before = await keys(client)
    calls: list[Any] = [
        lambda: queue.put("k"),
        queue.pop,
        queue.pause,
        queue.purge,
        job.cancel,
        lambda: client.config.set("heartbeat", 5),
    ]
    for call in calls:
        with pytest.raises(ReadOnlyClient):
            await got(call())
    assert await got(queue.purge(dry_run=True)) == Swept(7, ())
    assert await keys(client) == before


def _mark(tx: Transaction) -> Transition[str]:
    tx.hset("ql:mark", "set", "yes")
    return "marked"
    yield


def _nothing(value: Any) -> Factory[Any]:
    def begin(_: Transaction) -> Transition[Any]:
        return value
        yield

    return begin


async def test_nor_does_what_comes_after_a_transition(opened: Any) -> None:
    client = opened(read_only=True)
    with pytest.raises(ReadOnlyClient):
        await got(client.storage.run(_nothing(Continue(_nothing(Continue(_mark))))))
    assert await got(client.storage.run(_nothing(FollowedBy("seen", _mark)))) == "seen"
    assert await keys(client) == {}


def test_scans_leave_deferred_samples_where_they_are(one_redis_url: str) -> None:
    """Only a dump enters them, and a client that only looks makes none then."""
    with Client(one_redis_url) as client, Client(one_redis_url, read_only=True) as looking:
        own = client.storage.keys
        with redis.Redis.from_url(one_redis_url, decode_responses=True) as server:
            server.rpush(own.pending("ql:s:wait:0:q"), "1.5")
            server.sadd(own.pendings, "ql:s:wait:0:q")
            for storage in (client.storage, looking.storage):
                assert list(storage.scan()) == []
                assert list(transfer.diff(storage, storage)) == []
            with pytest.raises(ReadOnlyClient):
                transfer.dump(looking.storage, io.BytesIO())
            assert server.smembers(own.pendings) == {"ql:s:wait:0:q"}
            transfer.dump(client.storage, io.BytesIO())
            assert server.hget("ql:s:wait:0:q", "total") == "1"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
async def test_a_user_without_write_rights_sees_everything(one_redis_url: str, kind: Any) -> None:
    with Client(one_redis_url, worker_name="ann", clock=lambda: 1000.0) as client:
        for number in range(3):
            client.queues["q"].put("k", jid=f"w{number}")
        client.queues["q"].put("k", jid="later", delay=500)
        client.queues["q"].recur("k", None, 60, jid="r")
    with redis.Redis.from_url(one_redis_url) as admin:
        admin.execute_command(*acl_line(Role.OBSERVER, user="guest").split())
        admin.execute_command("ACL", "SETUSER", "guest", "nopass")
    looking = kind(
        one_redis_url.replace("://", "://guest:x@"), read_only=True, clock=lambda: 1501.0
    )
    queue = looking.queues["q"]
    try:
        assert (await got(queue.counts())).waiting == 4
        assert "later" in [job.jid for job in await got(queue.peek(20))]
        assert len(await listed(looking.jobs.all())) == 4
        assert (await got(looking.jobs.explain("w0"))).reason == "waiting"
    finally:
        await got(looking.close())
        with redis.Redis.from_url(one_redis_url) as admin:
            admin.execute_command("ACL", "DELUSER", "guest")
