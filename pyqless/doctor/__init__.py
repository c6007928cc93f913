# SPDX-License-Identifier: MIT
"""
Whether a store can be used, and with which rights; nothing here prints.

``probe``    examines a store and gives a report
``acl_line`` writes the command that gives a user the rights of a role
"""

from __future__ import annotations

from pyqless.doctor.probe import probe
from pyqless.doctor.report import Check, Report, Verdict
from pyqless.doctor.roles import RIGHTS, Rights, Role, acl_line

__all__ = ["RIGHTS", "Check", "Report", "Rights", "Role", "Verdict", "acl_line", "probe"]
