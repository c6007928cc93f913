# SPDX-License-Identifier: MIT
"""Jobs and recurring jobs as rules return them: what the store held, decoded when it is looked at."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from typing import Any

from pyqless.core import lua
from pyqless.core.fields import Fields
from pyqless.core.history import entry_of, is_plain
from pyqless.errors import CorruptedJob

__all__ = ["Job", "RecurringJob"]


class _Described(Fields):
    """What jobs and recurring jobs have in common."""

    @property
    def klass(self) -> str | None:
        """The name of the code that runs it."""
        return self.fields.get("klass")

    @property
    def state(self) -> str | None:
        """Its state."""
        return self.fields.get("state")

    @property
    def queue(self) -> str | None:
        """The queue it belongs to."""
        return self.fields.get("queue")

    @property
    def data(self) -> str | None:
        """Its data, JSON text as it was given."""
        return self.fields.get("data")

    @property
    def priority(self) -> float | None:
        """The greater goes first."""
        return lua.to_number(self.fields.get("priority"))

    @property
    def retries(self) -> float | None:
        """How often it may be tried again."""
        return lua.to_number(self.fields.get("retries"))

    @cached_property
    def tags(self) -> Any:
        """
        Its tags, as they are shown: a list, or whatever else somebody gave for one; see ``tag_list``.

        Raises:
            CorruptedJob: the field holds no JSON.
        """
        return self.json("tags")


class Job(_Described):
    """
    A job as it was at one moment.

    Args:
        fields: its hash.
        entries: its history, JSON texts.
        dependents: the jids that wait for it.
        dependencies: the jids that it waits for.
        tracked: whether its events are published.
    """

    def __init__(
        self,
        fields: Mapping[str, str],
        entries: Collection[str],
        dependents: Collection[str],
        dependencies: Collection[str],
        *,
        tracked: bool,
    ) -> None:
        self.jid = fields["jid"]
        self.fields = fields
        self.entries = entries
        self.tracked = tracked
        self._dependents = dependents
        self._dependencies = dependencies

    def __repr__(self) -> str:
        return f"<Job {self.jid}: {self.klass}, {self.state} in {self.queue!r}>"

    @property
    def worker(self) -> str:
        """The worker that holds its lock, or an empty text."""
        return self.fields.get("worker", "")

    @property
    def expires(self) -> float:
        """Unix time at which the lock expires, seconds; 0 without a lock."""
        return lua.to_number(self.fields.get("expires")) or 0.0

    @property
    def remaining(self) -> float:
        """
        How many retries remain.

        Raises:
            CorruptedJob: the field holds no number.
        """
        return lua.floor(self.number("remaining"))

    @property
    def spawned_from_jid(self) -> str | None:
        """The recurring job that made it."""
        return self.fields.get("spawned_from_jid")

    @property
    def dependents(self) -> list[str]:
        """The jids that wait for it, sorted."""
        return sorted(self._dependents)

    @property
    def dependencies(self) -> list[str]:
        """The jids that it waits for, sorted."""
        return sorted(self._dependencies)

    @cached_property
    def failure(self) -> Any:
        """
        How it failed last: ``group``, ``message``, ``when``, ``worker``; else empty.

        Raises:
            CorruptedJob: the field holds no JSON.
        """
        return self.json("failure", "{}")

    @cached_property
    def history(self) -> list[dict[str, Any]]:
        """
        What happened to it, the oldest first: ``when``, ``what`` and more.

        Raises:
            CorruptedJob: an entry makes no sense.
        """
        try:
            return [entry_of(text) for text in self.entries]
        except lua.JSONError as error:
            raise CorruptedJob(
                f"job {self.jid}: the history makes no sense: {error}",
                argument="history",
                value=list(self.entries),
            ) from error

    def check(self) -> None:
        """
        Decode all that is decoded when it is looked at.

        Raises:
            CorruptedJob: something makes no sense; the Lua core fails on such a job.
        """
        fields = self.fields
        # what most jobs have needs no decoding to be known as good
        if fields.get("tags") != "{}":
            _ = self.tags
        if fields.get("failure", "{}") != "{}":
            _ = self.failure
        for name in ("priority", "expires", "retries"):
            if _is_infinite(fields.get(name)):
                raise self.corrupted(name)
        _ = self.remaining
        if None in map(is_plain, self.entries):
            _ = self.history


@lru_cache(maxsize=256)
def _is_infinite(text: str | None) -> bool:
    """Whether a text is a number that JSON cannot say; many jobs have the same."""
    number = lua.to_number(text)
    return number is not None and not math.isfinite(number)


class RecurringJob(_Described):
    """
    A recurring job as it was at one moment.

    Args:
        fields: its hash.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.jid = fields["jid"]
        self.fields = fields

    def __repr__(self) -> str:
        return f"<RecurringJob {self.jid}: {self.klass} every {self.interval} s in {self.queue!r}>"

    @property
    def interval(self) -> float | None:
        """Seconds from one run to the next."""
        return lua.to_number(self.fields.get("interval"))

    @property
    def count(self) -> float | None:
        """How many jobs it has made."""
        return lua.to_number(self.fields.get("count"))

    @property
    def backlog(self) -> float | None:
        """How many overdue runs are caught up at most, the last ones; 0: all."""
        return lua.to_number(self.fields.get("backlog", "0"))
