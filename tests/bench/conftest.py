# SPDX-License-Identifier: MIT
"""What the benchmarks share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.ground import Ground, open_ground
from tests.bench.opening import script
from tests.conftest import do_without
from tests.servers import Kind


@pytest.fixture
def lua_core() -> str:
    """Give the text of a Lua core."""
    try:
        return script()
    except FileNotFoundError:
        raise do_without("no Lua core, see make servers") from None


@pytest.fixture
def ground(one_kind: Kind, lua_core: str) -> Iterator[Ground]:
    """Give a server of the benchmark's own."""
    with tempfile.TemporaryDirectory() as directory, open_ground(one_kind, Path(directory)) as own:
        yield own
