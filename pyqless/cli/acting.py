# SPDX-License-Identifier: MIT
"""``pyqless cancel``, ``retry``, ``unfail`` and ``move``: what is done to jobs, to one or to many."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from pyqless.cli.known import require_group, require_queue
from pyqless.cli.many import Deed, carry_out, report
from pyqless.cli.options import MOST, AsJson, Namespace
from pyqless.cli.printing import note, say, say_json
from pyqless.cli.selecting import Age, Group, InQueue, InState, Klass, Selection, State, Tag
from pyqless.cli.store import Opening, Url, changing, looking
from pyqless.client import Client, Job
from pyqless.core.wording import counted
from pyqless.errors import RequestError

__all__ = ["cancel", "move", "retry", "unfail"]

_Jids: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="JID...", help="Jobs; or give filters instead.", show_default=False),
]
_Yes: TypeAlias = Annotated[
    bool, typer.Option("--yes", "-y", help="With filters: do it, rather than show what is meant.")
]

#: states of jobs that move all together, in their order
_IN_ORDER = (None, State.WAITING, State.SCHEDULED, State.DEPENDS)


def _store(jids: list[str] | None, *, yes: bool) -> Opening:
    """How the store is opened: what is only shown changes nothing."""
    return changing if jids or yes else looking


def cancel(
    jids: _Jids = None,
    *,
    queue: InQueue = None,
    state: InState = None,
    group: Group = None,
    klass: Klass = None,
    tag: Tag = None,
    older_than: Age = None,
    yes: _Yes = False,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Delete jobs: those named, at once; or those that fit all filters given, which are only shown without --yes.

    A job that others wait for is kept, unless they are cancelled, too; complete jobs are left alone.
    The exit status is 1 if any was kept.
    """
    deed = Deed("cancel", "cancelled", _cancel)
    selection = Selection(queue, state, group, klass, tag, older_than)
    with _store(jids, yes=yes)(url, namespace) as client:
        carry_out(client, deed, jids, selection, yes=yes, as_json=as_json)


def _cancel(job: Job) -> None:
    if job.state == State.COMPLETE.value:
        raise RequestError(f"job {job.jid!r} is complete, and stays until it is old enough")
    job.cancel()


def retry(
    jids: _Jids = None,
    *,
    queue: InQueue = None,
    group: Group = None,
    klass: Klass = None,
    tag: Tag = None,
    older_than: Age = None,
    yes: _Yes = False,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Let failed jobs wait again, each in its own queue and with all its retries.

    Those named are put back at once; those that fit all filters given are only shown without --yes.
    The exit status is 1 if any was kept as it is.
    """
    chosen = Selection(queue, None, group, klass, tag, older_than)
    # without any filter nothing is meant, rather than all that has failed
    selection = chosen if chosen.is_empty else chosen._replace(state=State.FAILED)
    with _store(jids, yes=yes)(url, namespace) as client:
        deed = Deed("retry", "retried", _retry)
        carry_out(client, deed, jids, selection, yes=yes, as_json=as_json)


def _retry(job: Job) -> None:
    if job.state != State.FAILED.value:
        raise RequestError(f"job {job.jid!r} has not failed: it is {job.state}")
    job.requeue()


def unfail(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="Where the jobs are to wait.")],
    group: Annotated[str, typer.Argument(metavar="GROUP", help="With which they have failed.")],
    *,
    count: Annotated[
        int,
        typer.Option(
            "--count",
            "-n",
            metavar="NUMBER",
            min=1,
            max=MOST,
            help="How many jobs at most, the oldest first.",
        ),
    ] = 25,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Let the oldest failed jobs of a group wait in a queue, whichever they failed in.

    If more have failed with the group than --count, stderr says how many are left.
    The exit status is 1 if there is no such group.
    """
    with changing(url, namespace) as client:
        target = client.queues[queue]
        failed = client.jobs.failed().get(group, 0)
        moved = target.unfail(group, count)
        if not moved:
            require_group(client, group)
    left = max(0, failed - moved)
    if as_json:
        say_json({"jobs": moved, "left": left})
    else:
        say(f"unfailed {counted(moved, 'job')}")
    if left:
        note(f"{left:,} of {failed:,} are left; --count NUMBER takes more")


def move(
    to: Annotated[str, typer.Argument(metavar="QUEUE", help="Where the jobs go.")],
    jids: _Jids = None,
    *,
    queue: InQueue = None,
    state: InState = None,
    group: Group = None,
    klass: Klass = None,
    tag: Tag = None,
    older_than: Age = None,
    yes: _Yes = False,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Move jobs to another queue: those named, at once; or those that fit all filters, only shown without --yes.

    All that waits in a queue (--queue alone, or with the state waiting, scheduled or depends) moves in its order, delays and,
    without a state, recurring jobs included. Else jobs are put anew one by one, without delay, whatever their state;
    a worker that has one in hand loses it. The exit status is 1 if any was kept as it is.
    """
    selection = Selection(queue, state, group, klass, tag, older_than)
    with _store(jids, yes=yes)(url, namespace) as client:
        in_order = state in _IN_ORDER and selection == Selection(queue, state)
        if queue is not None and in_order and not jids:
            _move_all(client, queue, to, state, yes=yes, as_json=as_json)
            return
        target = client.queues[to].name
        deed = Deed("move", "moved", lambda job: job.requeue(target))
        carry_out(client, deed, jids, selection, yes=yes, as_json=as_json)


def _move_all(
    client: Client, queue: str, to: str, state: State | None, *, yes: bool, as_json: bool
) -> None:
    states = () if state is None else (state.value,)
    swept = client.queues[queue].move_all(to, *states, dry_run=not yes)
    if not swept.jobs:
        require_queue(client, queue)
    kept = dict.fromkeys(swept.kept, "it is damaged")
    report(Deed("move", "moved"), swept.jobs, kept, done=yes, as_json=as_json)
