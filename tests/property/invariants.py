# SPDX-License-Identifier: MIT
"""
What the rules keep true of all that is stored, whatever calls came before.

Where the Lua rules themselves break an invariant, it says less, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from tests.property.store import Store, text_of

__all__ = ["INVARIANTS", "Past"]

#: the places from which a job in a state can come back
WAYS_BACK: Final = {
    "waiting": {"work", "scheduled"},  # a job that completes with next and delay is said to wait
    "scheduled": {"scheduled"},
    "depends": {"depends"},
    "running": {"locks"},
    "stalled": {"work"},
}


class Past:
    """What invariants have to know of earlier calls."""

    def __init__(self) -> None:
        #: jobs over which a recurring job has made another
        self.overwritten: set[str] = set()
        #: tags whose number the core itself has lost count of
        self.miscounted: set[str] = set()


def dependencies_and_dependents_mirror_each_other(store: Store, past: Past) -> None:
    waits = {(jid, other) for jid, others in store.dependencies.items() for other in others}
    awaited = {(jid, other) for other, jids in store.dependents.items() for jid in jids}
    assert waits == awaited


def the_tag_index_is_what_the_tags_say(store: Store, past: Past) -> None:
    """
    Each tag that a job bears has the job, and no other tag has it.

    But: ``tag remove`` takes a number from the index, by its text, and leaves it with the job;
    and a job that a recurring job writes over leaves its tags in the index.
    """
    borne = {(tag, jid) for jid in store.jobs for tag in store.tags(jid)}
    said = {(text_of(tag), jid) for tag, jid in borne}
    numbers = {(text_of(tag), jid) for tag, jid in borne if not isinstance(tag, str)}
    indexed = {(tag, jid) for tag, jids in store.tagged.items() for jid in jids}
    assert said - numbers <= indexed
    assert {(tag, jid) for tag, jid in indexed if jid not in past.overwritten} <= said


def tags_are_counted(store: Store, past: Past) -> None:
    """
    Each tag is said to be borne as often as it is: twice where put names one twice.

    But: what ``tag`` and recurring jobs have miscounted is lost.
    """
    borne = Counter(text_of(tag) for jid in store.jobs for tag in store.tags(jid))
    said = store.tag_counts
    tags = (borne.keys() | said.keys()) - past.miscounted
    assert {tag: said[tag] for tag in tags} == {tag: borne[tag] for tag in tags}


def no_more_retries_remain_than_there_are(store: Store, past: Past) -> None:
    for fields in store.jobs.values():
        assert float(fields["remaining"]) <= float(fields["retries"])


def failures_name_the_groups_that_are_not_empty(store: Store, past: Past) -> None:
    assert store.failures == store.groups.keys()


def every_job_can_come_back(store: Store, past: Past) -> None:
    """A job that is not complete stands where a pop, the end of another job or an unfail finds it."""
    for jid, fields in store.jobs.items():
        state = fields["state"]
        if state == "failed":
            assert jid in store.groups.get(store.failure(jid), [])
        elif state != "complete":
            kinds = {place.kind for place in store.places.get(jid, ())}
            assert kinds & WAYS_BACK[state], f"{jid} is {state} and stands in {kinds}"


def every_recurring_job_stands_in_its_queue(store: Store, past: Past) -> None:
    expected = {jid: [(fields["queue"], "recur")] for jid, fields in store.recurring.items()}
    assert store.recurring_places == expected


def every_history_has_its_job(store: Store, past: Past) -> None:
    assert store.histories.keys() <= store.hashes.keys()


def every_sample_is_in_the_histogram(store: Store, past: Past) -> None:
    for fields in store.samples.values():
        bins = [int(fields[name]) for name in fields.keys() - {"total", "mean", "vk"}]
        assert sum(bins) == int(fields["total"])


INVARIANTS: Final[tuple[Callable[[Store, Past], None], ...]] = (
    dependencies_and_dependents_mirror_each_other,
    the_tag_index_is_what_the_tags_say,
    tags_are_counted,
    no_more_retries_remain_than_there_are,
    failures_name_the_groups_that_are_not_empty,
    every_job_can_come_back,
    every_recurring_job_stands_in_its_queue,
    every_history_has_its_job,
    every_sample_is_in_the_histogram,
)
