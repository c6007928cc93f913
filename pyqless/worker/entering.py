# SPDX-License-Identifier: MIT
"""What is entered before a job's code runs, and left after it: what a middleware is, and how code is given one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, TypeAlias, TypeVar

from pyqless.client import checks

__all__ = ["Middleware", "called", "middleware_of", "require_middleware", "uses"]

F = TypeVar("F", bound=Callable[..., Any])

#: given a job, what is to be entered before its code runs and left after it
Middleware: TypeAlias = Callable[
    [Any], AbstractContextManager[Any, Any] | AbstractAsyncContextManager[Any, Any]
]

_MIDDLEWARE = "pyqless_middleware"


def uses(*middleware: Middleware) -> Callable[[F], F]:
    """
    Decorate a job's function or class with middleware, the first the outermost; the worker's lies around it.

    Raises:
        InvalidArgument: one of them is no middleware.
    """
    require_middleware(middleware)

    def decorate(owner: F) -> F:
        # where uses() is left uncalled, this stands in the place of the job's code, and is given the job
        if not callable(owner):
            fault = "cannot be decorated: write @uses(...) with middleware"
            checks.refuse("function", owner, fault)
        setattr(owner, _MIDDLEWARE, (*middleware, *middleware_of(owner)))
        return owner

    return decorate


def middleware_of(owner: Any) -> tuple[Middleware, ...]:
    """What a function or class was decorated with."""
    found: tuple[Middleware, ...] = getattr(owner, _MIDDLEWARE, ())
    return found


def require_middleware(middleware: Iterable[Any]) -> None:
    """
    Make sure that all of them are middleware, as far as can be seen before they are called.

    Raises:
        InvalidArgument: one of them is none.
    """
    for entered in middleware:
        checks.function("middleware", entered)
        if (fault := _fault_of(entered)) is not None:
            checks.refuse("middleware", entered, fault)


def called(argument: str, value: F) -> F:
    """
    Give back what is called here and now, without being awaited.

    Raises:
        InvalidArgument: it cannot be called, or is a coroutine function.
    """
    if inspect.iscoroutinefunction(value):
        checks.refuse(argument, value, "must not be a coroutine function, which nobody would await")
    return checks.function(argument, value)


def _fault_of(entered: Any) -> str | None:
    """Why nothing that can be entered will come of a call."""
    if isinstance(entered, type):
        if hasattr(entered, "__enter__") or hasattr(entered, "__aenter__"):
            return None
        return f"must be called before, {entered.__name__}(...), or be a class of context managers"
    if inspect.iscoroutinefunction(entered):
        return "must give a context manager, and is a coroutine function"
    if inspect.isgeneratorfunction(entered) or inspect.isasyncgenfunction(entered):
        return "must have @contextmanager or @asynccontextmanager above it, as it yields"
    return None
