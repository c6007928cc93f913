# SPDX-License-Identifier: MIT
"""``pyqless complete``, ``fail`` and ``heartbeat``: what becomes of a job that "pyqless pop" has taken in hand."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from pyqless.cli.options import AsJson, Namespace
from pyqless.cli.printing import day_time, say, say_json
from pyqless.cli.store import Url, changing

__all__ = ["complete", "fail", "heartbeat"]

_Jid: TypeAlias = Annotated[str, typer.Argument(metavar="JID", help="The job's id.")]
_Holder: TypeAlias = Annotated[
    str,
    typer.Option("--worker", metavar="NAME", help="The name that the job was popped with."),
]


def complete(
    jid: _Jid,
    *,
    worker: _Holder,
    next_queue: Annotated[
        str | None,
        typer.Option("--next", metavar="QUEUE", help="Where the job goes on, rather than end."),
    ] = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Complete a job that was popped with "pyqless pop --worker NAME", and print its state.

    The exit status is 1 if the worker does not have it, or no longer.
    """
    with changing(url, namespace, worker) as client:
        state = client.jobs[jid].complete(next_queue)
    _tell(jid, state, as_json=as_json)


def fail(
    jid: _Jid,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The kind of failure.")],
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What went wrong.")],
    *,
    worker: _Holder,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Fail a job that was popped with "pyqless pop --worker NAME": it rests until somebody retries or cancels it.

    The exit status is 1 if the worker does not have it, or no longer.
    """
    with changing(url, namespace, worker) as client:
        client.jobs[jid].fail(group, message)
    _tell(jid, "failed", as_json=as_json)


def _tell(jid: str, state: str, *, as_json: bool) -> None:
    if as_json:
        say_json({"jid": jid, "state": state})
    else:
        say(state)


def heartbeat(
    jid: _Jid,
    *,
    worker: _Holder,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Renew the lock of a job that was popped with "pyqless pop --worker NAME", and print until when it holds.

    The exit status is 1 if the worker does not have it, or no longer.
    """
    with changing(url, namespace, worker) as client:
        expires = client.jobs[jid].heartbeat()
    if as_json:
        say_json({"jid": jid, "expires": expires})
    else:
        say(day_time(expires))
