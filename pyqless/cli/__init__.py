# SPDX-License-Identifier: MIT
"""
The command line: arguments and printing, nothing else.

``app``      the frame, and what every command shares; each other module holds one group of commands
``main``     what the script ``pyqless`` calls
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

__all__ = ["main"]

#: the exit status after Ctrl-C, as shells know it
_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """
    Run a command line, and end the process with its exit status.

    Args:
        arguments: instead of the process's own.
    """
    try:
        _load()(arguments)
    except KeyboardInterrupt:
        # while the commands are still being loaded or built: typer knows of it later on
        sys.exit(_INTERRUPTED)


def _load() -> Callable[[Sequence[str] | None], NoReturn]:
    try:
        from pyqless.cli.app import run
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] not in ("rich", "typer"):
            raise
        sys.exit("pyqless: the command line is an extra: pip install 'pyqless[cli]'")
    return run
