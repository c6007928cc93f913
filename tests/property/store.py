# SPDX-License-Identifier: MIT
"""What lies in a store, in the words of the rules: jobs, places, groups, tags and owners."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

from pyqless.conformance import Snapshot

__all__ = ["Place", "Store", "text_of"]

PLACE: Final = re.compile(r"ql:q:(.*)-(work|locks|scheduled|depends|recur)", re.DOTALL)


class Place(NamedTuple):
    """A sorted set of a queue in which a job stands."""

    queue: str
    kind: str


def text_of(tag: str | float) -> str:
    """A tag as it stands in the names of keys; a number there has 14 digits."""
    return tag if isinstance(tag, str) else f"{tag:.14g}"


class Store:
    """
    A snapshot, read.

    A hash without a jid is no job: the core leaves one where a delayed jid without a job falls due.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def _each(self, kind: str, prefix: str, suffix: str = "") -> Iterator[tuple[str, Any]]:
        """The keys of a type with the given ends: what stands between the ends, and the value."""
        for key, entry in self.snapshot.items():
            if entry["type"] == kind and key.startswith(prefix) and key.endswith(suffix):
                yield key[len(prefix) : len(key) - len(suffix)], entry["value"]

    def _scores(self, key: str) -> dict[str, float]:
        pairs = self.snapshot.get(key, {"value": ()})["value"]
        return {member: float(score) for member, score in pairs}

    # -- jobs -------------------------------------------------------------------------------------

    @cached_property
    def hashes(self) -> dict[str, dict[str, str]]:
        """What is stored under each jid, jobs or not."""
        return dict(self._each("hash", "ql:j:"))

    @cached_property
    def jobs(self) -> dict[str, dict[str, str]]:
        """The fields of each job."""
        return {jid: fields for jid, fields in self.hashes.items() if "jid" in fields}

    @cached_property
    def recurring(self) -> dict[str, dict[str, str]]:
        """The fields of each recurring job."""
        return dict(self._each("hash", "ql:r:"))

    @cached_property
    def histories(self) -> dict[str, list[str]]:
        """The history of each jid that has one."""
        return dict(self._each("list", "ql:j:", "-history"))

    @cached_property
    def dependencies(self) -> dict[str, set[str]]:
        """The jids that each jid waits for."""
        return {jid: set(value) for jid, value in self._each("set", "ql:j:", "-dependencies")}

    @cached_property
    def dependents(self) -> dict[str, set[str]]:
        """The jids that wait for each jid."""
        return {jid: set(value) for jid, value in self._each("set", "ql:j:", "-dependents")}

    @cached_property
    def running(self) -> list[tuple[str, str, str]]:
        """The running jobs, each with its worker and its queue."""
        return [
            (jid, fields["worker"], fields["queue"])
            for jid, fields in sorted(self.jobs.items())
            if fields["state"] == "running"
        ]

    def tags(self, jid: str) -> list[str | float]:
        """The tags that a job bears."""
        try:
            tags = json.loads(self.jobs[jid].get("tags", "[]"))
        except ValueError:  # a rule has damaged them
            return []
        return tags if isinstance(tags, list) else []

    def failure(self, jid: str) -> str:
        """The group that a failed job says it is in."""
        return str(json.loads(self.jobs[jid]["failure"])["group"])

    # -- places -----------------------------------------------------------------------------------

    @cached_property
    def standing(self) -> dict[Place, dict[str, float]]:
        """What stands in each sorted set of each queue, and its score."""
        return {
            Place(match[1], match[2]): self._scores(key)
            for key in self.snapshot
            if (match := PLACE.fullmatch(key))
        }

    @cached_property
    def places(self) -> dict[str, list[Place]]:
        """Where each job stands in the queues."""
        return self._places(recurring=False)

    @cached_property
    def recurring_places(self) -> dict[str, list[Place]]:
        """Where each recurring job stands in the queues."""
        return self._places(recurring=True)

    def _places(self, *, recurring: bool) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for place, scores in self.standing.items():
            if (place.kind == "recur") == recurring:
                for jid in scores:
                    found.setdefault(jid, []).append(place)
        return found

    @cached_property
    def completed(self) -> dict[str, float]:
        """When each completed jid was completed."""
        return self._scores("ql:completed")

    @cached_property
    def owned(self) -> dict[str, dict[str, float]]:
        """When the locks expire that stand in each worker's list."""
        return {
            worker: {jid: float(score) for jid, score in value}
            for worker, value in self._each("zset", "ql:w:", ":jobs")
        }

    # -- failures, tags, tracking, statistics -----------------------------------------------------

    @cached_property
    def failures(self) -> set[str]:
        """The groups that are said to have failed jobs."""
        return set(self.snapshot.get("ql:failures", {"value": ()})["value"])

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The jids in each group of failures."""
        return dict(self._each("list", "ql:f:"))

    @cached_property
    def tagged(self) -> dict[str, set[str]]:
        """The jids that the index has under each tag."""
        return {tag: {jid for jid, _ in value} for tag, value in self._each("zset", "ql:t:")}

    @cached_property
    def tag_counts(self) -> Counter[str]:
        """How often each tag is said to be borne."""
        return Counter({tag: int(count) for tag, count in self._scores("ql:tags").items()})

    @cached_property
    def tracked(self) -> dict[str, float]:
        """Since when each tracked jid is tracked."""
        return self._scores("ql:tracked")

    @cached_property
    def samples(self) -> dict[str, dict[str, str]]:
        """The waiting and running times of each day and queue."""
        return {
            f"{kind}:{rest}": fields
            for kind in ("wait", "run")
            for rest, fields in self._each("hash", f"ql:s:{kind}:")
        }
