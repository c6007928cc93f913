# SPDX-License-Identifier: MIT
"""The options of a job: what a call gives goes before what the job's class says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypedDict

from pyqless.client import checks
from pyqless.client.checks import Span
from pyqless.client.references import AnyJob
from pyqless.core.uniqueness import OnConflict
from pyqless.errors import InvalidArgument

__all__ = [
    "JobOptions",
    "OnConflict",
    "PutOptions",
    "RecurOptions",
    "digest",
    "merged",
    "on_conflict",
    "require_known",
]

_CONFLICTS: Final = ("replace", "keep", "error", "replace_if_done")


class _CommonOptions(TypedDict, total=False):
    jid: str
    unique: bool
    on_conflict: OnConflict
    priority: float
    tags: Iterable[str]
    retries: int


class PutOptions(_CommonOptions, total=False):
    """The options of ``Queue.put``."""

    delay: Span
    depends: Iterable[str | AnyJob]
    max_waiting: int


class RecurOptions(_CommonOptions, total=False):
    """The options of ``Queue.recur``."""

    offset: Span
    backlog: int


class JobOptions(PutOptions, RecurOptions, total=False):
    """
    What ``default_job_options`` of a class may give.

    Each of them counts for the calls that take an option of that name.
    """


_KNOWN: Final = JobOptions.__optional_keys__


def merged(klass: str | type, data: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """
    Put class defaults where a call gives nothing.

    Args:
        given: the call's options by name; None where it gives nothing.

    Raises:
        InvalidArgument: the class has options of names that are none.
    """
    defaults = getattr(klass, "default_job_options", None) if isinstance(klass, type) else None
    if defaults is None:
        return dict(given)
    found = defaults(data)
    if not isinstance(found, Mapping) or not found.keys() <= _KNOWN:
        known = ", ".join(sorted(_KNOWN))
        checks.refuse("default_job_options", found, f"must give a mapping of {known}")
    return {name: found.get(name) if value is None else value for name, value in given.items()}


def require_known(given: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    """
    Refuse options that there are none of.

    Args:
        what: whose options they should be, for the message.

    Raises:
        InvalidArgument: there is one.
    """
    for name in sorted(given.keys() - set(known)):
        message = f"{name!r} is no option of {what}, which are {', '.join(sorted(known))}"
        raise InvalidArgument(message, argument="options", value=name)


def on_conflict(value: Any, *, unique: bool) -> OnConflict:
    """What is to happen if the jid is taken."""
    if value is None:
        return "replace_if_done" if unique else "replace"
    if value not in _CONFLICTS:
        checks.refuse("on_conflict", value, f"must be one of {', '.join(_CONFLICTS)}")
    return value  # type: ignore[no-any-return]


def digest(klass: str, text: str) -> str:
    """
    The jid of a unique job: the first 32 hexadecimal digits of SHA-256 over its klass, a line feed and its data.

    Args:
        text: the data as JSON; it counts in its canonical form: keys sorted, no spaces, characters as they are.
    """
    canonical = json.dumps(
        json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    whole = f"{klass}\n{canonical}".encode("utf-8", "surrogateescape")
    return hashlib.sha256(whole).hexdigest()[:32]
