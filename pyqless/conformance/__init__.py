# SPDX-License-Identifier: MIT
"""The conformance kit: for those who test their qless clients and cores against these rules."""

from __future__ import annotations

from pyqless.conformance.target import Target

__all__ = ["Target"]
