# SPDX-License-Identifier: MIT
"""Where a worker's jobs come from: its queues, in the order of its reserver, for as long as it takes any."""

from __future__ import annotations

from pyqless.client import AsyncClient, AsyncJob, Client, Job
from pyqless.core.cleaning import known_queues
from pyqless.errors import QlessError, RequestError
from pyqless.worker.bells import AsyncBell, Bell
from pyqless.worker.control import Control
from pyqless.worker.lookout import Lookout
from pyqless.worker.waiting import Weather

__all__ = ["AsyncFetcher", "Fetcher"]


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
