# SPDX-License-Identifier: MIT
"""A client is taken away between any two links of a chain: each link is right, and a later call does the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest

from pyqless import Client
from pyqless.conformance import Target
from pyqless.worker.janitor import Janitor
from tests.links import bounded_by, made
from tests.property.store import Store
from tests.unit.core.examples import run

PUTS: Final = tuple(f"put 10{n} me q J{n} klass {{}} 0" for n in range(7))
CHILDREN: Final = tuple(
    f"""put 11{n} me q K{n} klass {{}} {5000 * (n % 2)} depends '["J0"]'""" for n in range(5)
)
JIDS: Final = " ".join(f"J{n}" for n in range(7))


class Chain(NamedTuple):
    """A call that takes several links, and the call that does what it leaves undone."""

    given: tuple[str, ...]
    call: str
    #: makes the call that goes on of what it finds in the store
    rest: str
    #: how many links there are, with two jobs each
    links: int


CHAINS: Final = {
    "complete": Chain(
        (*PUTS[:1], "pop 110 q w 1", *CHILDREN),
        "complete 300 J0 w q {}",
        "pop 400 empty w 1",
        4,
    ),
    "cancel": Chain(
        (*PUTS[:1], *CHILDREN),
        "cancel 300 J0 K0 K1 K2 K3 K4",
        "cancel 300 J0 K0 K1 K2 K3 K4",
        3,
    ),
    "unfail": Chain(
        (*PUTS, "pop 110 q w 7", *(f"fail 12{n} J{n} w group text" for n in range(7))),
        "unfail 300 other group 5",
        "unfail 300 other group {left}",
        3,
    ),
    "timeout": Chain((*PUTS, "pop 110 q w 7"), f"timeout 300 {JIDS}", "timeout 300 {running}", 4),
    "pop": Chain(
        (*PUTS, "config.set 90 grace-period 0", "pop 110 q w 5", "put 115 me q L klass {} 60"),
        "pop 2000 q v 8",
        "pop 2000 q v {unpopped}",
        6,
    ),
}


@pytest.fixture
def core(store_url: str) -> Iterator[Target]:
    with Target(store_url) as target:
        yield target


def words_of(chain: Chain, store: Store) -> str:
    """The call that goes on."""
    running = [jid for jid, fields in sorted(store.jobs.items()) if fields["state"] == "running"]
    held = [jid for jid in running if store.jobs[jid]["worker"] == "v"]
    moved = [jid for jid, fields in store.jobs.items() if fields["queue"] == "other"]
    return chain.rest.format(left=5 - len(moved), running=" ".join(running), unpopped=8 - len(held))


@pytest.mark.parametrize("name", CHAINS)
def test_a_later_call_does_the_rest(core: Target, name: str) -> None:
    chain = CHAINS[name]

    def begin() -> None:
        core.flush()
        for words in chain.given:
            run(core, words)

    begin()
    run(core, chain.call)
    if name == "complete":
        run(core, chain.rest)
    whole = core.snapshot()
    for stop in range(1, chain.links):
        begin()
        with bounded_by(2):
            steps = made(core._storage, chain.call)
            for _ in range(stop):
                next(steps)
            store = Store(core.snapshot())
            assert core.snapshot() != whole
            check_that_nobody_waits_for_what_is_gone(store)
            run(core, words_of(chain, store))
        assert core.snapshot() == whole
    begin()
    with bounded_by(2):
        assert len(list(made(core._storage, chain.call))) == chain.links


def check_that_nobody_waits_for_what_is_gone(store: Store) -> None:
    awaited = {parent for parents in store.dependencies.values() for parent in parents}
    assert awaited <= store.jobs.keys()


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_the_janitor_does_the_rest(core: Target, stop: int) -> None:
    for words in CHAINS["complete"].given:
        run(core, words)
    with bounded_by(2):
        steps = made(core._storage, CHAINS["complete"].call)
        for _ in range(stop):
            next(steps)
    client = Client(core._storage.url, clock=lambda: 400.0)
    assert not Janitor(client).run().dependencies
    store = Store(core.snapshot())
    assert store.dependencies == {}
    assert {jid: fields["state"] for jid, fields in store.jobs.items() if jid != "J0"} == {
        "K0": "waiting",
        "K1": "scheduled",
        "K2": "waiting",
        "K3": "scheduled",
        "K4": "waiting",
    }


def test_two_clients_share_what_is_to_be_done(core: Target) -> None:
    """One lets go what another was about to; nobody is let go twice, or not at all."""
    for words in CHAINS["complete"].given:
        run(core, words)
    with bounded_by(1):
        first = made(core._storage, CHAINS["complete"].call)
        next(first)
        pops: list[Any] = []
        for _ in first:
            pops += json.loads(str(core.call("pop", "400", "q", "v", "1")))
    jids = [job["jid"] for job in pops]
    assert len(jids) == len(set(jids))
    assert Store(core.snapshot()).dependencies == {}
