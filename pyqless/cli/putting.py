# SPDX-License-Identifier: MIT
"""``pyqless put``, ``pyqless pop`` and ``pyqless peek``: jobs into a queue and out of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from pyqless.cli.job_texts import show_jobs
from pyqless.cli.known import require_queue
from pyqless.cli.options import AsJson, Namespace, OnConflict, Unique
from pyqless.cli.parsing import json_data
from pyqless.cli.printing import say, say_line, stepwise
from pyqless.cli.status import Status
from pyqless.cli.store import Url, changing, looking, warn_if_gone_at_exit

__all__ = ["peek", "pop", "put"]

_Queue = Annotated[str, typer.Argument(metavar="QUEUE", help="The queue's name.")]
_Count = Annotated[int, typer.Option("--count", "-n", min=1, help="How many jobs at most.")]


def put(
    queue: _Queue,
    klass: Annotated[
        str, typer.Argument(metavar="CLASS", help="What is to run, as the workers know it.")
    ],
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="The job's data as JSON; - reads it from stdin.")
    ] = "{}",
    *,
    lines: Annotated[
        bool,
        typer.Option("--lines", help="Put one job for each line of stdin, which is its data."),
    ] = False,
    jid: Annotated[
        str | None, typer.Option("--jid", help="A jid of your own; a random one unless given.")
    ] = None,
    unique: Unique = False,
    on_conflict: OnConflict = None,
    priority: Annotated[
        float | None,
        typer.Option("--priority", "-p", help="The greater goes first; 0 unless given."),
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", "-t", help="A tag; may be repeated.")
    ] = None,
    delay: Annotated[
        float | None, typer.Option("--delay", help="Seconds to wait before it may run.")
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            "--retries",
            help="How often it may be tried again; 5 unless given. An exception in its code fails it at once.",
        ),
    ] = None,
    depends: Annotated[
        list[str] | None,
        typer.Option(
            "--depends",
            help="The jid of a job to wait for; may be repeated. One that is not there counts as done.",
        ),
    ] = None,
    max_waiting: Annotated[
        int | None, typer.Option("--max-waiting", help="Refuse if so many jobs wait already.")
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

    With --json, each job is a line with its jid and queue.
    """
    if lines and jid is not None:
        raise typer.BadParameter("does not go with --lines", param_hint="--jid")
    with changing(url, namespace) as client:
        for item in stepwise(list(_data(data, lines=lines)), "putting"):
            done = client.queues[queue].put(
                klass,
                item,
                jid=jid,
                unique=unique or None,
                on_conflict=None if on_conflict is None else on_conflict.value,
                priority=priority,
                tags=tags,
                delay=delay,
                retries=retries,
                depends=depends,
                max_waiting=max_waiting,
            )
            if as_json:
                say_line({"jid": done, "queue": queue})
            else:
                say(done)
        warn_if_gone_at_exit(client)


def _data(text: str, *, lines: bool) -> Iterator[Any]:
    if not lines:
        yield json_data(sys.stdin.read() if text == "-" else text)
        return
    for count, line in enumerate(sys.stdin, 1):
        if line.strip():
            yield json_data(line, f"line {count}")


def pop(
    queue: _Queue,
    *,
    count: _Count = 1,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0, help="Seconds to wait for a job at most.")
    ] = None,
    worker: Annotated[
        str | None,
        typer.Option("--worker", help="In whose name the lock is taken; HOST-PID unless given."),
    ] = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Take jobs in hand, as a worker does, and print them: they are locked until the lock expires.

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
