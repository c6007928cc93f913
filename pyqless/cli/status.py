# SPDX-License-Identifier: MIT
"""How a command ends."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Status"]


class Status(IntEnum):
    """The exit status, for all commands the same."""

    #: what was asked for is done, or the answer is yes
    DONE = 0
    #: it could not be done, or the answer is no
    NOT_DONE = 1
    #: the command line itself is wrong
    USAGE = 2
