# SPDX-License-Identifier: MIT
"""Names of channels that hold what means something in a pattern."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.storage.channels import literal, name_of

#: with all that means something in a pattern of Redis or of ``fnmatch``
NAMES = st.text(st.sampled_from("ab*?[]\\!^-\n"), max_size=6)


@given(NAMES, NAMES)
def test_a_literal_name_fits_itself_alone(name: str, other: str) -> None:
    assert fnmatchcase(name, literal(name))
    assert fnmatchcase(other, literal(name)) == (other == name)
    assert fnmatchcase(other, literal(name) + "*") == other.startswith(name)


@given(NAMES)
def test_a_literal_name_is_read_back(name: str) -> None:
    assert name_of(literal(name)) == name


@pytest.mark.parametrize("pattern", ["*", "w?", "w[1]", "[*", "[*?]", "[\\]"])
def test_a_pattern_has_no_single_name(pattern: str) -> None:
    assert name_of(pattern) is None


@pytest.mark.parametrize("name", ["ql:log", "a]b", "a\\b"])
def test_plain_names_are_names(name: str) -> None:
    assert name_of(name) == name
