# SPDX-License-Identifier: MIT
"""
What can be asked, as plain functions that check their arguments and give a transition, ready to run.

Nothing here does I/O: a method of either client is a request and a storage that runs it.
"""
