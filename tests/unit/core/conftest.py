# SPDX-License-Identifier: MIT
"""A core in memory for the examples of the rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyqless.conformance import Target


@pytest.fixture
def core() -> Iterator[Target]:
    """Give an empty core as a client on the wire sees it."""
    with Target("memory://") as target:
        yield target
