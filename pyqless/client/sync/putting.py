# SPDX-License-Identifier: MIT
"""How jobs come into a queue, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyqless.client.checks import Span
from pyqless.client.options import OnConflict
from pyqless.client.references import AnyJob
from pyqless.client.requests import enqueueing as requests

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Puts"]


class Puts:
    """What puts jobs into a queue."""

    __slots__ = ()

    client: Client
    name: str

    def put(
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
        """
        Put a job into the queue; by default one that has the jid already is moved here and made anew.

        Where such a job is replaced, it keeps its priority, tags and retries unless they are given.
        What is not given, a class may give by a method ``default_job_options(data)``, see ``JobOptions``.

        Args:
            klass: what is to run: a class, or its name as the workers know it.
            data: what JSON can say; dataclasses, and models of pydantic and msgspec, become objects.
            jid: a jid of your own; a random one unless given.
            unique: derive the jid from klass and data, so that there is one such job at a time; see
                ``pyqless.client.options.digest``.
            on_conflict: what is to happen if a job or a recurring job has the jid already: ``replace`` it;
                ``keep`` it; ``error``: raise ``JobExists``; ``replace_if_done``: replace it if it is complete or
                has failed, else keep it. ``replace`` unless given, for unique jobs ``replace_if_done``.
            priority: the greater goes first; 0 unless given.
            tags: by which the job is found.
            delay: seconds, or a timedelta, to wait before it may run.
            retries: how often it may be tried again after its lock expires or it is given back; 5 unless given.
                An exception in its code fails it at once, unless ``retry_on`` names it to the worker.
            depends: jobs, or their jids, that must be complete first, a thousand at most; those that are, or are not there, do
                not count.
            max_waiting: refuse if so many jobs wait already, or as many as the queue's setting allows, see
                ``Queue.max_waiting``. They are counted without holding others up, so that a few more may come in at
                the same moment.

        Returns:
            str: the jid, also of a job that was kept.

        Raises:
            InvalidArgument: an argument is no good.
            DataTooLarge: the data is longer than the client allows.
            JobExists: the jid is taken, and that is to be an error.
            QueueFull: too many jobs wait.
        """
        return self.client.storage.run(
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

    def recur(
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
        """
        Make a job every so often, whenever somebody pops; by default a recurring job of the same jid is replaced.

        Args:
            klass: what is to run: a class, or its name as the workers know it.
            data: what JSON can say; dataclasses, and models of pydantic and msgspec, become objects.
            interval: seconds, or a timedelta, from one run to the next, above 0.
            offset: seconds, or a timedelta, until the first run.
            jid: a jid of your own; a random one unless given. The jobs are called ``JID-1``, ``JID-2``, ...
            unique: derive the jid from klass and data, as ``put`` does.
            on_conflict: what is to happen if a job or a recurring job has the jid already, as with ``put``;
                ``replace`` replaces a recurring job only, and ``replace_if_done`` keeps it, since it is never done.
            priority: of each job; 0 unless given.
            tags: of each job.
            retries: of each job; 5 unless given.
            backlog: how many overdue runs are caught up at most, the last ones; 0 and unless given: all.

        Returns:
            str: the jid, also of a job that was kept.

        Raises:
            InvalidArgument: an argument is no good.
            DataTooLarge: the data is longer than the client allows.
            JobExists: the jid is taken, and that is to be an error.
        """
        return self.client.storage.run(
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
