# SPDX-License-Identifier: MIT
"""Names among the patterns that a storage listens to."""

from __future__ import annotations

import re

__all__ = ["literal", "name_of"]

#: what means something in a pattern
_special = re.compile(r"[*?[]")

#: a character that stands for itself, in brackets; within these, Redis takes a single backslash for an escape
_bracketed = re.compile(r"\[([*?[]|\\\\)\]")


def literal(name: str) -> str:
    """The pattern that only the channel of this name fits; with ``*`` behind it, those whose names begin so."""
    return _special.sub(r"[\g<0>]", name).replace("\\", r"[\\]")


def name_of(pattern: str) -> str | None:
    """The name of the only channel that a pattern fits; None if there may be others."""
    if _special.search(_bracketed.sub("", pattern)):
        return None
    return _bracketed.sub(lambda found: found[1][-1], pattern)
