# SPDX-License-Identifier: MIT
"""
The command table: every command of the core by its wire name, with its arguments, its rule and its reply.

A parser takes the arguments and gives the rule's transition, ready to begin; it raises what the core
would say of them. What the core finds out only after a look at the store, the rule itself raises.
"""

from __future__ import annotations

from pyqless.core.commands.table import COMMANDS, Call, call

__all__ = ["COMMANDS", "Call", "call"]
