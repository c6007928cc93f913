# SPDX-License-Identifier: MIT
"""The logger of qless-py: it says nothing below FATAL unless its level is set, and then says it on standard error."""

from __future__ import annotations

import logging

__all__ = ["formatter", "handler", "logger"]

formatter = logging.Formatter("%(asctime)s | PID %(process)d | [%(levelname)s] %(message)s")

handler = logging.StreamHandler()
handler.setLevel(logging.DEBUG)
handler.setFormatter(formatter)

logger = logging.getLogger("qless")
logger.addHandler(handler)
logger.setLevel(logging.FATAL)
