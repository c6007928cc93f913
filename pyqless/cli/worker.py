# SPDX-License-Identifier: MIT
"""``pyqless worker``."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import secrets
import socket
import sys
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer

from pyqless.cli.options import MOST, Namespace, either
from pyqless.cli.parsing import size, span_option
from pyqless.cli.store import Url, chosen
from pyqless.client import AsyncClient, Client
from pyqless.errors import InvalidArgument
from pyqless.worker import (
    AsyncWorker,
    ExitCode,
    Finder,
    ForkingWorker,
    Limits,
    Runner,
    SerialWorker,
    Settings,
    ThreadWorker,
    taking,
)
from pyqless.worker.log import JsonFormatter
from pyqless.worker.middleware import time_limit
from pyqless.worker.reservers import RESERVERS

__all__ = ["worker"]

_FORMAT: Final = "%(asctime)s %(process)d %(levelname)s %(message)s"


class Kind(StrEnum):
    """How jobs are run."""

    FORKING = "forking"
    SERIAL = "serial"
    THREADS = "threads"
    ASYNCIO = "asyncio"


class Order(StrEnum):
    """In which order queues are looked at."""

    ORDERED = "Ordered"
    ROUND_ROBIN = "RoundRobin"
    SHUFFLED = "ShuffledRoundRobin"


class LogFormat(StrEnum):
    """What a line of the log looks like."""

    TEXT = "text"
    JSON = "json"


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
            help="How many jobs run at once, but for serial: 1,000 at most, with asyncio 10,000; one for each core with"
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
    sys.path[:0] = _places(path or [])
    module = None if runner is None else runner.partition(":")[0]
    before = partial(set_up, _level(verbose), log_format, sys.path, module)
    set_up(_level(verbose), log_format, sys.path, force=True)
    settings = Settings(
        queues=[part.strip() for part in names],
        runner=_runner(runner, modules or [], limit, compat=compat, keep_results=keep_results),
        reserver=RESERVERS[order.value](),
        interval=interval,
        grace=grace,
        limits=Limits(jobs=max_jobs, memory=max_memory),
        sandbox=sandbox,
        resume=resume,
        listen=listen,
        renew=None if runner is None else partial(_import_anew, runner),
    )
    url = chosen(url)
    single = bool(os.environ.get("RUN_AS_SINGLE_PROCESS"))
    kind = kind or (Kind.SERIAL if single else Kind.FORKING)
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
        _end(_run(forking))
    if kind is Kind.ASYNCIO:
        _end(asyncio.run(_run_async(url, namespace, own_name, settings, count or 100)))
    with connect(url, namespace, own_name) as client:
        threads = kind is Kind.THREADS
        blocking = (
            ThreadWorker(client, settings, count or 10)
            if threads
            else SerialWorker(client, settings)
        )
        _end(_run(blocking))


def _fresh_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


def connect(url: str, namespace: str, name: str) -> Client:
    """Open a client that works under a name; children do so, too."""
    return Client(url, namespace=namespace, worker_name=name)


def set_up(
    level: int,
    log_format: LogFormat,
    path: list[str],
    module: str | None = None,
    *,
    force: bool = False,
) -> None:
    """
    Prepare a process: what it logs, and where it looks for modules.

    Args:
        module: of the runner, imported since it may set up logging by itself; which has the last word.
        force: do away with how logging was set up before.
    """
    sys.path[:] = path
    handler = logging.StreamHandler()
    if log_format is LogFormat.JSON:
        handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, format=_FORMAT, handlers=[handler], force=force)
    if module is not None:
        importlib.import_module(module)


def _places(named: list[Path]) -> list[str]:
    """Where modules are looked for before all else: where it is said, and in the current directory."""
    for entry in named:
        if not entry.exists():
            raise typer.BadParameter(f"{str(entry)!r} does not exist", param_hint="--path")
    return [str(entry.resolve()) for entry in (*named, Path())]


def _level(verbose: int) -> int:
    if verbose > 1 or os.environ.get("VVERBOSE"):
        return logging.DEBUG
    return logging.INFO if verbose or os.environ.get("VERBOSE") else logging.WARNING


def _runner(
    named: str | None, modules: list[str], limit: float | None, *, compat: bool, keep_results: bool
) -> Runner:
    if named is not None:
        return _import(named)
    if not modules:
        text = "missing; say what jobs may name, or give --runner"
        raise typer.BadParameter(text, param_hint="--module")
    middleware = () if limit is None else (time_limit(limit),)
    finder = Finder(modules)
    finder.preload()
    return Runner(finder=finder, middleware=middleware, compat=compat, keeps_results=keep_results)


def _import(named: str) -> Runner:
    module, _, attribute = named.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module may raise anything while it is imported
        reason = f"{type(error).__name__}: {error}"
        text = f"runner: {named!r} cannot be imported: {reason}"
        raise InvalidArgument(text, argument="runner", value=named) from error
    if not isinstance(found, Runner):
        text = f"{named} is no pyqless.worker.Runner"
        raise typer.BadParameter(text, param_hint="--runner")
    return found


def _import_anew(named: str) -> Runner:
    _import(named).finder.forget()
    sys.modules.pop(named.partition(":")[0], None)
    return _import(named)


def _run(blocking: Any) -> ExitCode:
    with taking(blocking):
        run: Callable[[], ExitCode] = blocking.run
        return run()


async def _run_async(
    url: str, namespace: str, name: str, settings: Settings, count: int
) -> ExitCode:
    async with AsyncClient(url, namespace=namespace, worker_name=name) as client:
        asyncio_worker = AsyncWorker(client, settings, count)
        with taking(asyncio_worker):
            return await asyncio_worker.run()


def _end(code: ExitCode) -> NoReturn:
    if code is ExitCode.CUT_OFF:
        # threads that are still at work must not keep the process from ending
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise typer.Exit(code)
