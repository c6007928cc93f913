# SPDX-License-Identifier: MIT
"""What an examination has found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from pyqless.doctor.roles import Role

__all__ = ["Check", "Report", "Verdict"]


class Verdict(StrEnum):
    """What is to be thought of something."""

    OK = "ok"
    #: it could not be found out, mostly for want of rights
    UNKNOWN = "unknown"
    #: the store can be used, but something may be lost or go wrong one day
    WARNING = "warning"
    #: the store cannot be used
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    #: short and stable, for machines too
    name: str
    verdict: Verdict
    #: what was seen, a sentence or part of one
    seen: str
    #: what to do about it; empty where nothing is to be done
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All that was looked at, in the order of looking."""

    #: of the store, without its password
    url: str
    namespace: str
    #: what the store was examined for
    role: Role
    checks: tuple[Check, ...]

    @property
    def usable(self) -> bool:
        """Whether nothing stands in the way of the role."""
        return all(check.verdict is not Verdict.FAILURE for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """The report as plain values: the fields, and ``usable``."""
        return {**asdict(self), "usable": self.usable}
