# SPDX-License-Identifier: MIT
"""
The janitor: removes what nothing else does.

A pass is a chain of small transactions, see ``pyqless.core.cleaning``; two janitors at once do no harm, and neither does one
that is killed in the middle.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final

from pyqless.client import Client
from pyqless.core import cleaning, letting_go, statistics
from pyqless.core.cleaning import PAGE
from pyqless.core.effects import Transition
from pyqless.errors import QlessError
from pyqless.worker.forgotten import Forgotten
from pyqless.worker.steady import Steady

__all__ = ["Janitor", "Report"]

logger = logging.getLogger("pyqless.worker")

#: seconds without a word after which what a worker has told of itself is removed
SILENCE: Final = 3600.0

#: days whose statistics are looked at in one transaction
DAYS: Final = 30


@dataclass(slots=True)
class Report:
    """What a pass has removed, or would remove."""

    #: hashes of statistics that are too old, by queue
    statistics: dict[str, int] = field(default_factory=dict)
    #: hashes of statistics that keep their numbers, but no histogram any more, by queue
    histograms: dict[str, int] = field(default_factory=dict)
    #: workers that were not seen for ``max-worker-age``
    workers: list[str] = field(default_factory=list)
    #: workers of pyqless that have told nothing of themselves for an hour
    silent: list[str] = field(default_factory=list)
    #: jids on the lists of workers that do not have them, by worker
    entries: dict[str, list[str]] = field(default_factory=dict)
    #: tracked jids whose jobs are gone
    tracked: list[str] = field(default_factory=list)
    #: jids under tags whose jobs are gone, or do not bear them, by tag
    tags: dict[str, list[str]] = field(default_factory=dict)
    #: jids that jobs waited for in vain, by the job that did; none where it waited for nothing at all
    dependencies: dict[str, list[str]] = field(default_factory=dict)
    #: what could not be done, and why
    faults: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there was anything."""
        return any(getattr(self, name) for name in self.__slots__)


class Janitor:
    """
    Cleans up.

    Args:
        dry: only look, and report what would be removed.
        deep: look at all keys, too, for what belongs to queues, workers and tags that are on no list any more; this reads
            the whole store.
    """

    def __init__(self, client: Client, *, dry: bool = False, deep: bool = False) -> None:
        self._storage = client.storage
        self._client = client
        self._dry = dry
        self._deep = deep
        self._forgotten = Forgotten()

    def run(self) -> Report:
        """
        Make one pass. What cannot be cleaned, since something there makes no sense, is reported and passed over.

        Raises:
            StorageError: the store is away.
        """
        report = Report()
        self._forgotten = Forgotten.find(self._storage) if self._deep else Forgotten()
        for clean in (
            self._finish,
            self._clean_statistics,
            self._clean_workers,
            self._clean_tracked,
            self._clean_tags,
            self._clean_dependencies,
        ):
            try:
                clean(report)
            except QlessError as error:
                if error.code in ("unavailable", "refused", "unsupported"):
                    raise
                report.faults.append(str(error))
        return report

    def loop(self, interval: float, pause: Callable[[float], bool]) -> None:
        """
        Make a pass again and again.

        Args:
            interval: seconds from one to the next.
            pause: waits so long, and tells whether to go on; such as the negation of ``Event().wait``.
        """
        steady = Steady("the cleaning")
        while True:
            with steady:
                self._pass()
            if not pause(interval):
                return

    def _pass(self) -> None:
        try:
            report = self.run()
        except QlessError as error:
            logger.warning("no cleaning this time: %s", error)
        else:
            if report:
                logger.info("cleaned: %s", report)

    # -- one matter each ----------------------------------------------------------------------

    def _clean_statistics(self, report: Report) -> None:
        first_days = self._forgotten.statistics
        for queue in sorted({*self._storage.run(cleaning.known_queues), *first_days}):
            days = self._storage.run(partial(cleaning.statistics_days, queue=queue))
            days = days._replace(first=min(days.first, first_days.get(queue, days.first)))
            if hashes := self._over(days.old, cleaning.clean_statistics, queue):
                report.statistics[queue] = hashes
            if hashes := self._over(days.shapeless, cleaning.clean_histograms, queue):
                report.histograms[queue] = hashes

    def _over(self, days: range, rule: Callable[..., Transition[int]], queue: str) -> int:
        """Apply a rule to some days after others; how much it has removed."""
        parts = (days[start : start + DAYS] for start in range(0, len(days), DAYS))
        return sum(
            self._storage.run(partial(rule, queue=queue, days=part, dry=self._dry))
            for part in parts
        )

    def _clean_workers(self, report: Report) -> None:
        report.workers = self._storage.run(cleaning.old_workers)
        if report.workers and not self._dry:
            self._client.workers.counts()  # drops them, see max-worker-age
        report.silent = self._storage.run(
            partial(cleaning.drop_silent_workers, age=SILENCE, dry=self._dry)
        )
        known = self._storage.run(cleaning.known_workers)
        for worker in dict.fromkeys([*known, *sorted(self._forgotten.workers)]):
            if gone := self._through(cleaning.drop_worker_entries, worker=worker):
                report.entries[worker] = gone

    def _clean_tracked(self, report: Report) -> None:
        report.tracked = self._through(cleaning.clean_tracked)

    def _clean_tags(self, report: Report) -> None:
        counted = self._storage.run(cleaning.known_tags)
        known = [tag for name in counted for tag in cleaning.indexes(name)]
        for tag in dict.fromkeys([*known, *sorted(self._forgotten.tags)]):
            if gone := self._through(cleaning.clean_tag, tag=tag):
                report.tags[tag] = gone

    def _finish(self, _: Report) -> None:
        """Do what others have put off; that is no litter, and so not reported."""
        if not self._dry:
            self._storage.run(letting_go.take_up())
            self._storage.run(statistics.fold)

    def _clean_dependencies(self, report: Report) -> None:
        for queue in self._storage.run(cleaning.known_queues):
            for jid in list(self._depending(queue)):
                mend = partial(cleaning.mend_dependencies, jid=jid, dry=self._dry)
                if (gone := self._storage.run(mend)) is not None:
                    report.dependencies[jid] = gone

    def _depending(self, queue: str) -> Iterator[str]:
        for offset in count(step=PAGE):
            page = self._storage.run(
                partial(cleaning.page_of_depending, queue=queue, offset=offset)
            )
            yield from page
            if len(page) < PAGE:
                return

    def _through(
        self, rule: Callable[..., Transition[tuple[list[str], int]]], **of: str
    ) -> list[str]:
        """Apply a rule to page after page; what it removes makes the pages behind come nearer."""
        removed: list[str] = []
        offset = 0
        while True:
            gone, looked = self._storage.run(partial(rule, **of, offset=offset, dry=self._dry))
            removed += gone
            offset += looked if self._dry else looked - len(gone)
            if looked < PAGE:
                return removed
