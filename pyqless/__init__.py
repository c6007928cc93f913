# SPDX-License-Identifier: MIT
"""qless in pure Python: a job queue for Redis without Lua, and for programs without any server."""
