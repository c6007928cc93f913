# SPDX-License-Identifier: MIT
"""What ties the life of a child to that of its parent, and the child's own children to it."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = ["die_with", "in_one_process", "is_suspended", "kill_group", "lead_group"]

logger = logging.getLogger("pyqless.worker")

_PR_SET_PDEATHSIG: Final = 1


def die_with(parent: int) -> None:
    """
    Let the kernel kill this process once its parent is gone, however that ends; Linux only.

    Args:
        parent: its process id; it may be gone already.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def lead_group(pid: int = 0) -> None:
    """Make a process the leader of a group: what it starts can be killed with it, and Ctrl-C does not reach it."""
    with suppress(OSError):  # parent and child both try, and either may be late
        os.setpgid(pid, pid)


def kill_group(pid: int) -> None:
    """Kill a process and all of its group."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def is_suspended(pid: int) -> bool:
    """Whether a process is stopped, as by SIGSTOP; where that cannot be told, it is not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] in ("T", "t")


@contextmanager
def in_one_process() -> Iterator[None]:
    """
    Be entered around a job's code: a process that the code forks ends where it would leave that code.

    It would go on as a second worker of the same name, and the store could not tell the two apart.
    """
    pid = os.getpid()
    try:
        yield
    except BaseException as error:
        if os.getpid() == pid:
            raise
        if not isinstance(error, SystemExit):
            logger.exception("a process that a job has forked broke")
        os._exit(1)
    if os.getpid() != pid:
        os._exit(0)
