# SPDX-License-Identifier: MIT
"""How a failed job is described: a group to find it under, and a text without secrets."""

from __future__ import annotations

import re
import traceback
from types import TracebackType
from typing import Final

from pyqless.core.explaining import summary_of

__all__ = ["group_of", "message_of", "redacted", "summary_of"]

#: how long a failure's message may be unless the worker is told otherwise, characters
MESSAGE_LIMIT: Final = 10_000

#: whose frames say nothing of the job where they lie around its code
_AROUND: Final = frozenset({"asyncio", "contextlib", "importlib", "pyqless"})

#: a password in a URL's authority, and one that is given by name
_SECRETS: Final = (
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s:/@'\"]*):[^\s@/'\"]+@", re.IGNORECASE), r"\1:***@"),
    (
        re.compile(
            r"(\b\w*(?:password|passwd|secret|token|api_?key)\w*['\"]?\s*[=:]\s*)"
            r"(?:'[^']*'|\"[^\"]*\"|[^\s,;&)}\]]+)",
            re.IGNORECASE,
        ),
        r"\1***",
    ),
)


def redacted(text: str) -> str:
    """A text without the passwords of URLs, and without what is called a password, secret, token or key."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def group_of(error: BaseException, klass: str, queue: str, *, compat: bool) -> str:
    """
    The group of failures that an exception belongs to.

    ``KLASS:EXCEPTION``, as Ruby workers have it; or ``QUEUE-EXCEPTION``, as Python workers have it.
    """
    name = type(error).__name__
    return f"{queue}-{name}" if compat else f"{klass}:{name}"


def message_of(error: BaseException, limit: int = MESSAGE_LIMIT) -> str:
    """
    An exception and its traceback, its beginning and end where it is too long, without secrets.

    Of one that came before the job's code was reached there is no traceback: it would only show how pyqless works.
    """
    trace = _from_the_job_on(error.__traceback__)
    lines = traceback.format_exception(type(error), error, trace, chain=trace is not None)
    return shortened(redacted("".join(lines).rstrip()), limit)


def _from_the_job_on(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without what lies around the job's own code; None where that is all."""
    while trace is not None and _lies_around(trace):
        trace = trace.tb_next
    return trace


def _lies_around(trace: TracebackType) -> bool:
    module = str(trace.tb_frame.f_globals.get("__name__"))
    return module.partition(".")[0] in _AROUND


def shortened(text: str, limit: int) -> str:
    """A text of so many characters at most: what an exception says stands at the end, where it began before."""
    if len(text) <= limit:
        return text
    mark = "\n[...]\n"
    room = max(0, limit - len(mark))
    tail = room * 2 // 3
    return text[: room - tail] + mark + text[len(text) - tail :]
