# SPDX-License-Identifier: MIT
"""``python -m pyqless`` is the command ``pyqless``."""

from __future__ import annotations

from pyqless.cli import main

if __name__ == "__main__":
    main()
