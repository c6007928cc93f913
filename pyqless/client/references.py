# SPDX-License-Identifier: MIT
"""Which job is meant: wherever a call asks for a job's jid, the job itself will do, and its jid counts."""

from __future__ import annotations

from typing import Any, Final

from pyqless.client import checks
from pyqless.errors import InvalidArgument

__all__ = ["MOST_PARENTS", "AnyJob", "handle", "job", "jobs", "parents"]

#: how many jobs one call may let a job wait for: each is guarded, and a Redis goes through all guards for each further one
MOST_PARENTS: Final = 1000


class AnyJob:
    """A job of either client, as it was seen."""

    __slots__ = ()

    @property
    def jid(self) -> str:
        """Its id."""
        raise NotImplementedError


def job(argument: str, value: Any) -> str:
    """The jid of a job, given by jid or by itself."""
    if isinstance(value, AnyJob):
        return value.jid
    if not isinstance(value, str):
        checks.refuse(argument, value, f"must be a job or its jid, not {type(value).__name__}")
    return checks.jid(argument, value)


def handle(value: Any) -> Any:
    """The handle of a job that a worker shows its code, which is no handle; anything else as it is."""
    return getattr(value, "handle", value) if isinstance(value, AnyJob) else value


def jobs(argument: str, values: Any, least: int = 0) -> list[str]:
    """The jids of at least so many jobs; one that is given twice counts once."""
    return checks.several(argument, values, least, job, "jobs or their jids")


def parents(argument: str, values: Any, least: int = 0) -> list[str]:
    """Those of jobs that another is to wait for: as ``jobs``, but not more than a store can guard at once."""
    checked = jobs(argument, values, least)
    if len(checked) > MOST_PARENTS:
        raise InvalidArgument(
            f"{argument} must name no more than {MOST_PARENTS} jobs in one call, not {len(checked)}:"
            " let the job wait for itself until it knows of all of them",
            argument=argument,
            value=len(checked),
        )
    return checked
