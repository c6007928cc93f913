# SPDX-License-Identifier: MIT
"""A walk through many jobs: which requests it takes, one after another, and what comes of each."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from pyqless.client import checks
from pyqless.client.requests.effects import Look
from pyqless.client.views import NamedQueue
from pyqless.core import walking
from pyqless.core.effects import Factory
from pyqless.core.models import Job
from pyqless.core.walking import Stage, Step

__all__ = ["Walk"]


class Walk:
    """
    A walk; each job is met once, though it may move meanwhile.

    Args:
        queue: in which; everywhere if None.
        states: of ``walking.STATES``, all of them if empty.
        page: how many jobs are read at once.
    """

    def __init__(self, queue: NamedQueue | None, states: Collection[str], page: int) -> None:
        self._count = checks.whole("page", page, least=1)
        self._stages: tuple[Stage, ...] | None = None
        self._met: set[str] = set()
        if queue is not None:
            chosen = checks.choice("states", states or walking.STATES, walking.STATES)
            keys = queue.client.storage.keys
            self._stages = tuple(walking.stages_of(keys, queue.name, chosen))

    def request(self) -> Factory[Step] | None:
        """What is to be asked next; None at the end."""
        if self._stages is None:
            return walking.everywhere
        if not self._stages:
            return None
        return Look(partial(walking.step, stages=self._stages, count=self._count))

    def take(self, step: Step) -> list[Job]:
        """The jobs in an answer that have not been met before."""
        self._stages = step.rest
        new = [job for job in step.jobs if job.jid not in self._met]
        self._met.update(job.jid for job in new)
        return new
