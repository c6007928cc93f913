# SPDX-License-Identifier: MIT
"""Which file a URL means, and what it says about it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from pyqless.errors import InvalidArgument
from pyqless.storage.redaction import redacted

__all__ = ["Options", "locate"]

_DURABLE: Final = {"full": True, "normal": False}


class Options(NamedTuple):
    """What can be said about a file, in its URL or beside it."""

    #: seconds
    timeout: float = 10.0
    #: ``full`` or ``normal``
    synchronous: str = "full"

    @property
    def durable(self) -> bool:
        """Whether a commit is on the disk before the call returns."""
        return _DURABLE[self.synchronous]


def locate(url: str, **options: Any) -> tuple[str, Options]:
    """
    Find the file and the options.

    Args:
        options: those of ``Options`` that are not None count for more than the URL's.

    Returns:
        tuple: the absolute path, and the options.

    Raises:
        InvalidArgument: there is no path, or an option is unknown or makes no sense.
    """
    parts = urlsplit(url)
    path = _path(parts.path[1:])
    # somebody may have meant another kind of store, with a password, which must not be shown again and again
    shown = redacted(url) if "@" in url else url
    if parts.netloc or parts.fragment or not path or "***" in shown:
        raise InvalidArgument(
            f"url must be sqlite:/// and the path of a file, not {shown!r};"
            " for a queue in this process alone there is memory://",
            argument="url",
            value=shown,
        )
    given: dict[str, Any] = dict(parse_qsl(parts.query, keep_blank_values=True))
    given |= {name: value for name, value in options.items() if value is not None}
    return str(Path(path).resolve()), _options(given)


def _path(quoted: str) -> str:
    """The path that a URL holds; an empty one if it is none that SQLite takes for a file's."""
    try:
        path = unquote(quoted, errors="strict")
        path.encode()
    except UnicodeError:
        return ""
    return "" if path == ":memory:" or "\0" in path else path


def _options(given: dict[str, Any]) -> Options:
    if unknown := given.keys() - set(Options._fields):
        name = min(unknown)
        raise InvalidArgument(
            f"sqlite:// knows no option {name!r}", argument=name, value=given[name]
        )
    options = Options(**given)
    if options.synchronous not in tuple(_DURABLE):
        raise InvalidArgument(
            f"synchronous must be 'full' or 'normal', not {options.synchronous!r}",
            argument="synchronous",
            value=options.synchronous,
        )
    return options._replace(timeout=_seconds(options.timeout))


def _seconds(timeout: float | str) -> float:
    try:
        seconds = math.nan if isinstance(timeout, bool) else float(timeout)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise InvalidArgument(
            f"timeout must be a number of seconds, not {timeout!r}",
            argument="timeout",
            value=timeout,
        )
    return seconds
