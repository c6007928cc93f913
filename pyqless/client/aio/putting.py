# SPDX-License-Identifier: MIT
"""How jobs come into a queue, for the client for asyncio."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyqless.client.checks import Span
from pyqless.client.options import OnConflict
from pyqless.client.references import AnyJob
from pyqless.client.requests import enqueueing as requests

if TYPE_CHECKING:
    from pyqless.client.aio.client import AsyncClient

__all__ = ["AsyncPuts"]


class AsyncPuts:
    """As ``Puts``."""

    __slots__ = ()

    client: AsyncClient
    name: str

    async def put(
        self,
        klass: str | type,
        data: Any = None,
        *,
        jid: str | None = None,
        unique: bool | None = None,
        on_conflict: OnConflict | None = None,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        delay: Span | None = None,
        retries: int | None = None,
        depends: Iterable[str | AnyJob] | None = None,
        max_waiting: int | None = None,
    ) -> str:
        """As ``Queue.put``."""
        return await self.client.storage.run(
            requests.put(
                self,
                klass,
                data,
                jid=jid,
                unique=unique,
                on_conflict=on_conflict,
                priority=priority,
                tags=tags,
                delay=delay,
                retries=retries,
                depends=depends,
                max_waiting=max_waiting,
            ).transition
        )

    async def recur(
        self,
        klass: str | type,
        data: Any,
        interval: Span,
        *,
        offset: Span | None = None,
        jid: str | None = None,
        unique: bool | None = None,
        on_conflict: OnConflict | None = None,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        retries: int | None = None,
        backlog: int | None = None,
    ) -> str:
        """As ``Queue.recur``."""
        return await self.client.storage.run(
            requests.recur(
                self,
                klass,
                data,
                interval,
                offset=offset,
                jid=jid,
                unique=unique,
                on_conflict=on_conflict,
                priority=priority,
                tags=tags,
                retries=retries,
                backlog=backlog,
            )
        )
