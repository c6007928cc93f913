# SPDX-License-Identifier: MIT
"""What a server says of a failed script, and who is at fault."""

from __future__ import annotations

import re
from typing import Final

from pyqless.conformance.protocol import CommandError, InternalError

__all__ = ["script_error"]

#: How a server tells of a failed script: with the place once or twice in front (before 7.0), or in
#: front and behind. An error of Redis itself has no place of its own.
BEFORE_7: Final = re.compile(
    r"Error running script \(call to f_\w+\): @user_script:\d+: (user_script:\d+: )?(.*)", re.DOTALL
)
SINCE_7: Final = re.compile(
    r"(user_script:\d+: )?(.*) script: (?:\w{40}, )?on @user_script:\d+\.", re.DOTALL
)
#: a table that a core prints by mistake
ADDRESS: Final = re.compile(r": table: 0x[0-9a-f]+$")

#: how Lua 5.1, its cjson and its Redis interface begin when they give up
BREAKDOWNS: Final = (
    "attempt to ",
    "Attempt to modify ",
    "bad argument #",
    "too many results to unpack",
    "table index is ",
    "invalid order function",
    "invalid value ",
    "invalid key to ",
    "wrong number of arguments",
    "'for' ",
    "loop in ",
    "stack overflow",
    "not enough memory",
    "Expected ",
    "Found too many nested ",
    "Cannot serialise ",
    "Excessively sparse ",
    "Script attempted to ",
    "Lua redis lib command ",
)


def script_error(text: str) -> CommandError:
    """Make the error of a server's text for it: with the core's words alone, and known for what it is."""
    match = BEFORE_7.fullmatch(text) or SINCE_7.fullmatch(text)
    if match is None:  # not raised by the script but returned
        return CommandError(text)
    place, words = match.groups()
    if place is None or words.startswith(BREAKDOWNS):
        return InternalError(words)
    return CommandError(ADDRESS.sub("", words))
