# SPDX-License-Identifier: MIT
"""``pyqless jobs``, ``pyqless job`` and ``pyqless failed``: looks at jobs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import typer

from pyqless.cli.job_texts import document, field, show_jobs
from pyqless.cli.known import require_group
from pyqless.cli.options import MOST, AsJson, Namespace
from pyqless.cli.printing import clean, day_time, note_rest, say, say_json, show
from pyqless.cli.selecting import Age, Group, InQueue, InState, Klass, Selection, Tag
from pyqless.cli.store import Url, looking
from pyqless.client import Explanation, Job
from pyqless.core.wording import day_time as in_utc
from pyqless.worker.reporting import summary_of

__all__ = ["failed", "job", "jobs"]

_Limit = Annotated[
    int,
    typer.Option("--limit", "-n", metavar="NUMBER", min=1, max=MOST, help="How many jobs at most."),
]


def jobs(
    *,
    queue: InQueue = None,
    state: InState = None,
    group: Group = None,
    klass: Klass = None,
    tag: Tag = None,
    older_than: Age = None,
    limit: _Limit = 50,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    List jobs, those that fit all filters given: of queues first, then failed ones, then complete ones.

    If there are more than --limit, stderr says so.
    The exit status is 1 if there is no such queue or group of failures.
    """
    selection = Selection(queue, state, group, klass, tag, older_than)
    with looking(url, namespace) as client:
        found = list(islice(selection.jobs(client), limit + 1))
        show_jobs(found[:limit], client.storage.clock(), as_json=as_json)
        if not found:
            selection.require_names(client)
    if len(found) > limit:
        note_rest(limit, None, "--limit")


def job(
    jid: Annotated[str, typer.Argument(metavar="JID", help="The job's id.")],
    *,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Show a job whole: its fields, its history, and why it is not running.

    The exit status is 1 if there is none.
    """
    with looking(url, namespace) as client:
        found = client.jobs[jid]
        explanation = found.explain()
    if as_json:
        say_json({**document(found), "explanation": explanation._asdict()})
        return
    for line in _lines(found, explanation):
        say(line)


def _lines(found: Job, explanation: Explanation) -> Iterator[str]:
    fields = document(found)
    history = fields.pop("history", [])
    yield f"{'why':18}{_on_the_clock(explanation, found)}"
    for name, value in fields.items():
        if name == "failure" and value is not None:
            yield f"{name:18}{value['group']}"
            yield from (f"    {line}" for line in value["message"].splitlines())
        elif value not in (None, "", [], 0.0) or name == "priority":
            yield f"{name:18}{field(name, value)}"
    for entry in history:
        rest = {key: value for key, value in entry.items() if key not in ("when", "what")}
        told = " ".join(f"{key}={field(key, value)}" for key, value in rest.items())
        yield f"{day_time(entry.get('when', 0))}  {entry.get('what', '')} {told}".rstrip()


def _on_the_clock(explanation: Explanation, found: Job) -> str:
    """Why it is not running; the rules know no clock of this place, and write moments in UTC."""
    text = explanation.text
    for moment in (explanation.until, found.expires_at):
        if moment:
            text = text.replace(in_utc(moment), day_time(moment))
    return text


def failed(
    group: Annotated[
        str | None,
        typer.Argument(metavar="GROUP", help="Of which the jobs are wanted.", show_default=False),
    ] = None,
    *,
    limit: _Limit = 25,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Count failed jobs by group, or list those of a group, the last one that failed first.

    If there are more of the group than --limit, stderr says so.
    The exit status is 1 if there is no such group.
    """
    with looking(url, namespace) as client:
        if group is None:
            _show_groups(client.jobs.failed(), as_json=as_json)
            return
        page = client.jobs.failed(group, 0, limit)
        if not page.total:
            require_group(client, group)
    if as_json:
        say_json({"total": page.total, "jobs": [document(found) for found in page.jobs]})
    else:
        show(("jid", "queue", "class", "when", "message"), map(_failure, page.jobs))
    if page.total > limit:
        note_rest(limit, page.total, "--limit")


def _show_groups(groups: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        say_json(groups)
        return
    show(("group", "jobs"), groups.items())


def _failure(found: Job) -> tuple[str, ...]:
    fields = document(found)
    if "error" in fields or fields["failure"] is None:
        return (found.jid, "", "", "", fields.get("error", ""))
    failure = fields["failure"]
    what = clean(summary_of(failure["message"]))
    return (found.jid, fields["queue"], fields["klass"], day_time(failure["when"]), what)
