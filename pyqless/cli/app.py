# SPDX-License-Identifier: MIT
"""The frame of the command line. A further group of commands is a module beside this one, added below."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any, Final, NoReturn

import typer
from redis import RedisError

from pyqless import __version__
from pyqless.cli import (
    acting,
    config,
    conformance,
    doctor,
    events,
    holding,
    janitor,
    jobs,
    marks,
    moving,
    putting,
    queues,
    recurring,
    top,
    worker,
    workers,
)
from pyqless.cli.naming import adopt
from pyqless.cli.printing import note
from pyqless.cli.status import Status
from pyqless.errors import InvalidArgument, PrecisionWarning, QlessError

__all__ = ["app", "run"]

#: what typer raises for a wrong command line: click's own, or that of the click which it brings along
_UsageError: Final[type[Any]] = typer.BadParameter.__mro__[1]

#: how a stream tells that it takes no more
_UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

app = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # a traceback is for a fault of ours, and then in full
    epilog="Exit status: 0 done, or yes; 1 not done, or no; 2 wrong usage.",
)
app.command("put")(putting.put)
app.command("pop")(putting.pop)
app.command("peek")(putting.peek)
app.command("complete")(holding.complete)
app.command("fail")(holding.fail)
app.command("heartbeat")(holding.heartbeat)
app.command("jobs")(jobs.jobs)
app.command("job")(jobs.job)
app.command("queues")(queues.queues)
app.add_typer(queues.app, name="queue")
app.command("failed")(jobs.failed)
app.command("retry")(acting.retry)
app.command("unfail")(acting.unfail)
app.command("cancel")(acting.cancel)
app.command("move")(acting.move)
app.add_typer(marks.tag_app, name="tag")
app.add_typer(marks.track_app, name="track")
app.add_typer(recurring.app, name="recur")
app.command("workers")(workers.workers)
app.add_typer(config.app, name="config")
app.command("stats")(queues.stats)
app.command("events")(events.events)
app.command("top")(top.top)
app.command("janitor")(janitor.janitor)
app.command("doctor")(doctor.doctor)
app.command("dump")(moving.dump)
app.command("load")(moving.load)
app.command("diff")(moving.diff)
app.command("worker")(worker.worker)
app.add_typer(conformance.app, name="conformance")
adopt(app)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - as typer calls it
    if wanted:
        typer.echo(f"pyqless {__version__}")
        raise typer.Exit


@app.callback()
def _pyqless(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Qless in pure Python: a job queue for Redis without Lua, and for programs without any server."""


def run(arguments: Sequence[str] | None) -> NoReturn:
    """Run a command line, and end the process; see ``Status``."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # names in a store may be anything, and a terminal may speak ASCII alone
            stream.reconfigure(errors="backslashreplace")
    try:
        with _warnings_in_a_line():
            status = app(args=arguments, prog_name="pyqless", standalone_mode=False)
        sys.exit(status or Status.DONE)
    except _UsageError as error:
        note(_without_point(error.format_message()), _where_to_look(error))
        sys.exit(Status.USAGE)
    except (QlessError, RedisError) as error:
        note(error)
        sys.exit(Status.USAGE if isinstance(error, InvalidArgument) else Status.NOT_DONE)
    except OSError as error:
        if error.errno not in _UNWRITABLE:  # nobody meant to let that one out
            raise
        _give_up(error)


def _without_point(text: str) -> str:
    """A sentence as ours end; three points tell that something was cut."""
    return text if text.endswith("...") else text.removesuffix(".")


def _where_to_look(error: Any) -> str:
    return "" if error.ctx is None else f" (see {error.ctx.command_path} -h)"


def _open_closed_streams() -> None:
    """Take a stream that whoever started this has closed for an empty one; Python has None in its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Tell warnings of ours as errors are told, since no line of the user's code is at fault; others as ever."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, PrecisionWarning):
            note(message)
        else:
            usual(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _give_up(error: OSError) -> NoReturn:
    """End where the standard output takes no more: on a full disk, for example."""
    with suppress(OSError):
        note(f"the output cannot be written: {error.strerror or error}")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            # what it still holds would fail once more at the end of the process, and change the status
            os.dup2(nowhere, stream.fileno())
    sys.exit(Status.NOT_DONE)
