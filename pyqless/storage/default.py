# SPDX-License-Identifier: MIT
"""
The store of those who name none, the same for programs and for the command line.

It is that of the variable ``PYQLESS_URL``, or else of ``REDIS_URL``, or else a file in the user's state directory.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pyqless.errors import InvalidArgument, StoreUnavailable

__all__ = ["VARIABLES", "default_url", "own_file"]

#: the variables that may hold the URL; the first of them that does counts
VARIABLES: Final = ("PYQLESS_URL", "REDIS_URL")


def default_url() -> str:
    """
    Choose the store.

    Raises:
        InvalidArgument: no variable names one, and files cannot be opened, since the extra ``sqlite`` is missing.
        StoreUnavailable: the state directory cannot be made.
    """
    named = (url for variable in VARIABLES if (url := os.environ.get(variable)))
    return next(named, None) or own_file()


def own_file() -> str:
    """The URL of the user's own file, whose folder is made if need be; raises as ``default_url`` does."""
    if find_spec("apsw") is None:
        text = f"url is missing: give one, or set {' or '.join(VARIABLES)}; with pyqless[sqlite] there is a file of your own"
        raise InvalidArgument(text, argument="url")
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        folder = Path(state) / "pyqless"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # the latter where there is no home
        raise StoreUnavailable(f"the state directory cannot be made: {error}") from error
    return f"sqlite:///{folder / 'queue.db'}"
