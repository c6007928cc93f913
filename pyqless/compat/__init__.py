# SPDX-License-Identifier: MIT
"""Faces of other qless clients, for programs that were written for them; each is a module named like its client."""
