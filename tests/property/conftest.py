# SPDX-License-Identifier: MIT
"""Failed assertions outside of the test modules show their values, too."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.property.invariants", "tests.property.machines")
