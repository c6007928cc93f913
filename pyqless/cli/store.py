# SPDX-License-Identifier: MIT
"""The store that a command works on: its URL, and a client for as long as the command runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from pyqless.cli.options import URL_HELP, store_url
from pyqless.client import Client
from pyqless.errors import StoreUnavailable

__all__ = ["Url", "changing", "default_url", "looking"]

Url: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="PYQLESS_URL",
        help=f"{URL_HELP} A file in the user's state directory unless given.",
        callback=store_url,
        show_default=False,
    ),
]


def default_url() -> str:
    """
    Choose a file in the user's state directory, and say so in one line on stderr.

    Raises:
        typer.BadParameter: SQLite files cannot be opened, as an extra is missing.
        StoreUnavailable: the directory cannot be made.
    """
    if find_spec("apsw") is None:
        text = (
            "missing; give it, set PYQLESS_URL, or install pyqless[sqlite] for a file of your own"
        )
        raise typer.BadParameter(text, param_hint="--url")
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    folder = state / "pyqless"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"the state directory cannot be made: {error}") from error
    url = f"sqlite:///{folder / 'queue.db'}"
    typer.echo(f"pyqless: the store is {url}, as neither --url nor PYQLESS_URL is given", err=True)
    return url


@contextmanager
def looking(url: str | None, namespace: str) -> Iterator[Client]:
    """Open a client that changes nothing, so that a user without the right to write can look, too."""
    with Client(url or default_url(), namespace=namespace, read_only=True) as client:
        yield client


@contextmanager
def changing(url: str | None, namespace: str, worker: str | None = None) -> Iterator[Client]:
    """Open a client; jobs are popped in the worker's name."""
    with Client(url or default_url(), namespace=namespace, worker_name=worker) as client:
        yield client
