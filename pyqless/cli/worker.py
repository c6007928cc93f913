# SPDX-License-Identifier: MIT
"""``pyqless worker``."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from pyqless.cli.options import MOST, Namespace, either
from pyqless.cli.parsing import size, span_option
from pyqless.cli.processes import LogFormat, end, level_of, places, run, set_up
from pyqless.cli.runners import import_anew, runner_of
from pyqless.cli.store import Url, chosen
from pyqless.client import AsyncClient, Client
from pyqless.worker import (
    AsyncWorker,
    ExitCode,
    ForkingWorker,
    Limits,
    SerialWorker,
    Settings,
    ThreadWorker,
    taking,
)
from pyqless.worker.reservers import RESERVERS

__all__ = ["worker"]


class Kind(StrEnum):
    """How jobs are run."""

    FORKING = "forking"
    SERIAL = "serial"
    THREADS = "threads"
    ASYNCIO = "asyncio"


#: options that not every kind heeds, with those that do
_KINDS_OF: Final[Mapping[str, tuple[Kind, ...]]] = {
    "--count": (Kind.FORKING, Kind.THREADS, Kind.ASYNCIO),
    "--fork-per-job": (Kind.FORKING,),
    "--spawn": (Kind.FORKING,),
}


class Order(StrEnum):
    """In which order queues are looked at."""

    ORDERED = "Ordered"
    ROUND_ROBIN = "RoundRobin"
    SHUFFLED = "ShuffledRoundRobin"


def worker(
    queues: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUEUE...",
            help="Names; * stands for any text, and !NAME takes a queue away. Or QUEUES=a,b,c.",
            show_default=False,
        ),
    ] = None,
    *,
    url: Url = None,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--module",
            "-m",
            metavar="MODULE",
            help="What jobs may name: a module, or a package and all in it as in jobs.*; may be repeated.",
        ),
    ] = None,
    runner: Annotated[
        str | None,
        typer.Option(
            "--runner",
            metavar="MODULE:NAME",
            help="A pyqless.worker.Runner of your own, with functions and middleware, instead of --module.",
        ),
    ] = None,
    path: Annotated[
        list[Path] | None,
        typer.Option(
            "--path",
            metavar="DIRECTORY",
            help="Where modules are looked for, too; may be repeated.",
        ),
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help=f"How jobs are run: {either(Kind)}; forking unless given, or with the variable"
            " RUN_AS_SINGLE_PROCESS serial.",
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-c",
            metavar="NUMBER",
            min=1,
            help="How many jobs run at once, but with serial: 1,000 at most, with asyncio 10,000; one for each core with"
            " forking, 10 with threads, and 100 with asyncio unless given.",
        ),
    ] = None,
    order: Annotated[
        Order,
        typer.Option(
            "--reserver",
            metavar="ORDER",
            envvar="JOB_RESERVER",
            help=f"The order of the queues: {either(Order)}.",
        ),
    ] = Order.ORDERED,
    interval: Annotated[
        float,
        span_option(
            "--interval", about="Between looks at empty queues", least=0.05, envvar="INTERVAL"
        ),
    ] = 5.0,
    grace: Annotated[
        float,
        span_option("--grace", about="What jobs are given at the end"),
    ] = 10.0,
    limit: Annotated[
        float | None,
        span_option("--time-limit", about="How long a job may run"),
    ] = None,
    max_jobs: Annotated[
        int | None,
        typer.Option(
            "--max-jobs",
            metavar="NUMBER",
            min=1,
            max=MOST,
            help="Jobs after which a process is replaced.",
        ),
    ] = None,
    max_memory: Annotated[
        int | None,
        typer.Option(
            "--max-memory",
            metavar="SIZE",
            parser=size,
            help="Memory beyond which a process is replaced: 500 (MiB), 500M, 2G.",
        ),
    ] = None,
    fork_per_job: Annotated[
        bool, typer.Option("--fork-per-job", help="A fresh process for each job.")
    ] = False,
    spawn: Annotated[
        bool, typer.Option("--spawn", help="Start processes anew, where a fork is unsafe.")
    ] = False,
    sandbox: Annotated[
        Path | None,
        typer.Option("--sandbox", metavar="DIRECTORY", help="What directories for jobs lie in."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Of the worker; HOST-PID-RANDOM unless given."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="With --name: take back what the last of that name left."),
    ] = False,
    compat: Annotated[
        bool, typer.Option("--compat", help="Jobs complete themselves, as with qless-py.")
    ] = False,
    keep_results: Annotated[
        bool, typer.Option("--keep-results", help="Enter what jobs return into their histories.")
    ] = False,
    listen: Annotated[
        bool,
        typer.Option(
            "--listen/--no-listen",
            help="Hear of work by message where the store has any, as is done unless told otherwise.",
        ),
    ] = True,
    verbose: Annotated[
        int, typer.Option("--verbose", "-v", count=True, help="Say more; twice: all.")
    ] = 0,
    log_format: Annotated[
        LogFormat,
        typer.Option(
            "--log-format",
            metavar="FORMAT",
            help=f"Of each line of the log: {either(LogFormat)}, which has fields to filter by.",
        ),
    ] = LogFormat.TEXT,
    namespace: Namespace = "ql",
) -> None:
    """
    Run jobs.

    TERM and INT stop after a grace time, and at once when they come again; QUIT finishes the jobs in hand; USR1 drops
    them; USR2 pauses, and shows all stacks; CONT goes on; HUP loads the jobs' code anew.

    The exit status is 0 once all jobs in hand have ended, 4 if some were cut off, 75 if --max-jobs or --max-memory has been
    reached in a process that nobody replaces, 1 for faults and 2 for wrong usage.
    """
    names = queues or [part for part in os.environ.get("QUEUES", "").split(",") if part.strip()]
    if not names:
        raise typer.BadParameter("missing; name one or set QUEUES", param_hint="QUEUE...")
    if resume and name is None:
        raise typer.BadParameter("goes with --name", param_hint="--resume")
    single = bool(os.environ.get("RUN_AS_SINGLE_PROCESS"))
    kind = kind or (Kind.SERIAL if single else Kind.FORKING)
    given = {"--count": count is not None, "--fork-per-job": fork_per_job, "--spawn": spawn}
    _require_sense(kind, given)
    if fork_per_job and max_jobs is not None:
        raise typer.BadParameter("does not go with --fork-per-job", param_hint="--max-jobs")
    sys.path[:0] = places(path or [])
    module = None if runner is None else runner.partition(":")[0]
    before = partial(set_up, level_of(verbose), log_format, sys.path, module)
    set_up(level_of(verbose), log_format, sys.path, force=True)
    settings = Settings(
        queues=[part.strip() for part in names],
        runner=runner_of(runner, modules or [], limit, compat=compat, keep_results=keep_results),
        reserver=RESERVERS[order.value](),
        interval=interval,
        grace=grace,
        limits=Limits(jobs=max_jobs, memory=max_memory),
        sandbox=sandbox,
        resume=resume,
        listen=listen,
        renew=None if runner is None else partial(import_anew, runner),
    )
    url = chosen(url)
    own_name = _fresh_name() if name is None else name
    if kind is Kind.FORKING:
        forking = ForkingWorker(
            partial(connect, url, namespace),
            settings,
            name=own_name,
            processes=count,
            start_method="spawn" if spawn else None,
            fork_per_job=fork_per_job,
            before=before,
        )
        end(run(forking))
    if kind is Kind.ASYNCIO:
        end(asyncio.run(_run_async(url, namespace, own_name, settings, count or 100)))
    with connect(url, namespace, own_name) as client:
        threads = kind is Kind.THREADS
        blocking = (
            ThreadWorker(client, settings, count or 10)
            if threads
            else SerialWorker(client, settings)
        )
        end(run(blocking))


def _require_sense(kind: Kind, given: Mapping[str, bool]) -> None:
    """Refuse options that mean nothing to a kind of workers."""
    for option, is_given in given.items():
        if is_given and kind not in _KINDS_OF[option]:
            raise typer.BadParameter(f"does not go with --kind {kind}", param_hint=option)


def _fresh_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


def connect(url: str, namespace: str, name: str) -> Client:
    """Open a client that works under a name; children do so, too."""
    return Client(url, namespace=namespace, worker_name=name)


async def _run_async(
    url: str, namespace: str, name: str, settings: Settings, count: int
) -> ExitCode:
    async with AsyncClient(url, namespace=namespace, worker_name=name) as client:
        asyncio_worker = AsyncWorker(client, settings, count)
        with taking(asyncio_worker):
            return await asyncio_worker.run()
