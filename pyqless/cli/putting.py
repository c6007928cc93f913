# SPDX-License-Identifier: MIT
"""``pyqless put``, ``pyqless pop`` and ``pyqless peek``: jobs into a queue and out of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from pyqless.cli.bulk import jobs_in, put_all, tell
from pyqless.cli.job_texts import show_jobs
from pyqless.cli.known import require_queue
from pyqless.cli.options import MOST, AsJson, Namespace, OnConflict, Unique
from pyqless.cli.parsing import json_data, span_option
from pyqless.cli.status import Status
from pyqless.cli.store import Url, changing, looking, warn_if_gone_at_exit

__all__ = ["peek", "pop", "put"]

_Queue = Annotated[str, typer.Argument(metavar="QUEUE", help="The queue's name.")]
_Count = Annotated[
    int,
    typer.Option("--count", "-n", metavar="NUMBER", min=1, max=MOST, help="How many jobs at most."),
]


def put(
    queue: _Queue,
    klass: Annotated[
        str | None,
        typer.Argument(
            metavar="CLASS",
            help="What is to run, as the workers know it; not needed if each line of --from-file says it.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="The job's data as JSON, {} unless given; - reads it from stdin.",
            show_default=False,
        ),
    ] = None,
    *,
    lines: Annotated[
        bool,
        typer.Option("--lines", help="Put one job for each line of stdin, which is its data."),
    ] = False,
    from_file: Annotated[
        Path | None,
        typer.Option(
            "--from-file",
            metavar="FILE",
            help="Put one job for each line of a file, or of stdin if it is -: an object that may have klass, data, jid,"
            " priority, tags, delay, retries, depends, unique, on_conflict and max_waiting.",
        ),
    ] = None,
    jid: Annotated[
        str | None,
        typer.Option("--jid", metavar="JID", help="A jid of your own; a random one unless given."),
    ] = None,
    unique: Unique = False,
    on_conflict: OnConflict = None,
    priority: Annotated[
        float | None,
        typer.Option(
            "--priority", "-p", metavar="NUMBER", help="The greater goes first; 0 unless given."
        ),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", "-t", metavar="TAG", help="A tag; may be repeated."),
    ] = None,
    delay: Annotated[
        float | None,
        span_option("--delay", about="How long it is to wait before it may run"),
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            "--retries",
            metavar="NUMBER",
            help="How often it may be tried again; 5 unless given. An exception in its code fails it at once.",
        ),
    ] = None,
    depends: Annotated[
        list[str] | None,
        typer.Option(
            "--depends",
            metavar="JID",
            help="The jid of a job to wait for; may be repeated. One that is not there counts as done.",
        ),
    ] = None,
    max_waiting: Annotated[
        int | None,
        typer.Option(
            "--max-waiting", metavar="NUMBER", help="Refuse if so many jobs wait already."
        ),
    ] = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Put a job into a queue, and print its jid.

    A retry is used up when the job's lock expires, its process dies, or somebody gives it back, as a worker does for the
    exceptions that its code names by retry_on. Any other exception fails the job at once: "pyqless unfail" has it tried
    again.

    With --from-file and --lines, many jobs are put, a hundred in a transaction; what a line of a file does not say, the
    command's arguments and options say for it. If a line is no good, nothing is put. What the store refuses, such as a
    jid that is taken, is told by its line, and the exit status is 1: all others are put.

    With --json, each job is a line with its jid and queue, or with the number of its line and why it was not put.
    """
    given: dict[str, Any] = {
        "jid": jid,
        "unique": unique or None,
        "on_conflict": None if on_conflict is None else on_conflict.value,
        "priority": priority,
        "tags": tags,
        "delay": delay,
        "retries": retries,
        "depends": depends,
        "max_waiting": max_waiting,
    }
    options = {name: value for name, value in given.items() if value is not None}
    _require_sense(klass, data, jid, lines=lines, from_file=from_file)
    status = Status.DONE
    with changing(url, namespace) as client:
        target = client.queues[queue]
        if lines or from_file is not None:
            with _opened(from_file) as file:
                jobs = jobs_in(file, klass, options, only_data=lines)
                status = put_all(target, jobs, as_json=as_json)
        else:
            tell(target, target.put(str(klass), _value(data), **options), as_json=as_json)
        warn_if_gone_at_exit(client)
    raise typer.Exit(status)


def _require_sense(
    klass: str | None, data: str | None, jid: str | None, *, lines: bool, from_file: Path | None
) -> None:
    """Refuse what does not go together."""
    if klass is None and from_file is None:
        raise typer.BadParameter("must be given, unless --from-file is", param_hint="CLASS")
    if lines and from_file is not None:
        raise typer.BadParameter("does not go with --lines", param_hint="--from-file")
    if lines or from_file is not None:
        for name, value in (("--jid", jid), ("DATA", data)):
            if value is not None:
                with_ = "--lines" if lines else "--from-file"
                raise typer.BadParameter(f"does not go with {with_}", param_hint=name)


def _value(data: str | None) -> Any:
    return {} if data is None else json_data(sys.stdin.buffer.read() if data == "-" else data)


@contextmanager
def _opened(path: Path | None) -> Iterator[BinaryIO]:
    """The standard input unless there is a path, or where it is ``-``."""
    if path is None or str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        text = f"{str(path)!r} cannot be read: {error.strerror}"
        raise typer.BadParameter(text, param_hint="--from-file") from error
    with file:
        yield file


def pop(
    queue: _Queue,
    *,
    count: _Count = 1,
    timeout: Annotated[
        float | None,
        span_option("--timeout", about="How long to wait for a job at most"),
    ] = None,
    worker: Annotated[
        str | None,
        typer.Option(
            "--worker",
            metavar="NAME",
            help="In whose name the lock is taken; HOST-PID unless given.",
        ),
    ] = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Take jobs in hand, as a worker does, and print them: they are locked until the lock expires.

    Whoever has one in hand ends it before that by "pyqless complete" or "fail" with the same --worker, or has its lock renewed by
    "heartbeat". Else it is handed out again, which uses up a retry; "pyqless move" puts it back at once.

    The exit status is 1 if there was none.
    """
    with changing(url, namespace, worker) as client:
        jobs = client.queues[queue].pop(count, timeout=timeout)
        show_jobs(jobs, client.storage.clock(), as_json=as_json)
        if not jobs:
            require_queue(client, queue)
    raise typer.Exit(Status.DONE if jobs else Status.NOT_DONE)


def peek(
    queue: _Queue,
    *,
    count: _Count = 1,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Show the jobs that would be popped next, and leave them where they are.

    The exit status is 1 if there is none.
    """
    with looking(url, namespace) as client:
        jobs = client.queues[queue].peek(count)
        show_jobs(jobs, client.storage.clock(), as_json=as_json)
        if not jobs:
            require_queue(client, queue)
    raise typer.Exit(Status.DONE if jobs else Status.NOT_DONE)
