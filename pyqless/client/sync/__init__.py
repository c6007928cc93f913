# SPDX-License-Identifier: MIT
"""The client that blocks, with its handles: each method is a request, and the storage that runs it."""
