# SPDX-License-Identifier: MIT
"""The process that a worker runs in: what it logs, where it looks for modules, and how it ends."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NoReturn

import typer

from pyqless.worker import ExitCode, taking
from pyqless.worker.log import JsonFormatter

__all__ = ["LogFormat", "end", "level_of", "places", "run", "set_up"]

_FORMAT: Final = "%(asctime)s %(process)d %(levelname)s %(message)s"


class LogFormat(StrEnum):
    """What a line of the log looks like."""

    TEXT = "text"
    JSON = "json"


def set_up(
    level: int,
    log_format: LogFormat,
    path: list[str],
    module: str | None = None,
    *,
    force: bool = False,
) -> None:
    """
    Prepare a process: what it logs, and where it looks for modules.

    Args:
        module: of the runner, imported since it may set up logging by itself; which has the last word.
        force: do away with how logging was set up before.
    """
    sys.path[:] = path
    handler = logging.StreamHandler()
    if log_format is LogFormat.JSON:
        handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, format=_FORMAT, handlers=[handler], force=force)
    if module is not None:
        importlib.import_module(module)


def places(named: list[Path]) -> list[str]:
    """
    Where modules are looked for before all else: where it is said, and in the current directory.

    Raises:
        typer.BadParameter: there is no such place.
    """
    for entry in named:
        if not entry.exists():
            raise typer.BadParameter(f"{str(entry)!r} does not exist", param_hint="--path")
    return [str(entry.resolve()) for entry in (*named, Path())]


def level_of(verbose: int) -> int:
    """The level of the log, by how often it is to say more, or by the variables of qless workers."""
    if verbose > 1 or os.environ.get("VVERBOSE"):
        return logging.DEBUG
    return logging.INFO if verbose or os.environ.get("VERBOSE") else logging.WARNING


def run(worker: Any) -> ExitCode:
    """Run a worker that blocks, until a signal or a limit ends it."""
    with taking(worker):
        code: ExitCode = worker.run()
        return code


def end(code: ExitCode) -> NoReturn:
    """End the process as its worker has ended."""
    if code is ExitCode.CUT_OFF:
        # threads that are still at work must not keep the process from ending
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # nobody may read it any more
                stream.flush()
        os._exit(code)
    raise typer.Exit(code)
