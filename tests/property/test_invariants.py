# SPDX-License-Identifier: MIT
"""What the rules keep true, whatever is called."""

from __future__ import annotations

import pytest

from pyqless.conformance import Target
from tests.property.machines import RulesMachine, explore


@pytest.mark.timeout(3600)  # to make a failure small takes minutes
def test_rules_keep_their_invariants() -> None:
    with Target("memory://") as core:
        explore(lambda: RulesMachine(core), share=3)
