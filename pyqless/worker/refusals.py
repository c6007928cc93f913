# SPDX-License-Identifier: MIT
"""
Whether a store takes the ends of jobs that it gives.

Its rights may be changed while a worker runs, or its memory be full. Jobs whose ends it would refuse are not to be begun:
each would be run, and given back by its lock, again and again until its retries are spent.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from pyqless.core import presence
from pyqless.core.effects import Factory, Transition
from pyqless.core.transaction import Transaction
from pyqless.errors import QlessError
from pyqless.worker.waiting import Backoff, is_refusal

__all__ = ["Refusals", "trial"]

logger = logging.getLogger("pyqless.worker")


class Refusals:
    """
    What a store has said to the ends of jobs; whoever asks it, blocking or not, tells that here, from any thread.

    Args:
        monotonic: a clock that never goes back, seconds.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._backoff = Backoff(base=1.0, cap=60.0)
        self._try_at: float | None = None

    @property
    def are_over(self) -> bool:
        """Whether jobs may be begun: no end has been refused, or one has been taken since, or a trial."""
        return self._try_at is None

    @property
    def is_trial_due(self) -> bool:
        """Whether it is time to try the store."""
        return self._try_at is not None and self._monotonic() >= self._try_at

    def heard(self, answer: object) -> None:
        """Take note of the answer to an end: a value where the store has taken it, else the error."""
        if not isinstance(answer, QlessError):
            self._end()
        elif is_refusal(answer) and self.are_over:
            log = logger.warning if self._backoff.is_fresh else logger.debug
            log("no more jobs for now: the store refuses the end of one: %s", answer)
            self._put_off()

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Try the store: jobs may be begun if it takes a trial, which is a sign, but no proof that it takes their ends."""
        try:
            yield
        except QlessError as error:
            logger.debug("still no jobs: %s", error)
            self._put_off()
        else:
            self._try_at = None

    def _put_off(self) -> None:
        self._try_at = self._monotonic() + self._backoff.next()

    def _end(self) -> None:
        self._try_at = None
        if not self._backoff.is_fresh:
            logger.warning("the store takes the ends of jobs again")
            self._backoff.reset()


def trial(worker: str) -> Factory[None]:
    """What leaves nothing behind, and takes most of the rights that the end of a job takes."""
    return partial(_trial, worker=worker)


def _trial(tx: Transaction, worker: str) -> Transition[None]:
    name = f"{worker}/trial"
    yield from presence.announce(tx, name, {"trial": "true"})
    yield from presence.withdraw(tx, name)
    tx.publish(presence.record_key(tx.keys, name), "")
