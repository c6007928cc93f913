# SPDX-License-Identifier: MIT
"""What lies in a store of queues, workers and tags that are on no list any more; only a look at all keys finds it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Self

from pyqless.core.keys import Keys
from pyqless.storage import Storage

__all__ = ["Forgotten"]


@dataclass(slots=True)
class Forgotten:
    """Names that keys bear, whether they are on a list or not."""

    #: queues that have statistics, and the first day of which they have any: midnight, UTC, Unix time in seconds
    statistics: dict[str, int] = field(default_factory=dict)
    #: workers that have a list of jobs
    workers: set[str] = field(default_factory=set)
    #: tags under which jobs can be found
    tags: set[str] = field(default_factory=set)

    @classmethod
    def find(cls, storage: Storage) -> Self:
        """
        Look at all keys.

        Raises:
            StorageError: the store is at fault.
        """
        with closing(storage.scan()) as parts:
            return cls.among(storage.keys, {part.key: None for part in parts})

    @classmethod
    def among(cls, keys: Keys, names: Iterable[str]) -> Self:
        """Look at keys of which the names are given."""
        found = cls()
        for name in names:
            kind, _, rest = name.removeprefix(keys.prefix).partition(":")
            if kind == "s":
                found._see_day(rest)
            elif kind == "w" and rest.endswith(":jobs"):
                found.workers.add(rest.removesuffix(":jobs"))
            elif kind == "t":
                found.tags.add(rest)
        return found

    def _see_day(self, rest: str) -> None:
        _, day, queue = [*rest.split(":", 2), "", ""][:3]
        if day.isdecimal() and queue:
            self.statistics[queue] = min(int(day), self.statistics.get(queue, int(day)))
