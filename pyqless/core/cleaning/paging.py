# SPDX-License-Identifier: MIT
"""How much is looked at in one transaction."""

from __future__ import annotations

__all__ = ["PAGE"]

#: how many jobs or workers
PAGE = 100
