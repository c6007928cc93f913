# SPDX-License-Identifier: MIT
"""``pyqless config ...``: the settings that all clients of a store share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from pyqless.cli.known import (
    is_setting,
    near_settings,
    queue_of_setting,
    tell_if_new,
    unknown_queues,
)
from pyqless.cli.options import AsJson, Namespace
from pyqless.cli.parsing import number_or_text
from pyqless.cli.printing import note, say, say_json, show
from pyqless.cli.status import Status
from pyqless.cli.store import Url, changing, looking
from pyqless.client import checks
from pyqless.errors import RequestError

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
    if value is None and not is_setting(name):
        note(_unknown(name))
    raise typer.Exit(Status.NOT_DONE if value is None else Status.DONE)


@app.command("set")
def set_(
    name: _Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="What it is to be.")],
    *,
    any_name: Annotated[
        bool, typer.Option("--any", help="Take a name that nothing in qless heeds, too.")
    ] = False,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Set a setting.

    A name that nothing in qless heeds is refused, as it is mistyped more often than not: --any takes it, for programs that
    keep settings of their own here, as "client.config" does in Python. Settings of a queue are QUEUE-heartbeat,
    QUEUE-max-concurrency and QUEUE-max-waiting; if the queue is not known yet, stderr says so.
    """
    if not any_name:
        _require_setting(name)
    queue = None if any_name else queue_of_setting(name)
    with changing(url, namespace) as client:
        new = [] if queue is None else unknown_queues(client, [queue])
        chosen = number_or_text(value)
        client.config.set(name, chosen)
    tell_if_new(*new)
    if as_json:
        say_json({"name": name, "value": chosen})


def _require_setting(name: str) -> None:
    checks.name("name", name)
    if not is_setting(name):
        fault = (
            f"{checks.shown(name)} is no setting; {near_settings(name)}; --any sets it all the same"
        )
        raise typer.BadParameter(fault, param_hint="NAME")


@app.command()
def unset(
    name: _Name, *, url: Url = None, namespace: Namespace = "ql", as_json: AsJson = False
) -> None:
    """Go back to a setting's default. The exit status is 1 if there is no such setting, and none is set."""
    with changing(url, namespace) as client:
        if not is_setting(name) and name not in client.config:
            raise RequestError(_unknown(name), argument="name", value=name)
        client.config.unset(name)
    if as_json:
        say_json({"name": name})


def _unknown(name: str) -> str:
    return f"no setting named {checks.shown(name)} is known or set; {near_settings(name)}"
