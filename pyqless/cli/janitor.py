# SPDX-License-Identifier: MIT
"""``pyqless janitor``."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import asdict
from threading import Event
from typing import Annotated, Any

import typer

from pyqless.cli.options import AsJson, Namespace
from pyqless.cli.parsing import span_option
from pyqless.cli.printing import note, say, say_line
from pyqless.cli.status import Status
from pyqless.cli.store import Url, changing, looking
from pyqless.client import Client
from pyqless.errors import StoreUnavailable
from pyqless.worker.janitor import Janitor, Report
from pyqless.worker.waiting import is_refusal

__all__ = ["janitor"]


def janitor(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only look, and tell what would be removed.")
    ] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Look at all keys, too, for what belongs to queues, workers and tags that are on no list any more;"
            " this reads the whole store.",
        ),
    ] = False,
    every: Annotated[
        float | None,
        span_option("--every", about="Go on, and so long from one pass to the next", least=1),
    ] = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Remove what nothing else does: old statistics and histograms, workers that are gone, and jids without a job.

    Such jids stand under tags, among the tracked ones, and in what jobs wait for. Two janitors at once do no harm, nor
    does one that is killed. With --every, passes that remove anything are told on stderr, and Ctrl-C ends it.

    The exit status of one pass is 1 if something could not be cleaned. Damage where a pass does not look is found by
    "pyqless doctor".
    """
    if as_json and every is not None:
        raise typer.BadParameter("does not go with --every", param_hint="--json")
    with (looking if dry_run else changing)(url, namespace) as client:
        worker = Janitor(client, dry=dry_run, deep=deep)
        if every is not None:
            _repeat(client, worker, every)
            return
        report = worker.run()
    if as_json:
        say_line(asdict(report))
    else:
        _tell(report, "would be removed" if dry_run else "removed")
    raise typer.Exit(Status.NOT_DONE if report.faults else Status.DONE)


def _require_access(client: Client) -> None:
    """
    Go on unless the store does not let us in, as it would not later on; one that is away is waited for.

    Raises:
        StorageError: it does not, or there is no directory for its file.
    """
    try:
        client.queues.counts()
    except StoreUnavailable as error:
        if is_refusal(error):
            raise


def _repeat(client: Client, worker: Janitor, interval: float) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    with suppress(KeyboardInterrupt):
        _require_access(client)
        worker.loop(interval, lambda seconds: not Event().wait(seconds))


def _tell(report: Report, done: str) -> None:
    if not report:
        say("nothing to remove")
    found: dict[str, Any] = asdict(report)
    faults = found.pop("faults")
    for name, what in found.items():
        if what:
            say(f"{name} {done}: {', '.join(map(str, what))}")
    for fault in dict.fromkeys(faults):  # a damaged file is met at every step
        note(fault)
