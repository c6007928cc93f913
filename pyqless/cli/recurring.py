# SPDX-License-Identifier: MIT
"""``pyqless recur ...``: jobs that are made every so often."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

from pyqless.cli.job_texts import field, recurring_document
from pyqless.cli.known import require_queue
from pyqless.cli.options import AsJson, Namespace, OnConflict, Unique
from pyqless.cli.parsing import SPANS, json_data, span_option, spans
from pyqless.cli.printing import day_time, number, say, say_json, show
from pyqless.cli.store import Url, changing, looking, warn_if_gone_at_exit
from pyqless.client import Client, RecurringJob

__all__ = ["app"]

app = typer.Typer(help="Make jobs every so often.")

_Jid: TypeAlias = Annotated[str, typer.Argument(metavar="JID", help="The recurring job's id.")]
_Every: TypeAlias = Annotated[
    float,
    typer.Argument(metavar="SPAN", parser=spans(), help=f"From one job to the next: {SPANS}."),
]
_Priority: TypeAlias = Annotated[
    float | None,
    typer.Option("--priority", "-p", metavar="NUMBER", help="Of each job; the greater goes first."),
]
_Retries: TypeAlias = Annotated[
    int | None,
    typer.Option("--retries", metavar="NUMBER", help="How often each job may be tried again."),
]
_Backlog: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--backlog", metavar="NUMBER", help="How many overdue jobs are caught up; 0: all."
    ),
]


@app.command()
def put(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="Where the jobs are made.")],
    klass: Annotated[
        str, typer.Argument(metavar="CLASS", help="What is to run, as the workers know it.")
    ],
    every: _Every,
    data: Annotated[str, typer.Argument(metavar="DATA", help="The jobs' data as JSON.")] = "{}",
    *,
    offset: Annotated[
        float | None,
        span_option("--offset", about="Until the first job"),
    ] = None,
    jid: Annotated[
        str | None,
        typer.Option("--jid", metavar="JID", help="A jid of your own; a random one unless given."),
    ] = None,
    unique: Unique = False,
    on_conflict: OnConflict = None,
    priority: _Priority = None,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", "-t", metavar="TAG", help="A tag; may be repeated."),
    ] = None,
    retries: _Retries = None,
    backlog: _Backlog = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Make a job every so often, and print the jid; a recurring job that has the jid is replaced unless told otherwise.

    Jobs are made as workers pop. Runs that were missed as nobody popped for a while are made up for at the next pop: all of them,
    unless --backlog says how many.
    """
    with changing(url, namespace) as client:
        done = client.queues[queue].recur(
            klass,
            json_data(data),
            every,
            offset=offset,
            jid=jid,
            unique=unique or None,
            on_conflict=None if on_conflict is None else on_conflict.value,
            priority=priority,
            tags=tags,
            retries=retries,
            backlog=backlog,
        )
        warn_if_gone_at_exit(client)
    if as_json:
        say_json({"jid": done, "queue": queue})
    else:
        say(done)


@app.command("list")
def list_(
    queue: Annotated[
        str | None, typer.Argument(metavar="QUEUE", help="Only of this one.", show_default=False)
    ] = None,
    *,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    List recurring jobs, of each queue the one due first at the head.

    The exit status is 1 if the queue is not known.
    """
    with looking(url, namespace) as client:
        found = _found(client, queue)
        if queue is not None and not found:
            require_queue(client, queue)
        documents = [_document(job) for job in found]
    if as_json:
        say_json(documents)
        return
    columns = ("jid", "queue", "class", "every", "next", "made")
    show(columns, map(_row, documents))


def _found(client: Client, queue: str | None) -> list[RecurringJob]:
    counted = {counts.name: counts.recurring for counts in client.queues.counts()}
    names = counted if queue is None else [queue]
    jids = [
        jid for name in names for jid in client.queues[name].recurring(0, counted.get(name) or 1)
    ]
    jobs = (client.recurring.get(jid) for jid in jids)
    return [job for job in jobs if job is not None]


def _document(job: RecurringJob) -> dict[str, Any]:
    return {**recurring_document(job), "next": job.next_run()}


def _row(fields: dict[str, Any]) -> tuple[str, ...]:
    due = "" if fields["next"] is None else day_time(fields["next"])
    every = f"{number(fields['interval'])} s"
    return (fields["jid"], fields["queue"], fields["klass"], every, due, str(fields["count"]))


@app.command("show")
def show_one(
    jid: _Jid, *, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """Show a recurring job whole. The exit status is 1 if there is none."""
    with looking(url, namespace) as client:
        fields = _document(client.recurring[jid])
    if as_json:
        say_json(fields)
        return
    for name, value in fields.items():
        say(f"{name:12}{field(name, value)}")


@app.command()
def update(
    jid: _Jid,
    *,
    every: Annotated[
        float | None,
        span_option("--every", about="From one job to the next"),
    ] = None,
    klass: Annotated[
        str | None, typer.Option("--class", "-k", metavar="CLASS", help="What is to run.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DATA", help="The jobs' data as JSON.")
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option("--queue", "-q", metavar="QUEUE", help="Where the jobs are made from now on."),
    ] = None,
    priority: _Priority = None,
    retries: _Retries = None,
    backlog: _Backlog = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """Change what is given, for the jobs that will be made."""
    given: dict[str, Any] = {
        "klass": klass,
        "queue": queue,
        "interval": every,
        "priority": priority,
        "retries": retries,
        "backlog": backlog,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    if data is not None:
        changed["data"] = json_data(data, "--data")
    if not changed:
        raise typer.BadParameter("say what is to be changed", param_hint="OPTION...")
    with changing(url, namespace) as client:
        client.recurring[jid].update(**changed)
    if as_json:
        say_json({"jid": jid, **changed})


@app.command()
def cancel(
    jids: Annotated[list[str], typer.Argument(metavar="JID...", help="Recurring jobs' ids.")],
    *,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """Make no more jobs; those that are made stay. The exit status is 1 if one is not there."""
    with changing(url, namespace) as client:
        for job in [client.recurring[jid] for jid in jids]:
            job.cancel()
    if as_json:
        say_json({"jids": jids})
