# SPDX-License-Identifier: MIT
"""Jobs as rows and as documents; one whose fields make no sense is shown as such, and hides no other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from pyqless.cli.printing import age, day_time, number, say_json, show
from pyqless.client import Job
from pyqless.client.views import JobView, RecurringJobView
from pyqless.errors import CorruptedJob

__all__ = ["changed_at", "document", "field", "recurring_document", "show_jobs"]

_COLUMNS: Final = ("jid", "state", "queue", "class", "priority", "age", "tags", "data")

#: fields of documents that are moments, Unix time in seconds
_MOMENTS: Final = ("expires", "next")

#: characters of the data in a row
_SHOWN: Final = 40


def document(job: JobView[Any]) -> dict[str, Any]:
    """All of a job, for ``--json``; of a damaged one the jid and what is wrong."""
    try:
        return {
            "jid": job.jid,
            "klass": job.klass_name,
            "state": job.state,
            "queue": job.queue_name,
            "priority": job.priority,
            "retries": job.retries,
            "remaining": job.remaining,
            "tags": job.tags,
            "tracked": job.tracked,
            "worker": job.worker_name,
            "expires": job.expires_at,
            "dependencies": job.dependencies,
            "dependents": job.dependents,
            "spawned_from_jid": job.spawned_from_jid,
            "failure": None if job.failure is None else job.failure._asdict(),
            "history": job.history,
            "data": job.data,
        }
    except CorruptedJob as error:
        return {"jid": job.jid, "error": str(error)}


def recurring_document(job: RecurringJobView[Any]) -> dict[str, Any]:
    """All of a recurring job, for ``--json``."""
    return {
        "jid": job.jid,
        "klass": job.klass_name,
        "queue": job.queue_name,
        "interval": job.interval,
        "count": job.count,
        "backlog": job.backlog,
        "priority": job.priority,
        "retries": job.retries,
        "tags": job.tags,
        "data": job.data,
    }


def field(name: str, value: Any) -> str:
    """A field of a document, for people: moments on the clock of this place, and all that has no form of its own as JSON."""
    if name in _MOMENTS and value:
        return day_time(value)
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | float):
        return number(value)
    return json.dumps(value, ensure_ascii=False, default=list)


def changed_at(job: JobView[Any]) -> float:
    """When something happened to a job last, Unix time in seconds."""
    return max((float(entry.get("when", 0)) for entry in job.history), default=0.0)


def show_jobs(jobs: Iterable[Job], now: float, *, as_json: bool) -> None:
    """Print jobs, a row each or as a list of documents."""
    if as_json:
        say_json([document(job) for job in jobs])
        return
    show(_COLUMNS, (_row(job, now) for job in jobs))


def _row(job: Job, now: float) -> tuple[str, ...]:
    try:
        return (
            job.jid,
            job.state,
            job.queue_name,
            job.klass_name,
            number(job.priority),
            age(max(0.0, now - changed_at(job))),
            ",".join(job.tags),
            _cut(json.dumps(job.data, ensure_ascii=False)),
        )
    except CorruptedJob as error:
        return (job.jid, "damaged", "", "", "", "", "", str(error))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
