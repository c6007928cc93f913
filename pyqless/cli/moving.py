# SPDX-License-Identifier: MIT
"""``pyqless dump``, ``pyqless load`` and ``pyqless diff``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn
from rich.progress import Progress as Bars

from pyqless.cli.options import URL_HELP, Namespace, store_url
from pyqless.cli.printing import note
from pyqless.cli.status import Status
from pyqless.cli.store import UrlArgument, chosen, seen
from pyqless.core.wording import counted
from pyqless.errors import StoreNotEmpty
from pyqless.storage import open_storage, transfer
from pyqless.storage.transfer import Difference, Existing, Header, Progress, Totals

__all__ = ["diff", "dump", "load"]

#: a bar moves once in so many keys
_STRIDE: Final = 100

#: characters of a value that are shown
_SHOWN: Final = 60


def dump(url: UrlArgument = None, *, namespace: Namespace = "ql") -> None:
    """
    Write everything in a store to the standard output, as a file for "pyqless load": pyqless dump URL > FILE.

    Keys of pyqless's own, under ql:py:, are left out; times of jobs that wait there are first entered where they
    belong. A Redis cannot show one instant: there the dump is consistent if nobody works on the store meanwhile.
    """
    if sys.stdout.isatty():
        raise typer.BadParameter("a dump is not for a terminal: pyqless dump URL > FILE")
    with open_storage(seen(url), namespace=namespace) as storage, _bar("dumped") as progress:
        try:
            header, totals = transfer.dump(storage, sys.stdout.buffer, progress=progress)
        except OSError as error:
            note(f"the dump cannot be written: {error}")
            raise typer.Exit(Status.NOT_DONE) from error
    _tell("dumped", header, totals)
    if not header.one_instant:
        typer.echo("This store cannot show one instant: was anybody at work on it?", err=True)


def load(
    url: UrlArgument = None,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="First DELETE what the store holds.")
    ] = False,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge",
            help="Add to what the store holds; where both have an entry, take the file's.",
        ),
    ] = False,
    namespace: Namespace = "ql",
) -> None:
    """
    Read a dump from the standard input into a store: pyqless load URL < FILE.

    The file is looked through from end to end before anything is written. A store that holds something is
    refused, unless it is to be replaced or merged with the file.
    """
    if replace and merge:
        raise typer.BadParameter("does not go with --merge", param_hint="--replace")
    existing: Existing = "replace" if replace else "merge" if merge else "refuse"
    with open_storage(chosen(url), namespace=namespace) as storage, _bar("loaded") as progress:
        try:
            header, totals = transfer.load(
                storage, sys.stdin.buffer, existing=existing, progress=progress
            )
        except StoreNotEmpty as error:
            error.args = (f"{error}, with --replace or --merge",)
            raise
    _tell("loaded", header, totals)


def diff(
    one: Annotated[str, typer.Argument(metavar="FIRST_URL", help=URL_HELP, callback=store_url)],
    other: Annotated[str, typer.Argument(metavar="SECOND_URL", help=URL_HELP, callback=store_url)],
    *,
    namespace: Namespace = "ql",
) -> None:
    """
    Show what differs between two stores, a line each: "-" only in the first, "+" only in the second, "~" not alike.

    Of lists and sorted sets the first difference is shown. Keys of pyqless's own, under ql:py:, are left out.
    The exit status is 0 if there is no difference, and 1 if there is any.
    """
    status = Status.DONE
    with (
        open_storage(seen(one), namespace=namespace) as first,
        open_storage(seen(other), namespace=namespace) as second,
    ):
        for difference in transfer.diff(first, second):
            status = Status.NOT_DONE
            typer.echo(_line(namespace, difference))
    raise typer.Exit(status)


def _line(namespace: str, difference: Difference) -> str:
    key, place, one, other = difference
    name = f"{namespace}:{key}" if place is None else f"{namespace}:{key} {place!r}"
    sign = "-" if other is None else "+" if one is None else "~"
    shown = " | ".join(_shown(value) for value in (one, other) if value is not None)
    return f"{sign} {name}: {shown}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@contextmanager
def _bar(done: str) -> Iterator[Progress]:
    """Show on a terminal how many keys are done."""
    console = Console(stderr=True)
    columns = (*Bars.get_default_columns(), MofNCompleteColumn())
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(f"keys {done}", total=None)

        def progress(keys: int, total: int | None) -> None:
            if keys % _STRIDE == 0 or keys == total:
                bars.update(task, completed=keys, total=total)

        yield progress


def _tell(done: str, header: Header, totals: Totals) -> None:
    held = f"{counted(totals.keys, 'key')} with {counted(totals.items, 'entry', 'entries')}"
    typer.echo(f"{done} {held} (namespace {header.namespace})", err=True)
