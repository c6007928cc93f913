# SPDX-License-Identifier: MIT
"""``pyqless config ...``: the settings that all clients of a store share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from pyqless.cli.options import AsJson, Namespace
from pyqless.cli.parsing import number_or_text
from pyqless.cli.printing import say, say_json, show
from pyqless.cli.status import Status
from pyqless.cli.store import Url, changing, looking

__all__ = ["app"]

app = typer.Typer(help="Look at settings, and change them.")

_Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The setting's name.")]


@app.command("list")
def list_(*, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False) -> None:
    """List all settings, defaults included."""
    with looking(url, namespace) as client:
        settings = client.config.all()
    if as_json:
        say_json(settings)
        return
    show(("setting", "value"), settings.items())


@app.command("get")
def get(
    name: _Name, *, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """Print a setting. The exit status is 1 if it is neither set nor has a default."""
    with looking(url, namespace) as client:
        value = client.config.get(name)
    if as_json:
        say_json(value)
    elif value is not None:
        say(str(value))
    raise typer.Exit(Status.NOT_DONE if value is None else Status.DONE)


@app.command("set")
def set_(
    name: _Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="What it is to be.")],
    *,
    url: Url = None,
    namespace: Namespace = "ql",
) -> None:
    """Set a setting."""
    with changing(url, namespace) as client:
        client.config.set(name, number_or_text(value))


@app.command()
def unset(name: _Name, *, url: Url = None, namespace: Namespace = "ql") -> None:
    """Go back to a setting's default."""
    with changing(url, namespace) as client:
        client.config.unset(name)
