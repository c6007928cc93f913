# SPDX-License-Identifier: MIT
"""
Which code a job runs.

A job names code, and whoever can put jobs can name any. So a worker has a list of what jobs may name:
modules, packages, and functions registered under names of their own. Nothing else is ever looked at,
and no module outside the list is ever imported because a job says so.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any, Final, NamedTuple, TypeVar

from pyqless.client import JobFunction, checks
from pyqless.errors import InvalidArgument

__all__ = ["Code", "CodeNotFound", "Finder"]

F = TypeVar("F", bound=Callable[..., Any])

#: the method of a class that runs a job, unless one is named like the job's queue
PROCESS: Final = "process"


class CodeNotFound(LookupError):
    """
    There is no such code, or the worker may not run it.

    Attributes:
        kind: ``method-missing`` or ``method-type`` where only the method is at fault, else ``not-found``.
    """

    def __init__(self, message: str, kind: str = "not-found") -> None:
        super().__init__(message)
        self.kind = kind


class Code(NamedTuple):
    """What runs a job."""

    function: Callable[..., Any]
    #: what the job named: a class or the function itself; it may say more about how it is to be run
    owner: Any

    @property
    def is_async(self) -> bool:
        """Whether a call gives a coroutine."""
        if isinstance(self.owner, JobFunction):
            return self.owner.is_async
        return inspect.iscoroutinefunction(self.function)


class Finder:
    """
    Finds the code of jobs.

    A job that names ``package.module.thing`` gets a function or class that stands in that module. Of a class it runs
    the method named like the job's queue, else ``process``; either is called with the job alone.
    What ``pyqless.job`` declares is called with the arguments in the job's data.

    Args:
        modules: what jobs may name: ``package.module`` allows one module, ``package.*`` a package and all in it.
        functions: what jobs may name by names of their own, such as those of other languages.

    Raises:
        InvalidArgument: one of the modules names none, or one of the functions cannot be called.
    """

    def __init__(
        self, modules: Iterable[str] = (), functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self._modules: set[str] = set()
        self._packages: set[str] = set()
        if isinstance(modules, str):  # whose characters would each be a module's name
            checks.refuse("modules", modules, "must be a list of names")
        for name in modules:
            self._allow(name)
        self._functions = dict(checks.callbacks("functions", functions or {}))

    def _allow(self, name: str) -> None:
        stem = name.removesuffix(".*")
        if not all(part.isidentifier() for part in stem.split(".")):
            text = f"modules must name modules, as in 'jobs' or 'jobs.*', not {name!r}"
            raise InvalidArgument(text, argument="modules", value=name)
        (self._modules if stem == name else self._packages).add(stem)

    def register(self, name: str | None = None) -> Callable[[F], F]:
        """
        Allow the decorated function or class under a name, its own dotted one unless given.

        Raises:
            InvalidArgument: the name is none, or what is decorated cannot be called.
        """
        if callable(name):
            checks.refuse("name", name, "is what is to be decorated: write @finder.register()")
        given = checks.optional(checks.name, "name", name)

        def decorate(function: F) -> F:
            checks.function("function", function)
            self._functions[given or f"{function.__module__}.{function.__qualname__}"] = function
            return function

        return decorate

    def allows(self, module: str) -> bool:
        """Whether jobs may name what stands in a module."""
        if module in self._modules:
            return True
        parts = module.split(".")
        return any(".".join(parts[:size]) in self._packages for size in range(1, len(parts) + 1))

    def preload(self) -> None:
        """
        Import the modules that are allowed by name, so that a wrong one is told before any job is taken.

        Raises:
            InvalidArgument: there is no such module, or it cannot be imported.
        """
        for name in sorted(self._modules):
            try:
                importlib.import_module(name)
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                text = f"modules: {name!r} cannot be imported: {reason}"
                raise InvalidArgument(text, argument="modules", value=name) from error

    def find(self, name: str, queue: str) -> Code:
        """
        Find the code of a job.

        Args:
            name: the job's klass.
            queue: the job's queue.

        Raises:
            CodeNotFound: there is none, or it is not allowed.
            Exception: what its module raises while it is imported.
        """
        owner = self._functions.get(name)
        if owner is None:
            owner = self._look_up(name)
        if inspect.isclass(owner):
            return Code(_method(owner, queue), owner)
        return Code(owner.process if isinstance(owner, JobFunction) else owner, owner)

    def _look_up(self, name: str) -> Any:
        module_name, _, attribute = name.rpartition(".")
        if not self.allows(module_name) or attribute.startswith("_"):
            raise CodeNotFound(f"this worker may not run {name!r}")
        found = vars(self._import(module_name)).get(attribute)
        if not isinstance(found, FunctionType | type | JobFunction):
            raise CodeNotFound(f"{module_name} has no class or function {attribute!r}")
        if not self.allows(found.__module__):  # imported there, such as os.system
            raise CodeNotFound(f"{name!r} comes from {found.__module__}, which is not allowed")
        return found

    @staticmethod
    def _import(name: str) -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and (name + ".").startswith(error.name + "."):
                raise CodeNotFound(f"there is no module {name!r}") from error
            raise

    def reload(self) -> None:
        """
        Load the allowed modules anew, those of packages where they are loaded; if one cannot be, all stay as they were.

        Raises:
            InvalidArgument: one that is allowed by name is gone, or cannot be imported.
            Exception: what one of a package raises while it is imported; those that are gone are forgotten.
        """
        old = self._forgotten()
        try:
            self.preload()
            for name in old:
                with suppress(CodeNotFound):
                    self._import(name)
        except Exception:
            self._forgotten()
            sys.modules.update(old)
            raise

    def forget(self) -> None:
        """Forget the allowed modules, and those of registered functions, for whoever imports and registers them anew."""
        self._forgotten()
        _forgotten(function.__module__ for function in self._functions.values())

    def _forgotten(self) -> dict[str, ModuleType]:
        return _forgotten(name for name in list(sys.modules) if self.allows(name))


def _forgotten(modules: Iterable[str]) -> dict[str, ModuleType]:
    """The modules that were loaded, and are not any more."""
    names = [name for name in modules if name != "__main__" and name in sys.modules]
    return {name: sys.modules.pop(name) for name in dict.fromkeys(names)}


def _method(owner: type, queue: str) -> Callable[..., Any]:
    """The method that runs the jobs of a queue, as qless-py chooses it."""
    for name in (queue, PROCESS):
        if name.startswith("_") or _static(owner, name) is None:
            continue
        method = getattr(owner, name)
        if not (inspect.isfunction(method) or inspect.ismethod(method)):
            raise CodeNotFound(f"{owner.__qualname__}.{name} is no method", "method-type")
        _require_for_job(method)
        return method
    text = f"{owner.__qualname__} has neither a method {queue!r} nor {PROCESS!r}"
    raise CodeNotFound(text, "method-missing")


def _require_for_job(method: Callable[..., Any]) -> None:
    """Refuse a method that cannot be called with a job alone, such as one of instances, which nobody makes."""
    wanted = inspect.signature(method)
    try:
        wanted.bind(None)
    except TypeError as error:
        text = f"{method.__qualname__}{wanted} cannot be called with the job alone: is it to be a @staticmethod?"
        raise CodeNotFound(text, "method-type") from error


def _static(owner: type, name: str) -> Any:
    """An attribute that the class or one of its bases defines; those of ``object`` do not count."""
    return next((vars(base)[name] for base in owner.__mro__[:-1] if name in vars(base)), None)
