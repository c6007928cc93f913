# SPDX-License-Identifier: MIT
"""The janitor, over its rules."""

from __future__ import annotations

import pytest

from pyqless import Client, Queue
from pyqless.core import letting_go
from pyqless.core.effects import Transition
from pyqless.core.keys import Keys
from pyqless.core.statistics import Sampler
from pyqless.core.transaction import Transaction
from pyqless.errors import StoreUnavailable
from pyqless.worker.forgotten import Forgotten
from pyqless.worker.janitor import Janitor, Report
from tests.unit.worker.conftest import Clock

DAY = 86400


def litter(client: Client, queue: Queue, clock: Clock) -> None:
    """Leave something of each kind behind."""
    for number in range(120):
        client.queues["mail"].put("klass", {}, jid=f"J{number:03}", tags=["blue"])
        client.jobs[f"J{number:03}"].track()
    queue.pop()
    clock.now += 40 * DAY
    queue.put("klass", {}, jid="late")
    queue.pop(200)
    client.jobs.cancel(*(f"J{number:03}" for number in range(119)))


def test_a_pass_cleans_all_and_a_second_one_finds_nothing(
    client: Client, queue: Queue, clock: Clock
) -> None:
    litter(client, queue, clock)
    looked = Janitor(client, dry=True).run()
    assert len(looked.tracked) == 119
    assert looked.statistics["mail"] >= 1
    assert looked.faults == []
    assert Janitor(client, dry=True).run() == looked
    done = Janitor(client).run()
    assert (done.tracked, done.statistics) == (looked.tracked, looked.statistics)
    assert not Janitor(client).run()
    assert [job.jid for job in client.jobs.tracked().jobs] == ["J119"]


def test_what_is_on_no_list_any_more_is_found_among_the_keys(
    client: Client, queue: Queue, clock: Clock
) -> None:
    """Of a queue that was forgotten, of a worker that was struck, of a tag that is not counted."""
    queue.put("klass", {}, jid="J", tags=["blue"])
    queue.put("klass", {}, jid="K")
    queue.pop(2)
    client.jobs["K"].timeout()
    client.workers.deregister("ann")
    client.storage.run(_forget)
    clock.now += 40 * DAY
    assert not Janitor(client).run()
    looked = Janitor(client, dry=True, deep=True).run()
    assert looked == Report(statistics={"mail": 1}, entries={"ann": ["K"]}, tags={"blue": ["J"]})
    assert Janitor(client, deep=True).run() == looked
    assert not Janitor(client, deep=True).run()


def _forget(tx: Transaction) -> Transition[None]:
    yield from tx.read()
    tx.zrem(tx.keys.queues, "mail")
    tx.zrem(tx.keys.tag_counts, "blue")
    tx.hset(tx.keys.job("J"), "tags", "[]")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ql:s:wait:86400:a:b", Forgotten(statistics={"a:b": 86400})),
        ("ql:s:stats:soon:q", Forgotten()),
        ("ql:s:stats", Forgotten()),
        ("ql:w:a:b:jobs", Forgotten(workers={"a:b"})),
        ("ql:workers", Forgotten()),
        ("ql:t:a:b", Forgotten(tags={"a:b"})),
        ("ql:j:s:wait:1:q", Forgotten()),
    ],
)
def test_what_the_names_of_keys_tell(name: str, found: Forgotten) -> None:
    assert Forgotten.among(Keys(), [name]) == found


def test_the_first_day_counts() -> None:
    names = [f"ql:s:run:{day * DAY}:q" for day in (7, 3, 5)]
    assert Forgotten.among(Keys(), names).statistics == {"q": 3 * DAY}


def test_histograms_go_before_the_numbers_do(client: Client, queue: Queue, clock: Clock) -> None:
    queue.put("klass", {})
    queue.pop()
    began = clock.now
    clock.now += 10 * DAY
    looked = Janitor(client, dry=True).run()
    assert looked.histograms == {"mail": 1}
    assert Janitor(client).run().histograms == {"mail": 1}
    assert not Janitor(client).run()
    wait = queue.stats(began).wait
    assert (wait.count, sum(wait.histogram)) == (1, 0)


def test_many_that_wait_for_nothing_are_all_let_go(client: Client, queue: Queue) -> None:
    parent = queue.put("klass", {})
    for number in range(250):
        queue.put("klass", {}, jid=f"J{number}", depends=[parent])
    client.storage.run(_empty)
    report = Janitor(client).run()
    assert report.dependencies == {f"J{number}": [] for number in range(250)}
    assert bool(report)
    assert not Janitor(client).run()
    assert next(iter(client.queues.counts())).depends == 0


def _empty(tx: Transaction) -> Transition[None]:
    yield from tx.read()
    for number in range(250):
        tx.delete(tx.keys.dependencies(f"J{number}"))


@pytest.mark.parametrize("dry", [True, False])
def test_what_a_chain_has_left_is_let_go(client: Client, queue: Queue, *, dry: bool) -> None:
    """By the chain's own means: such jobs do not count as waiting in vain."""
    queue.put("klass", {}, jid="J")
    queue.put("klass", {}, jid="K", depends=["J"])
    (job,) = queue.pop(1)
    client.storage.run(_put_off)
    assert job.complete() == "complete"
    report = Janitor(client, dry=dry).run()
    assert bool(report) == dry
    assert client.jobs["K"].state == ("depends" if dry else "waiting")


def _put_off(tx: Transaction) -> Transition[None]:
    """As a completion would have it that has let nobody go yet."""
    letting_go.put_off(tx, ["K"], "J")
    tx.delete(tx.keys.dependents("J"))
    return
    yield


@pytest.mark.parametrize("dry", [True, False])
def test_deferred_samples_are_entered(client: Client, *, dry: bool) -> None:
    client.storage.run(_deferred)
    assert not Janitor(client, dry=dry).run()
    entered = client.storage.dump().get("ql:s:wait:0:q", {"value": {}})
    assert entered["value"].get("total") == (None if dry else "1")


def _deferred(tx: Transaction) -> Transition[None]:
    Sampler(tx, "ql:s:wait:0:q", defers=True).add(3.0)
    return
    yield


def test_an_empty_store_is_clean(client: Client) -> None:
    assert Janitor(client).run() == Report()


def test_a_fault_is_reported_and_the_rest_is_done(
    client: Client, queue: Queue, clock: Clock
) -> None:
    litter(client, queue, clock)
    client.storage.run(_spoil)
    report = Janitor(client).run()
    assert len(report.faults) == 1
    assert "stats-history" in report.faults[0]
    assert len(report.tracked) == 119


def _spoil(tx: Transaction) -> Transition[None]:
    tx.hset(tx.keys.config, "stats-history", "long")
    return
    yield


def test_the_loop_goes_on_when_the_store_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def pause(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) < 3

    def away(*_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(client.storage, "run", away)
    Janitor(client).loop(60.0, pause)
    assert waits == [60.0] * 3
    with pytest.raises(StoreUnavailable):
        Janitor(client).run()
