# SPDX-License-Identifier: MIT
"""Arguments and options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, TypeAlias
from urllib.parse import urlsplit

import typer

from pyqless.client import checks
from pyqless.storage.redaction import redacted
from pyqless.storage.urls import SCHEMES

__all__ = [
    "MOST",
    "URL_HELP",
    "AsJson",
    "Conflict",
    "Namespace",
    "OnConflict",
    "Unique",
    "either",
    "server_url",
    "store_url",
]

#: jobs, events and seconds beyond which nobody means it, and clocks and counters give up
MOST: Final = 10**9

URL_HELP: Final = (
    "Of the store: redis://, rediss://, unix://, sqlite:///PATH, fakeredis:// or memory://; with user"
    " and password redis://USER:PASSWORD@HOST."
)


def _namespace(name: str) -> str:
    return checks.name("--namespace", name)


Namespace: TypeAlias = Annotated[
    str,
    typer.Option(
        "--namespace",
        metavar="NAME",
        help="What stands before the first colon of every key.",
        callback=_namespace,
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


def either(kind: type[StrEnum]) -> str:
    """The words of which one is to be said, for a help text."""
    *words, last = kind
    return f"{', '.join(words)} or {last}"


class Conflict(StrEnum):
    """What is to happen if the jid is taken."""

    REPLACE = "replace"
    KEEP = "keep"
    ERROR = "error"
    REPLACE_IF_DONE = "replace_if_done"


OnConflict: TypeAlias = Annotated[
    Conflict | None,
    typer.Option(
        "--on-conflict",
        metavar="WAY",
        help=f"What to do if the jid is taken: {either(Conflict)}; replace unless given.",
    ),
]
Unique: TypeAlias = Annotated[
    bool, typer.Option("--unique", help="Derive the jid from class and data.")
]


def store_url(url: str | None) -> str | None:
    """
    Check that a URL means a store, for typer's ``callback``.

    Raises:
        typer.BadParameter: it does not.
    """
    return _checked(url, SCHEMES)


def server_url(url: str | None) -> str | None:
    """As ``store_url``, where the store has to be a server."""
    return _checked(url, ("redis", "rediss", "unix"))


def _checked(url: str | None, schemes: tuple[str, ...]) -> str | None:
    if url is None:
        return None
    try:
        scheme = urlsplit(url).scheme
    except ValueError as error:
        # nobody could take the password out of it, so that it is not shown
        raise typer.BadParameter(str(error)) from error
    if scheme not in schemes:
        known = ", ".join(f"{name}://" for name in schemes)
        raise typer.BadParameter(f"begins with none of {known}: {redacted(url)!r}")
    return url
