# SPDX-License-Identifier: MIT
"""Texts come in the order of their bytes and each once, by way of files if they are many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.storage import ordering
from pyqless.storage.ordering import in_order

texts = st.binary(max_size=4).map(lambda data: data.decode("utf-8", "surrogateescape"))


@given(names=st.lists(texts, max_size=30), run=st.integers(1, 31))
def test_texts_are_sorted(names: list[str], run: int) -> None:
    expected = sorted({name.encode("utf-8", "surrogateescape") for name in names})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "RUN", run)
        found = list(in_order(iter(names)))
    assert [name.encode("utf-8", "surrogateescape") for name in found] == expected


def test_files_are_closed_when_nobody_reads_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "RUN", 2)
    names = in_order(str(number) for number in range(10))
    assert next(names) == "0"
    names.close()  # what was left open would be a warning, and those are errors
