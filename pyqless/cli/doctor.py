# SPDX-License-Identifier: MIT
"""``pyqless doctor``."""

from __future__ import annotations

import json
from typing import Annotated, Final
from urllib.parse import parse_qsl, urlsplit

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pyqless.cli.options import AsJson, Namespace, either
from pyqless.cli.status import Status
from pyqless.cli.store import UrlArgument, seen
from pyqless.doctor import Report, Role, Verdict, acl_line, probe

__all__ = ["doctor"]

_STYLES: Final = {
    Verdict.OK: "green",
    Verdict.UNKNOWN: "dim",
    Verdict.WARNING: "yellow",
    Verdict.FAILURE: "bold red",
}


def doctor(
    url: UrlArgument = None,
    *,
    role: Annotated[
        Role,
        typer.Option(
            "--role",
            metavar="ROLE",
            help=f"What the store is to be used for, by the URL's user: {either(Role)}.",
        ),
    ] = Role.WORKER,
    acl: Annotated[
        Role | None,
        typer.Option(
            "--acl",
            metavar="ROLE",
            help="Do not look at the store, but print the rights that a role needs.",
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(
            "--user", metavar="NAME", help="With --acl: whose rights; pyqless-ROLE unless given."
        ),
    ] = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Tell whether a store can be used, and what to do if not.

    Nothing is changed: a few keys under ql:py:doctor: are written and removed again, and none for --role observer.
    No script is sent; whether the store allows any makes no difference.

    The exit status is 0 if the store can be used, warnings or not, and 1 if it cannot.

    With --acl, print the ACL SETUSER line that gives a user the rights of a role, and takes all others away.
    It is the same for Redis from 6.2 on and for Valkey; a database in the URL other than 0 adds one right.
    """
    if acl is not None:
        if as_json:
            raise typer.BadParameter("does not go with --acl", param_hint="--json")
        _print_rights(acl, user or f"pyqless-{acl}", namespace, _database(url))
        return
    if user is not None:
        raise typer.BadParameter("goes with --acl", param_hint="--user")
    report = probe(seen(url), namespace=namespace, role=role)
    _print(report, as_json=as_json)
    raise typer.Exit(Status.DONE if report.usable else Status.NOT_DONE)


def _print_rights(role: Role, user: str, namespace: str, database: int) -> None:
    typer.echo(acl_line(role, user=user, namespace=namespace, database=database))
    hint = f"A user needs a password, and keeps the one it has: ACL SETUSER {user} >PASSWORD"
    typer.echo(hint, err=True)


def _database(url: str | None) -> int:
    """The number of a URL's database, which stands in its query or else in its path."""
    parts = urlsplit(url or "")
    path = "" if parts.scheme == "unix" else parts.path.strip("/")
    number = dict(parse_qsl(parts.query)).get("db", path)
    return int(number) if number.isdecimal() else 0


def _print(report: Report, *, as_json: bool) -> None:
    console = Console(highlight=False)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2))
        return
    if console.is_terminal:
        console.print(_table(report))
    else:
        typer.echo("\n".join(_lines(report)))
    typer.echo(_summary(report))


def _table(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for check in report.checks:
        seen = Text(check.seen)
        if check.advice:
            seen.append(f"\n-> {check.advice}", style="italic")
        table.add_row(Text(check.name), Text(check.verdict, style=_STYLES[check.verdict]), seen)
    return table


def _lines(report: Report) -> list[str]:
    lines = []
    for check in report.checks:
        lines.append(f"{check.name:14}{check.verdict:9}{check.seen}")
        if check.advice:
            lines.append(f"{'':23}-> {check.advice}")
    return lines


def _summary(report: Report) -> str:
    failures = [check.name for check in report.checks if check.verdict is Verdict.FAILURE]
    verdict = f"not usable as {report.role}: {', '.join(failures)}"
    return f"{report.url}: {f'usable as {report.role}' if report.usable else verdict}"
