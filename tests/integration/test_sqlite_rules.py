# SPDX-License-Identifier: MIT
"""Whatever is called, a file does what memory does, and the rules keep true in it what they keep true."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyqless.conformance import Target
from pyqless.storage.sqlite import keyspace
from pyqless.storage.sqlite.packing import LIST, SET, SORTED_SET
from tests.property.machines import RulesMachine, explore
from tests.sqlite_files import url_of


@pytest.mark.parametrize("fit", [None, 2], ids=["small values", "large values"])
def test_a_file_does_what_memory_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fit: int | None
) -> None:
    if fit is not None:  # so that what is small here takes the ways of what is large
        monkeypatch.setattr(keyspace, "_FIT", dict.fromkeys([LIST, SET, SORTED_SET], fit))
    with (
        Target("memory://") as memory,
        Target(url_of(tmp_path / "jobs.db", synchronous="normal")) as file,
    ):
        explore(lambda: RulesMachine(memory, file), share=0.2)
