# SPDX-License-Identifier: MIT
"""Running a job in a test as a worker runs it, but that what is wrong comes out."""

from __future__ import annotations

import functools
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

from pyqless.client import JobFunction
from pyqless.client.views import JobView
from pyqless.errors import InvalidArgument
from pyqless.worker import Code, CodeNotFound, Finder, Runner
from pyqless.worker.attempts import Attempt
from pyqless.worker.verdicts import Again

__all__ = ["CodeByName", "StrictRunner", "TriedAgain", "awaiting"]

#: what runs jobs, by their klass
CodeByName: TypeAlias = Mapping[str, Callable[[Any], Any]]


class TriedAgain(Exception):
    """
    A job is to be tried again.

    Attributes:
        how: when, and why.
        cause: what its code has raised.
    """

    def __init__(self, how: Again, error: BaseException) -> None:
        super().__init__(str(error))
        self.how = how
        self.cause = error.__cause__ or error


class StrictRunner(Runner):
    """Runs jobs with their middleware; what they raise comes out, or ``TriedAgain`` if a worker would do so."""

    @classmethod
    def of(cls, code: CodeByName, *, keeps_results: bool) -> StrictRunner:
        """Run what ``code`` gives, and whatever else a job names: a test trusts its own jobs."""
        return cls(finder=_AnyFinder(functions=code), keeps_results=keeps_results)

    def judge(self, job: JobView[Any], attempt: Attempt, error: BaseException) -> NoReturn:
        """See ``Runner.judge``."""
        verdict = super().judge(job, attempt, error)
        raise TriedAgain(verdict, error) if isinstance(verdict, Again) else error


class _AnyFinder(Finder):
    """Finds any code."""

    def find(self, name: str, queue: str) -> Code:
        try:
            return super().find(name, queue)
        except CodeNotFound as error:
            message = f"klass names no code: {error}"
            raise InvalidArgument(message, argument="klass", value=name) from error

    def _look_up(self, name: str) -> Any:
        try:
            found = pkgutil.resolve_name(name)
        except (ImportError, AttributeError, ValueError) as error:
            raise CodeNotFound(f"there is no {name!r}") from error
        if not callable(found):
            raise CodeNotFound(f"{name!r} is nothing that runs a job")
        return found


def awaiting(code: CodeByName) -> CodeByName:
    """The same code as coroutine functions, which await what a function gives where that can be."""
    return {name: _awaiting(function) for name, function in code.items()}


def _awaiting(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    if isinstance(function, type | JobFunction) or inspect.iscoroutinefunction(function):
        return function

    @functools.wraps(function)
    async def run(job: Any) -> Any:
        value = function(job)
        return await value if inspect.isawaitable(value) else value

    return run
