# SPDX-License-Identifier: MIT
"""``pyqless events``: what happens, as it happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any

import typer

from pyqless.cli.absence import Absence
from pyqless.cli.options import MOST, AsJson, Namespace
from pyqless.cli.printing import note, say, say_line
from pyqless.cli.store import Url, looking
from pyqless.client import Event, Events
from pyqless.client.events import Source
from pyqless.errors import StoreUnavailable
from pyqless.worker.reporting import summary_of

__all__ = ["events"]


class From(StrEnum):
    """Where events come from."""

    TRACKED = "tracked"
    LOG = "log"
    WORKER = "worker"


def events(
    sources: Annotated[
        list[From] | None,
        typer.Argument(
            metavar="SOURCE...",
            help="tracked: what happens to tracked jobs; log: most of what happens to any job, and changes of"
            " settings; worker: what --worker is told. tracked and log unless given.",
            show_default=False,
        ),
    ] = None,
    *,
    worker: Annotated[
        str | None,
        typer.Option("--worker", metavar="NAME", help="With the source worker: the worker's name."),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", metavar="NUMBER", min=1, max=MOST, help="End after so many events."
        ),
    ] = None,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Follow what happens from now on, a line an event; Ctrl-C ends it.

    A store that goes away meanwhile is tried again until it is back, as stderr tells. An event named "gap" then tells that
    some events may have been lost.
    """
    chosen = sources or [From.TRACKED, From.LOG]
    if (worker is not None) != (From.WORKER in chosen):
        text = "goes with the source worker, and the other way round"
        raise typer.BadParameter(text, param_hint="--worker")
    names: list[Source] = [source.value for source in chosen]
    with (
        looking(url, namespace) as client,
        client.events(*names, worker=worker) as found,
        suppress(KeyboardInterrupt),
    ):
        note("listening")
        for event in islice(_outlasting(found), count):
            _tell(event, client.storage.clock(), as_json=as_json)


def _outlasting(found: Events) -> Iterator[Event]:
    """Events as they come, also after the store was away."""
    absence = Absence()
    while True:
        try:
            event = found.get()
        except StoreUnavailable as error:
            absence.wait(error)
            continue
        absence.end()
        if event is None:
            return
        yield event


def _tell(event: Event, now: float, *, as_json: bool) -> None:
    if as_json:
        say_line({**_document(event), "at": now})
        return
    told = " ".join(f"{name}={_short(name, value)}" for name, value in event.details.items())
    clock = f"{datetime.fromtimestamp(now).astimezone():%H:%M:%S}"
    say(f"{clock}  {event.source:10}  {event.name:12}  {event.jid or '-'}  {told}".rstrip())


def _short(name: str, value: Any) -> Any:
    """A detail; of a message what "pyqless failed" shows, as it may be a whole traceback."""
    return summary_of(value) if name == "message" and isinstance(value, str) else value


def _document(event: Event) -> dict[str, Any]:
    return {
        "event": event.name,
        "source": event.source,
        "jid": event.jid,
        "details": dict(event.details),
    }
