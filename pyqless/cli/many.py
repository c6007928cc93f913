# SPDX-License-Identifier: MIT
"""Doing something to many jobs: a preview with their number first, then one by one, telling which were kept and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

import typer

from pyqless.cli.job_texts import show_jobs
from pyqless.cli.printing import note, say, say_json, stepwise
from pyqless.cli.selecting import Selection
from pyqless.cli.status import Status
from pyqless.client import Client, Job
from pyqless.core.wording import counted
from pyqless.errors import HasDependents, JobNotFound, RequestError, StoreCorrupted

__all__ = ["Deed", "carry_out", "report"]

#: jobs that a preview shows
_SHOWN: Final = 10


class Deed(NamedTuple):
    """What is to be done to each job."""

    #: as an order: ``cancel``
    name: str
    #: as an answer: ``cancelled``
    done: str
    #: does it; it may raise an error of pyqless, and then the job is kept
    act: Callable[[Job], None] = lambda _: None


def carry_out(
    client: Client,
    deed: Deed,
    jids: Sequence[str] | None,
    selection: Selection,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """
    Do something to the jobs that are named, or with ``yes`` to those that are selected.

    Raises:
        JobNotFound: one that is named is not there; then nothing is done.
        RequestError: the queue or the group that is named is not known.
        typer.BadParameter: neither jobs nor filters are given, or both.
        typer.Exit: jobs were kept as they are.
    """
    if bool(jids) is not selection.is_empty:
        text = "either name jobs or give filters"
        raise typer.BadParameter(text, param_hint="JID...")
    found = [client.jobs[jid].jid for jid in dict.fromkeys(jids or ())]
    if not jids:
        found = [job.jid for job in selection.jobs(client)]
        if not found:
            selection.require_names(client)
    if not jids and not yes:
        _preview(client, deed, found, as_json=as_json)
        return
    kept = _do(client, deed, found, selection)
    changed = [jid for jid in found if jid not in kept]
    report(deed, len(changed), kept, changed, done=True, as_json=as_json)


def _do(client: Client, deed: Deed, jids: Sequence[str], selection: Selection) -> dict[str, str]:
    """Do it, and tell why jobs were kept."""
    left, kept = list(jids), dict[str, str]()
    while left:
        reasons = {jid: _reason(client, deed, jid, selection) for jid in stepwise(left, deed.name)}
        waited_for = [jid for jid in left if isinstance(reasons[jid], HasDependents)]
        kept = {
            **{jid: text for jid, text in kept.items() if jid not in reasons},
            **{jid: str(error) for jid, error in reasons.items() if error is not None},
        }
        if len(waited_for) == len(left):
            break
        # whom they waited for may be free now; the other way round, as a chain is undone from its end
        left = waited_for[::-1]
    return kept


def _reason(client: Client, deed: Deed, jid: str, selection: Selection) -> Exception | None:
    """What keeps a job from it; None once it is done."""
    try:
        job = client.jobs[jid]
        if not selection.is_empty and not selection.fits(job, client.storage.clock()):
            return RequestError("it has changed meanwhile")
        deed.act(job)
    except JobNotFound:
        return RequestError("it is there no more")
    except (RequestError, StoreCorrupted) as error:
        return error
    return None


def _preview(client: Client, deed: Deed, jids: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        report(deed, len(jids), {}, jids, done=False, as_json=True)
        return
    jobs = client.jobs.multiget(*islice(jids, _SHOWN)) if jids else []
    show_jobs(jobs, client.storage.clock(), as_json=False)
    if len(jids) > _SHOWN:
        say(f"... and {len(jids) - _SHOWN:,} more")
    report(deed, len(jids), {}, done=False, as_json=False)


def report(
    deed: Deed,
    count: int,
    kept: Mapping[str, str],
    jids: Sequence[str] | None = None,
    *,
    done: bool,
    as_json: bool,
) -> None:
    """
    Tell what was done, or would be.

    Args:
        count: of how many jobs.
        kept: why others were kept as they are.
        jids: of which jobs, where that is known.

    Raises:
        typer.Exit: jobs were kept as they are.
    """
    if as_json:
        named = {} if jids is None else {"jids": jids}
        say_json({"dry_run": not done, "jobs": count, **named, "kept": kept})
    elif done:
        say(f"{deed.done} {counted(count, 'job')}")
    else:
        say(f"would {deed.name} {counted(count, 'job')}; nothing is done without --yes")
    for jid, why in kept.items():
        note(f"kept {jid}: {why}")
    if kept:
        raise typer.Exit(Status.NOT_DONE)
