# SPDX-License-Identifier: MIT
"""What jobs of the tests may name."""

from __future__ import annotations

from os import system
from typing import Any

import pyqless

__all__ = ["Both", "Named", "constant", "declared", "declared_async", "run", "system"]

constant = 1


def run(job: Any) -> str:
    return "ran"


@pyqless.job(queue="mail")
def declared(a: int, b: int = 10) -> int:
    return a + b


@pyqless.job(queue="mail")
async def declared_async(a: int) -> int:
    return a


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
