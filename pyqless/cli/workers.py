# SPDX-License-Identifier: MIT
"""``pyqless workers``: who is at work, on what."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from pyqless.cli.options import AsJson, Namespace
from pyqless.cli.printing import age, note, say_json, show
from pyqless.cli.status import Status
from pyqless.cli.store import Url, changing, looking
from pyqless.client import Client
from pyqless.core.workers import WorkerCounts
from pyqless.worker import WorkerRecord, records

__all__ = ["COLUMNS", "documents", "row", "workers"]

COLUMNS: Final = ("worker", "jobs", "stalled", "kind", "host", "pid", "seen", "queues", "running")


def workers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORKER...", help="Only these.", show_default=False),
    ] = None,
    *,
    deregister: Annotated[
        bool,
        typer.Option(
            "--deregister", help="Strike those named from the list; they keep their jobs."
        ),
    ] = False,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    List workers, the one seen last first, with their jobs; those of pyqless tell of themselves, too.

    One of pyqless that has told nothing for 40 seconds counts as dead, and is marked so; of others nobody can tell.

    The exit status is 1 if one that is named is not there.
    """
    if deregister:
        if not names:
            raise typer.BadParameter("name them", param_hint="WORKER...")
        if as_json:
            raise typer.BadParameter("does not go with --deregister", param_hint="--json")
        with changing(url, namespace) as client:
            missing = {*names} - {document["name"] for document in documents(client)}
            client.workers.deregister(*names)
        _require_all(missing)
        return
    with looking(url, namespace) as client:
        found = documents(client)
        now = client.storage.clock()
    chosen = [document for document in found if not names or document["name"] in names]
    if as_json:
        say_json(chosen)
    else:
        show(COLUMNS, (row(document, now) for document in chosen))
    _require_all(set(names or ()) - {document["name"] for document in chosen})


def _require_all(missing: set[str]) -> None:
    """Go on unless workers that are named are not there."""
    for name in sorted(missing):
        note(f"no worker named {name!r} is known")
    if missing:
        raise typer.Exit(Status.NOT_DONE)


def documents(client: Client) -> list[dict[str, Any]]:
    """Describe all workers, each by its counts and, as ``record``, what it told last."""
    told = {record.name: record for record in records(client)}
    counted = {counts.name: counts for counts in client.workers.counts()}
    silent = (WorkerCounts(name, 0, 0) for name in told if name not in counted)
    now = client.storage.clock()
    return [
        {**counts._asdict(), "record": _record(told.get(counts.name), now)}
        for counts in (*counted.values(), *silent)
    ]


def _record(record: WorkerRecord | None, now: float) -> dict[str, Any] | None:
    return None if record is None else {**asdict(record), "is_fresh": record.is_fresh(now)}


def row(document: dict[str, Any], now: float) -> tuple[str, ...]:
    """A worker as cells."""
    name, jobs, stalled = document["name"], str(document["jobs"]), str(document["stalled"])
    record = document["record"]
    if record is None:
        return (name, jobs, stalled, "", "", "", "", "", "")
    running = ",".join(f"{job['klass']} ({age(now - job['began'])})" for job in record["jobs"])
    marks = {"paused": record["is_paused"], "dead": not record["is_fresh"]}
    kind = ", ".join([record["kind"], *(mark for mark, holds in marks.items() if holds)])
    seen = age(max(0.0, now - record["seen"]))
    queues = ",".join(record["queues"])
    return (name, jobs, stalled, kind, record["host"], str(record["pid"]), seen, queues, running)
