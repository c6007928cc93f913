# SPDX-License-Identifier: MIT
"""Where a worker's jobs come from: its queues, in the order of its reserver, for as long as it takes any."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import Final

from pyqless.client import AsyncClient, AsyncJob, Client, Job
from pyqless.core.cleaning import known_queues
from pyqless.core.effects import Factory
from pyqless.core.waking import Outlook, outlook
from pyqless.errors import QlessError, RequestError, StoreCorrupted
from pyqless.worker.bells import AsyncBell, Bell
from pyqless.worker.control import Control
from pyqless.worker.reservers import Ordered, Reserver, expand, is_pattern
from pyqless.worker.waiting import Backoff, is_refusal

__all__ = ["AsyncFetcher", "Fetcher", "Lookout"]

logger = logging.getLogger("pyqless.worker")

#: seconds between two looks at which queues there are, where names are patterns
LOOK_AROUND: Final = 5.0


class Lookout:
    """
    Which queues are to be looked at, and in which order.

    Args:
        queues: names and patterns, see ``reservers.expand``.
    """

    def __init__(self, queues: Sequence[str], reserver: Reserver | None) -> None:
        expand(queues, ())  # is refused here rather than later
        self._names = list(queues)
        self._reserver = reserver or Ordered()
        self._has_patterns = any(map(is_pattern, queues))
        self._look_at = float("-inf")
        self._begun: Iterator[str] | None = None
        self._damaged: set[str] = set()
        #: what the names meant when last looked at
        self.queues = [] if self._has_patterns else expand(queues, ())

    def __str__(self) -> str:
        return f"{', '.join(self._names)} ({self._reserver.description})"

    def needs_known(self, now: float) -> bool:
        """Whether it is time to ask which queues there are."""
        return self._has_patterns and now >= self._look_at

    def know(self, known: Sequence[str], now: float) -> bool:
        """Take note of the queues that there are, and tell whether that makes others of those to be looked at."""
        before, self.queues = self.queues, expand(self._names, known)
        self._look_at = now + LOOK_AROUND
        self._begun = None
        return self.queues != before

    def looks(self, *, at_first: bool) -> list[tuple[str, Factory[Outlook]]]:
        """What is to be tried before any job is taken: who may pop, but not look, is refused here rather than later."""
        some = self.queues[:1] if at_first else ()
        return [(name, partial(outlook, queue=name)) for name in some]

    @property
    def sound(self) -> list[str]:
        """The queues that were not found damaged when last tried."""
        return [name for name in self.queues if name not in self._damaged]

    @contextmanager
    def passing_over(self, queue: str) -> Iterator[None]:
        """Try a queue; one whose keys hold what no queue can is told once, and keeps nobody from the others."""
        try:
            yield
        except StoreCorrupted as error:
            if error.argument == "path":  # the whole file is damaged
                raise
            if queue not in self._damaged:
                logger.warning("no jobs of queue %r for now: %s", queue, error)
            self._damaged.add(queue)
        else:
            self._damaged.discard(queue)

    def order(self) -> Iterator[str]:
        """The queues in the order in which to try them; taken one by one."""
        begun, self._begun = self._begun, None
        return self._reserver.order(self.queues) if begun is None else begun

    def first(self) -> str | None:
        """The queue to try next, if there is any; the next order is the one that begins with it."""
        names = self._reserver.order(self.queues)
        head = list(islice(names, 1))
        self._begun = chain(head, names)
        return next(iter(head), None)


class Weather:
    """Whether the store is there, as the last calls have shown."""

    def __init__(self) -> None:
        self._backoff = Backoff()
        self._has_served = False

    @property
    def is_unknown(self) -> bool:
        """Whether no call has come through yet."""
        return not self._has_served

    @property
    def is_fair(self) -> bool:
        """Whether the last call came through."""
        return self._backoff.is_fresh

    def clouds(self, error: QlessError) -> float:
        """
        A call did not come through: log that, the first time loudly, and give the seconds to wait.

        Raises:
            QlessError: the store refuses us, and has never done otherwise.
        """
        if not self._has_served and is_refusal(error):
            raise error
        log = logger.warning if self.is_fair else logger.debug
        log("no jobs for now, trying again: %s", error)
        return self._backoff.next()

    def clears(self) -> None:
        """A call came through."""
        self._has_served = True
        if not self.is_fair:
            logger.warning("the store is back")
            self._backoff.reset()


class Fetcher:
    """
    Pops jobs, one or some at a time.

    Args:
        interval: seconds between two looks at empty queues, at most.
        listen: hear of work by message, where the store has any.
    """

    def __init__(
        self,
        client: Client,
        lookout: Lookout,
        control: Control,
        *,
        interval: float = 5.0,
        listen: bool = True,
    ) -> None:
        self._client = client
        self._lookout = lookout
        self._weather = Weather()
        self._bell = Bell(client, interval, lambda: not control.is_running, listen=listen)
        #: whether the next fetch is to ask; after a wait in which nothing has come up it need not
        self._is_due = True
        #: whether the last wait has failed; that jobs can be asked for does not make it any better
        self._is_blind = False

    def fetch(self, count: int = 1) -> list[Job]:
        """
        Pop jobs of the first queue that has any, without waiting for one; none if the last wait has shown none.

        Returns:
            list: at most so many jobs; empty where there is none, and where the store is away, after a pause.

        Raises:
            RequestError: a name that no store would take.
            StorageError: the store refuses the first call.
        """
        try:
            jobs = self._pop(count)
        except RequestError:
            raise
        except QlessError as error:
            self._is_blind = False  # it is worse than that
            self._bell.pause(self._weather.clouds(error))
            return []
        if jobs or not self._is_blind:
            self._weather.clears()
        return jobs

    def _pop(self, count: int) -> list[Job]:
        now = float(self._client.storage.clock())
        knows = self._lookout.needs_known(now)
        if knows and self._lookout.know(self._client.storage.run(known_queues), now):
            self._is_due = True
        for name, look in self._lookout.looks(at_first=self._weather.is_unknown):
            with self._lookout.passing_over(name):
                self._client.storage.run(look)
        is_due, self._is_due = self._is_due, True
        if not is_due:
            return []
        for name in self._lookout.order():
            with self._lookout.passing_over(name):
                if jobs := self._client.queues[name].pop(count):
                    return jobs
        self._bell.tried(self._lookout.sound, now)
        return []

    def tries_next(self, queue: str) -> bool:
        """Whether the next job is to be looked for in a queue first, and nothing is to be asked before."""
        now = float(self._client.storage.clock())
        return not self._lookout.needs_known(now) and self._lookout.first() == queue

    def wait(self) -> None:
        """Wait a moment, and find out whether there may be something to fetch."""
        if not (self._weather.is_fair or self._is_blind):
            return
        try:
            self._is_due = self._bell.rings()
        except QlessError as error:
            self._is_blind = True
            self._bell.pause(self._weather.clouds(error))
        else:
            self._weather.clears()
            self._is_blind = False

    def pause(self, seconds: float) -> None:
        """Wait, whatever there may be to fetch."""
        self._bell.pause(seconds)

    def close(self) -> None:
        """Listen no longer for jobs."""
        self._bell.close()


class AsyncFetcher:
    """As ``Fetcher``, for asyncio."""

    def __init__(
        self,
        client: AsyncClient,
        lookout: Lookout,
        control: Control,
        *,
        interval: float = 5.0,
        listen: bool = True,
    ) -> None:
        self._client = client
        self._lookout = lookout
        self._weather = Weather()
        self._bell = AsyncBell(client, interval, lambda: not control.is_running, listen=listen)
        #: whether the next fetch is to ask; after a wait in which nothing has come up it need not
        self._is_due = True
        #: whether the last wait has failed; that jobs can be asked for does not make it any better
        self._is_blind = False

    async def fetch(self, count: int = 1) -> list[AsyncJob]:
        """As ``Fetcher.fetch``."""
        try:
            jobs = await self._pop(count)
        except RequestError:
            raise
        except QlessError as error:
            self._is_blind = False  # it is worse than that
            await self._bell.pause(self._weather.clouds(error))
            return []
        if jobs or not self._is_blind:
            self._weather.clears()
        return jobs

    async def _pop(self, count: int) -> list[AsyncJob]:
        now = float(self._client.storage.clock())
        knows = self._lookout.needs_known(now)
        if knows and self._lookout.know(await self._client.storage.run(known_queues), now):
            self._is_due = True
        for name, look in self._lookout.looks(at_first=self._weather.is_unknown):
            with self._lookout.passing_over(name):
                await self._client.storage.run(look)
        is_due, self._is_due = self._is_due, True
        if not is_due:
            return []
        for name in self._lookout.order():
            with self._lookout.passing_over(name):
                if jobs := await self._client.queues[name].pop(count):
                    return jobs
        self._bell.tried(self._lookout.sound, now)
        return []

    async def wait(self) -> None:
        """As ``Fetcher.wait``."""
        if not (self._weather.is_fair or self._is_blind):
            return
        try:
            self._is_due = await self._bell.rings()
        except QlessError as error:
            self._is_blind = True
            await self._bell.pause(self._weather.clouds(error))
        else:
            self._weather.clears()
            self._is_blind = False

    async def close(self) -> None:
        """As ``Fetcher.close``."""
        await self._bell.close()
