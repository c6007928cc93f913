# SPDX-License-Identifier: MIT
"""What jobs of the tests may name."""

from __future__ import annotations

from os import system
from typing import Any

__all__ = ["Both", "Named", "constant", "run", "system"]

constant = 1


def run(job: Any) -> str:
    return "ran"


def _hidden(job: Any) -> None:
    raise AssertionError


class Both:
    """Has a method for one queue, and one for all others."""

    @staticmethod
    def process(job: Any) -> str:
        return "process"

    @staticmethod
    def mail(job: Any) -> str:
        return "mail"

    number = 1


class Named:
    """Has no method but an inherited one, and something that is none."""

    mail = 5
