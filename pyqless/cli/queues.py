# SPDX-License-Identifier: MIT
"""``pyqless queues``, ``pyqless queue ...`` and ``pyqless stats``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeAlias

import typer

from pyqless.cli.histograms import bars
from pyqless.cli.known import require_queue, tell_if_new, unknown_queues
from pyqless.cli.options import AsJson, Namespace
from pyqless.cli.printing import number, say, say_json, show
from pyqless.cli.store import Url, changing, looking
from pyqless.client import QueueCounts, Statistics, Times
from pyqless.core.wording import counted

__all__ = ["COLUMNS", "app", "queues", "row", "stats"]

app = typer.Typer(help="Pause a queue, forget it, or look at its day.")

COLUMNS: Final = (
    *("queue", "waiting", "running", "stalled", "scheduled", "depends", "recurring", "paused"),
)

_Queue: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="QUEUE...", help="The names of queues.")
]
_Day: TypeAlias = Annotated[
    datetime | None,
    typer.Option(
        "--day",
        metavar="YYYY-MM-DD",
        formats=["%Y-%m-%d"],
        help="The day (UTC); today unless given.",
    ),
]


def queues(*, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False) -> None:
    """Count the jobs of all queues by state."""
    with looking(url, namespace) as client:
        found = client.queues.counts()
    if as_json:
        say_json([counts._asdict() for counts in found])
        return
    show(COLUMNS, map(row, found))


def row(counts: QueueCounts) -> tuple[str, ...]:
    """A queue's counts as cells."""
    *numbers, paused = counts[1:]
    return (counts.name, *map(str, numbers), "paused" if paused else "")


@app.command()
def pause(
    names: _Queue, *, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """
    Hand out no jobs of queues until they are unpaused; what is in hand goes on.

    A queue that is not known yet is paused, too, and stderr says so.
    """
    with changing(url, namespace) as client:
        found = [client.queues[name] for name in names]
        new = unknown_queues(client, names)
        for queue in found:
            queue.pause()
    tell_if_new(*new)
    _confirm(names, as_json=as_json)


@app.command()
def unpause(
    names: _Queue, *, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """Hand out jobs again. If a queue is not known yet, stderr says so."""
    with changing(url, namespace) as client:
        found = [client.queues[name] for name in names]
        new = unknown_queues(client, names)
        for queue in found:
            queue.unpause()
    tell_if_new(*new)
    _confirm(names, as_json=as_json)


@app.command()
def forget(
    names: _Queue, *, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """
    Strike empty queues from the list, until their next job.

    The exit status is 1 if one is not empty, or not known.
    """
    with changing(url, namespace) as client:
        found = [client.queues[name] for name in names]
        for queue in found:
            require_queue(client, queue.name)
        for queue in found:
            queue.forget()
    _confirm(names, as_json=as_json)


def _confirm(names: list[str], *, as_json: bool) -> None:
    """Tell machines of what queues it is done; people see that nothing is said against it."""
    if as_json:
        say_json({"queues": names})


@app.command("stats")
def day_of_queue(
    name: Annotated[str, typer.Argument(metavar="QUEUE", help="The queue's name.")],
    *,
    day: _Day = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """Show how long the jobs of a queue waited and ran on a day, as histograms, and how many failed."""
    with looking(url, namespace) as client:
        found = client.queues[name].stats(_at(day))
        if not _has_any(found):
            require_queue(client, name)
    if as_json:
        say_json(asdict(found))
        return
    say(
        f"failed {number(found.failed)}, failures {number(found.failures)}, retries {number(found.retries)}"
    )
    for title, times in (("waited", found.wait), ("ran", found.run)):
        say(f"{title}: {counted(times.count, 'job')}, mean {_times(times)} s")
        for line in bars(times.histogram):
            typer.echo(line)


def stats(
    *, day: _Day = None, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """Show for all queues how long jobs waited and ran on a day, and how many failed."""
    with looking(url, namespace) as client:
        names = [counts.name for counts in client.queues.counts()]
        found = {name: client.queues[name].stats(_at(day)) for name in names}
    if as_json:
        say_json({name: asdict(statistics) for name, statistics in found.items()})
        return
    columns = ("queue", "waited", "seconds", "ran", "seconds", "failed", "failures", "retries")
    show(columns, ((name, *_cells(statistics)) for name, statistics in found.items()))


def _has_any(found: Statistics) -> bool:
    counts = (found.wait.count, found.run.count, found.failed, found.failures, found.retries)
    return any(counts)


def _cells(found: Statistics) -> tuple[str, ...]:
    times = (
        cell for each in (found.wait, found.run) for cell in (number(each.count), _times(each))
    )
    return (*times, *map(number, (found.failed, found.failures, found.retries)))


def _times(times: Times) -> str:
    return f"{times.mean:.3g} +- {times.std:.3g}"


def _at(day: datetime | None) -> Any:
    return None if day is None else day.replace(tzinfo=UTC)
