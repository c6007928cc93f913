# SPDX-License-Identifier: MIT
"""The store that a command works on: its URL, and a client for as long as the command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final, TypeAlias

import typer

from pyqless.cli.options import URL_HELP, store_url
from pyqless.client import Client
from pyqless.storage.default import VARIABLES, own_file

__all__ = [
    "DEFAULT_HELP",
    "Url",
    "UrlArgument",
    "changing",
    "chosen",
    "looking",
    "warn_if_gone_at_exit",
]

DEFAULT_HELP: Final = f"{URL_HELP} A file in the user's state directory unless given."

Url: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar=[*VARIABLES],
        help=DEFAULT_HELP,
        callback=store_url,
        show_default=False,
    ),
]

UrlArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="URL",
        envvar=[*VARIABLES],
        help=DEFAULT_HELP,
        callback=store_url,
        show_default=False,
    ),
]


def chosen(url: str | None) -> str:
    """
    Give the URL that was named, or else that of the user's own file, and say so in one line on stderr.

    Raises:
        InvalidArgument, StoreUnavailable: see ``own_file``.
    """
    if url is not None:
        return url
    own = own_file()
    typer.echo(f"pyqless: no store is named by URL or PYQLESS_URL, so it is {own}", err=True)
    return own


@contextmanager
def looking(url: str | None, namespace: str) -> Iterator[Client]:
    """Open a client that changes nothing, so that a user without the right to write can look, too."""
    with Client(chosen(url), namespace=namespace, read_only=True) as client:
        yield client


@contextmanager
def changing(url: str | None, namespace: str, worker: str | None = None) -> Iterator[Client]:
    """Open a client; jobs are popped in the worker's name."""
    with Client(chosen(url), namespace=namespace, worker_name=worker) as client:
        yield client


def warn_if_gone_at_exit(client: Client) -> None:
    """Say on stderr that nobody will ever see what is put into a store that this process alone has."""
    url = client.storage.url
    if url.startswith(("memory:", "fakeredis:")):
        text = f"pyqless: {url} lies in this process alone, and is gone when that ends"
        typer.echo(text, err=True)
