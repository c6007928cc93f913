# SPDX-License-Identifier: MIT
"""``pyqless tag ...`` and ``pyqless track ...``: by what jobs are found, and which are watched."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from pyqless.cli.job_texts import document, show_jobs
from pyqless.cli.options import MOST, AsJson, Namespace
from pyqless.cli.printing import note_rest, say, say_json
from pyqless.cli.store import Url, changing, looking

__all__ = ["tag_app", "track_app"]

tag_app = typer.Typer(help="Give tags to jobs, and take them away.")
track_app = typer.Typer(help="Choose jobs whose events are published.")

_Jid: TypeAlias = Annotated[str, typer.Argument(metavar="JID", help="The job's id.")]
_Jids: TypeAlias = Annotated[list[str], typer.Argument(metavar="JID...", help="The jobs' ids.")]
_Tags: TypeAlias = Annotated[list[str], typer.Argument(metavar="TAG...", help="The tags.")]
_Recurring: TypeAlias = Annotated[
    bool, typer.Option("--recurring", help="The jid is a recurring job's.")
]


@tag_app.command("add")
def add_tags(
    jid: _Jid,
    tags: _Tags,
    *,
    recurring: _Recurring = False,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """Add tags to a job, and print all that it has."""
    with changing(url, namespace) as client:
        job = client.recurring[jid] if recurring else client.jobs[jid]
        _print(job.tag(*tags), as_json=as_json)


@tag_app.command("remove")
def remove_tags(
    jid: _Jid,
    tags: _Tags,
    *,
    recurring: _Recurring = False,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """Take tags away from a job, and print those that it keeps."""
    with changing(url, namespace) as client:
        job = client.recurring[jid] if recurring else client.jobs[jid]
        _print(job.untag(*tags), as_json=as_json)


@tag_app.command("top")
def top_tags(
    *,
    count: Annotated[
        int,
        typer.Option("--count", "-n", metavar="NUMBER", min=1, max=MOST, help="How many at most."),
    ] = 25,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """List the tags that two jobs or more bear, the most frequent first; if there are more, stderr says so."""
    with looking(url, namespace) as client:
        tags = client.tags.top(0, count + 1)
    _print(tags[:count], as_json=as_json)
    if len(tags) > count:
        note_rest(count, None, "--count")


@track_app.command("add")
def track(
    jids: _Jids, *, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """Publish what happens to jobs from now on."""
    with changing(url, namespace) as client:
        for job in [client.jobs[jid] for jid in jids]:
            job.track()
    if as_json:
        say_json({"jids": jids})


@track_app.command("remove")
def untrack(
    jids: _Jids, *, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """Publish what happens to jobs no longer."""
    with changing(url, namespace) as client:
        for job in [client.jobs[jid] for jid in jids]:
            job.untrack()
    if as_json:
        say_json({"jids": jids})


@track_app.command("list")
def tracked(*, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False) -> None:
    """List the jobs that are tracked, and the jids of those that are there no more."""
    with looking(url, namespace) as client:
        found = client.jobs.tracked()
        if as_json:
            jobs = [document(job) for job in found.jobs]
            say_json({"jobs": jobs, "expired": found.expired})
            return
        show_jobs(found.jobs, client.storage.clock(), as_json=False)
    for jid in found.expired:
        say(f"{jid} is there no more")


def _print(tags: list[str], *, as_json: bool) -> None:
    if as_json:
        say_json(tags)
        return
    for tag in tags:
        say(tag)
