# SPDX-License-Identifier: MIT
"""
How URLs and options are spelled: mistakes are told before a storage takes them for something else.

Nothing of a URL is repeated in an error: somebody may have put a password in the wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pyqless.errors import InvalidArgument

__all__ = ["SCHEMES", "naming_options", "spelled"]

#: what a URL may begin with
SCHEMES: Final = ("memory", "redis", "rediss", "unix", "fakeredis", "sqlite")

#: what cannot be said as text, or is none of the storage's
_ARGUMENTS: Final = (
    "connection",
    "encoder",
    "lanes",
    "max_data_size",
    "namespace",
    "policy",
    "read_only",
    "worker_name",
)

_unknown_option = re.compile(r"unexpected keyword argument '(\w+)'").search


def spelled(url: str | None) -> tuple[str, str]:
    """
    Read the scheme of a URL.

    Returns:
        tuple: the scheme, and the URL with that in small letters.

    Raises:
        InvalidArgument: the URL means no storage, or something in it stands in the wrong place.
    """
    if not isinstance(url, str):
        _refuse(f"url must be text, not {type(url).__name__}")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        _refuse(f"url makes no sense: {error}")
    scheme = parts.scheme
    if scheme not in SCHEMES:
        _refuse(f"url must begin with one of {', '.join(f'{name}://' for name in SCHEMES)}")
    rest = url[len(scheme) :]
    if not rest.startswith("://"):
        _refuse(f"url must begin with {scheme}://")
    if scheme in ("redis", "rediss"):
        _require_port(parts)
    elif scheme == "unix" and not parts.path.strip("/"):
        _refuse("url must hold the path of a socket: unix:///PATH")
    elif scheme in ("memory", "fakeredis") and (parts.path + parts.query + parts.fragment):
        _refuse(f"url must be {scheme}:// or {scheme}://NAME, and no more")
    _require_no_argument(parts.query)
    return scheme, scheme + rest


def _refuse(fault: str) -> NoReturn:
    raise InvalidArgument(fault, argument="url")


def _require_no_argument(query: str) -> None:
    for name, _ in parse_qsl(query, keep_blank_values=True):
        if name in _ARGUMENTS:
            text = (
                f"{name} cannot be said in a url, but only as an argument of Client or AsyncClient"
            )
            raise InvalidArgument(text, argument=name)


def _require_port(parts: SplitResult) -> None:
    if "@" in parts.path + parts.query + parts.fragment:
        return  # a password has torn the URL apart, which the storage tells
    try:
        fits = parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        _refuse(
            f"url must name its port by a number up to 65535: {parts.scheme}://HOST:PORT/DATABASE"
        )


@contextmanager
def naming_options(scheme: str) -> Iterator[None]:
    """
    Name an option that a storage does not know.

    Raises:
        InvalidArgument: there was one; not its value, which may be a password under a name that is misspelt.
    """
    try:
        yield
    except (TypeError, InvalidArgument) as error:
        told = error if isinstance(error, TypeError) else error.__cause__
        unknown = _unknown_option(str(told))
        if unknown is None:
            raise
        name = unknown[1]
        raise InvalidArgument(f"{scheme}:// knows no option {name!r}", argument=name) from error
