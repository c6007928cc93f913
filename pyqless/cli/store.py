# SPDX-License-Identifier: MIT
"""The store that a command works on: its URL, and a client for as long as the command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Final, TypeAlias
from urllib.parse import urlsplit

import typer

from pyqless.cli.options import URL_HELP, store_url
from pyqless.cli.printing import note
from pyqless.client import Client
from pyqless.errors import StoreUnavailable
from pyqless.storage.default import VARIABLES, own_file
from pyqless.storage.sqlite.locations import locate

__all__ = [
    "DEFAULT_HELP",
    "Opening",
    "Url",
    "UrlArgument",
    "changing",
    "chosen",
    "looking",
    "seen",
    "warn_if_gone_at_exit",
]

DEFAULT_HELP: Final = f"{URL_HELP} A file in the user's state directory unless given."

Url: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        envvar=[*VARIABLES],
        help=DEFAULT_HELP,
        callback=store_url,
        show_default=False,
    ),
]

#: ``looking`` or ``changing``, with a URL and a namespace
Opening: TypeAlias = Callable[[str | None, str], AbstractContextManager[Client]]

UrlArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="URL",
        envvar=[*VARIABLES],
        help=f"{DEFAULT_HELP} Or --url URL, as elsewhere.",
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
    names = f"URL, --url, {' or '.join(VARIABLES)}"
    note(f"no store is named by {names}, so it is {own}")
    return own


def seen(url: str | None) -> str:
    """
    As ``chosen``, for commands that only look: a file that is named must be there, since to look must not make one.

    Raises:
        InvalidArgument: the URL names no file; or see ``own_file``.
        StoreUnavailable: there is no such file; or see ``own_file``.
    """
    if url is not None and urlsplit(url).scheme == "sqlite":
        _require_file(url)
    return chosen(url)


def _require_file(url: str) -> None:
    path, _ = locate(url)
    with suppress(PermissionError):  # the storage tells of it
        if not Path(path).exists():
            text = f"there is no file {path!r}, and a command that only looks makes none"
            raise StoreUnavailable(text, argument="url", value=url)


@contextmanager
def looking(url: str | None, namespace: str) -> Iterator[Client]:
    """Open a client that changes nothing, so that a user without the right to write can look, too."""
    with Client(seen(url), namespace=namespace, read_only=True) as client:
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
        note(f"{url} lies in this process alone, and is gone when that ends")
