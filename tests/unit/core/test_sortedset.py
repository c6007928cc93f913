# SPDX-License-Identifier: MIT
"""A sorted set orders, ranks and ranges as Redis does, whatever its blocks look like inside."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.core import blocks
from pyqless.core.ranges import span
from pyqless.core.sortedset import SortedSet

Pairs = list[tuple[str, float]]

#: A member for each way in which text order and byte order can differ; those of one byte above
#: ASCII are no UTF-8 and come as surrogates, which as text sort below U+E000 and above U+D7FF.
MEMBERS = ["", "A", "a", "aa", "b", "é", "\ud7ff", "\udc80", "\udcff", "\ue000", "\U00010000"]
SCORES = [-math.inf, -2.5, 0.0, 0.1, 1.0, 2.0, 1400000000.25, math.inf]


def as_bytes(member: str) -> bytes:
    return member.encode("utf-8", "surrogateescape")


def ordered(scores: dict[str, float]) -> Pairs:
    return sorted(scores.items(), key=lambda pair: (pair[1], as_bytes(pair[0])))


def letters(text: str) -> SortedSet:
    return SortedSet((letter, float(score)) for score, letter in enumerate(text))


def names(pairs: Pairs) -> str:
    return "".join(member for member, _ in pairs)


def check_blocks(zset: SortedSet) -> None:
    """Blocks are neither overfull nor, unless the set is, empty; fences keep them apart."""
    parts, fences = zset._entries._blocks, zset._entries._fences
    assert sum(map(len, parts)) == zset._entries._size == len(zset)
    assert len(fences) == len(parts) - 1
    assert all(len(part) <= blocks._BLOCK for part in parts)
    assert all(parts) or not len(zset)
    for (left, right), fence in zip(pairwise(parts), fences, strict=True):
        assert left[-1] < fence <= right[0]


def test_scores_come_first() -> None:
    assert names(list(SortedSet([("a", 3.0), ("b", 1.0), ("c", 2.0)]).items())) == "bca"


def test_equal_scores_are_ordered_by_bytes() -> None:
    zset = SortedSet((member, 1.0) for member in reversed(MEMBERS))

    assert [member for member, _ in zset.items()] == sorted(MEMBERS, key=as_bytes)
    assert sorted(MEMBERS, key=as_bytes) != sorted(MEMBERS)


def test_add_tells_whether_the_member_is_new() -> None:
    zset = SortedSet()

    assert zset.add("a", 1.0)
    assert not zset.add("a", 1.0)
    assert not zset.add("a", 2.0)
    assert list(zset.items()) == [("a", 2.0)]


def test_remove_tells_whether_the_member_was_there() -> None:
    zset = letters("ab")

    assert zset.remove("a")
    assert not zset.remove("a")
    assert list(zset.items()) == [("b", 1.0)]
    assert zset.remove("b")
    assert len(zset) == 0


def test_score() -> None:
    zset = SortedSet([("a", 1.5), ("a", 2.5)])

    assert zset.score("a") == 2.5
    assert zset.score("b") is None


def test_negative_zero_is_kept_as_zero() -> None:
    zset = SortedSet([("b", 0.0), ("a", -0.0)])

    assert [(member, str(score)) for member, score in zset.items()] == [("a", "0.0"), ("b", "0.0")]


def test_an_integer_becomes_a_float() -> None:
    assert repr(SortedSet([("a", 1)])) == "SortedSet([('a', 1.0)])"


@pytest.mark.parametrize(("member", "score"), [("a", math.nan), ("\ud800", 1.0)])
def test_what_is_refused_changes_nothing(member: str, score: float) -> None:
    zset = letters("ab")

    with pytest.raises(ValueError, match=r"not a number|surrogates not allowed"):
        zset.add(member, score)
    assert list(zset.items()) == [("a", 0.0), ("b", 1.0)]
    assert zset.score(member) == (0.0 if member == "a" else None)


@pytest.mark.parametrize(
    ("start", "stop", "forwards", "backwards"),
    [
        (0, -1, "abcde", "edcba"),
        (0, 0, "a", "e"),
        (1, 3, "bcd", "dcb"),
        (-1, -1, "e", "a"),
        (-3, -2, "cd", "cb"),
        (-99, 1, "ab", "ed"),
        (3, 99, "de", "ba"),
        (0, -2, "abcd", "edcb"),
        (3, 2, "", ""),
        (5, 5, "", ""),
        (-2, -3, "", ""),
        (0, -6, "", ""),
        (-99, -99, "", ""),
    ],
)
def test_range(start: int, stop: int, forwards: str, backwards: str) -> None:
    assert names(letters("abcde").range(start, stop)) == forwards
    assert names(letters("abcde").range(start, stop, reverse=True)) == backwards


def test_range_gives_scores() -> None:
    assert letters("abc").range(1, 2, reverse=True) == [("b", 1.0), ("a", 0.0)]


@pytest.mark.parametrize(
    ("lo", "hi", "offset", "count", "forwards", "backwards"),
    [
        (1, 3, 0, -1, "bcd", "dcb"),
        (-math.inf, math.inf, 0, -1, "abcde", "edcba"),
        (0.5, 2.5, 0, -1, "bc", "cb"),
        (4, math.inf, 0, -1, "e", "e"),
        (-math.inf, 0, 0, -1, "a", "a"),
        (3, 1, 0, -1, "", ""),
        (1.2, 1.8, 0, -1, "", ""),
        (0, 4, 1, 2, "bc", "dc"),
        (0, 4, 0, 0, "", ""),
        (0, 4, 3, 99, "de", "ba"),
        (0, 4, 5, 1, "", ""),
        (0, 4, 2, -7, "cde", "cba"),
        (0, 4, -1, 2, "", ""),
        (0, 4, -1, -1, "", ""),
    ],
)
def test_by_score(
    lo: float, hi: float, offset: int, count: int, forwards: str, backwards: str
) -> None:
    zset = letters("abcde")

    assert names(zset.by_score(lo, hi, offset, count)) == forwards
    assert names(zset.by_score(lo, hi, offset, count, reverse=True)) == backwards


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [(1, 3, 3), (-math.inf, math.inf, 5), (3, 1, 0), (1.2, 1.8, 0), (4, 9, 1)],
)
def test_count(lo: float, hi: float, expected: int) -> None:
    assert letters("abcde").count(lo, hi) == expected


def test_infinite_scores_are_scores() -> None:
    zset = SortedSet([("up", math.inf), ("down", -math.inf), ("mid", 0.0), ("also", math.inf)])

    assert [member for member, _ in zset.items()] == ["down", "mid", "also", "up"]
    assert zset.count(math.inf, math.inf) == 2
    assert zset.count(-math.inf, -math.inf) == 1


def test_a_copy_is_independent() -> None:
    zset = letters("abc")
    twin = zset.copy()
    twin.add("d", 3.0)
    zset.remove("a")

    assert names(list(zset.items())) == "bc"
    assert names(list(twin.items())) == "abcd"


def test_a_cleared_set_is_as_new() -> None:
    zset = SortedSet((str(number), float(number)) for number in range(3 * blocks._BLOCK))
    zset.clear()

    assert len(zset) == 0
    assert zset.range(0, -1) == []
    assert zset.add("a", 1.0)
    check_blocks(zset)


@pytest.mark.parametrize("step", [1, -1], ids=["rising", "falling"])
def test_many_members_at_either_end(step: int) -> None:
    total = 4 * blocks._BLOCK
    zset = SortedSet((f"{number:x}", float(step * number)) for number in range(total))
    check_blocks(zset)
    expected = ordered({f"{number:x}": float(step * number) for number in range(total)})

    assert list(zset.items()) == expected
    assert zset.range(0, 2) == expected[:3]
    assert zset.range(0, 2, reverse=True) == expected[:-4:-1]
    assert zset.range(2000, 2001) == expected[2000:2002]
    assert zset.range(-1300, 2999) == expected[-1300:3000]

    for number in range(total - 5):
        assert zset.remove(f"{number:x}")
    check_blocks(zset)
    assert len(zset._entries._blocks) == 1
    assert dict(zset.items()) == {f"{n:x}": float(step * n) for n in range(total - 5, total)}


@given(
    changes=st.lists(
        st.tuples(
            st.one_of(st.sampled_from(MEMBERS), st.text("ab", max_size=3)),
            st.one_of(st.sampled_from([*SCORES, None]), st.integers(-3, 3)),
        ),
        max_size=80,
    ),
    block=st.sampled_from([4, 5, 8]),
)
def test_agrees_with_a_sorted_dict(changes: list[tuple[str, float | None]], block: int) -> None:
    model: dict[str, float] = {}
    zset = SortedSet()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_BLOCK", block)
        for member, score in changes:
            if score is None:
                assert zset.remove(member) == (model.pop(member, None) is not None)
            else:
                assert zset.add(member, score) == (member not in model)
                model[member] = float(score)
            check_blocks(zset)

    expected = ordered(model)
    assert list(zset.items()) == expected
    assert len(zset) == len(expected)
    assert [zset.range(rank, rank) for rank in range(len(expected))] == [
        [pair] for pair in expected
    ]
    for lo in SCORES:
        for hi in SCORES:
            within = [pair for pair in expected if lo <= pair[1] <= hi]
            assert zset.by_score(lo, hi) == within
            assert zset.by_score(lo, hi, reverse=True) == within[::-1]
            assert zset.by_score(lo, hi, 1, 3) == within[1:4]
            assert zset.by_score(lo, hi, 1, 3, reverse=True) == within[::-1][1:4]
            assert zset.count(lo, hi) == len(within)


@pytest.mark.parametrize(
    ("start", "stop", "length", "expected"),
    [
        (0, -1, 3, (0, 3)),
        (0, -1, 0, (0, 0)),
        (-2, 99, 3, (1, 3)),
        (2, 1, 3, (2, 2)),
        (9, 9, 3, (3, 3)),
        (-9, -9, 3, (0, 0)),
    ],
)
def test_span(start: int, stop: int, length: int, expected: tuple[int, int]) -> None:
    assert span(start, stop, length) == expected
