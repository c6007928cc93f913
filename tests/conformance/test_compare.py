# SPDX-License-Identifier: MIT
"""A core that differs is caught; one that does not is let pass."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from pyqless.conformance import LuaCore, SideBySide, Target, read_traces, replay_trace
from pyqless.conformance.compare import compare
from pyqless.errors import InvalidArgument
from tests.conftest import do_without
from tests.servers import WHEELS

#: the core that the client of 2016 carries, see ``make servers``
CORE_OF_2016: Final = WHEELS / "qless2016" / "qless" / "qless-core" / "qless.lua"
#: the published core, as a file of one's own
PUBLISHED: Final = os.environ.get("PYQLESS_LUA")

#: knows no command; so it is right about those that there are not, and wrong about all others
IGNORANT: Final = """
if not ARGV[1] then error('Must provide a command') end
error('Unknown command ' .. ARGV[1])
"""


@pytest.fixture
def pair_of_2016(lua_redis_url: str) -> Iterator[SideBySide]:
    """Run the core of 2016 and ours side by side."""
    if not CORE_OF_2016.exists():
        raise do_without("no core of 2016, see make servers")
    script = CORE_OF_2016.read_text()
    with closing(LuaCore(script, lua_redis_url)) as core, Target("memory://") as target:
        yield SideBySide(core, target)


def test_an_old_core_is_caught(pair_of_2016: SideBySide) -> None:
    """It differs from the published one in many places; each difference takes a call or two to show."""
    caught = set()
    for seed in range(12):
        calls, difference = pair_of_2016.explore(seed, 150)
        assert difference is not None, f"seed {seed}"
        assert (difference.index, difference.call) == (len(calls) - 1, calls[-1])
        smallest = pair_of_2016.smallest(calls)
        assert pair_of_2016.difference(smallest) is not None
        assert len(smallest) <= 3
        caught.add(tuple(call[0] for call in smallest))
    assert len(caught) > 2
    assert min(len(names) for names in caught) == 1


def test_a_difference_comes_as_a_trace(lua_redis_url: str, tmp_path: Path) -> None:
    script = tmp_path / "ignorant.lua"
    script.write_text(IGNORANT)
    lines: list[str] = []
    assert compare(script, lua_redis_url, seeds=[5], report=lines.append) == 1
    difference, trace, summary = lines
    assert difference.startswith("seed 5, call 0: ")
    assert summary.endswith("1 difference")
    (tmp_path / "found.jsonl").write_text(trace)
    [read] = read_traces(tmp_path / "found.jsonl")
    [op] = read.ops
    assert op.error == f"Unknown command {op.call[0]}"
    with Target("memory://") as target:
        again = replay_trace(target, read)
    assert again is not None
    assert f"seed 5, {again}" == difference


def test_there_is_an_end_after_so_many_differences(lua_redis_url: str, tmp_path: Path) -> None:
    script = tmp_path / "ignorant.lua"
    script.write_text(IGNORANT)
    lines: list[str] = []
    assert compare(script, lua_redis_url, seeds=range(100), most=3, report=lines.append) == 1
    found = [json.loads(line)["ops"] for line in lines if line.startswith("{")]
    assert len(found) == 3
    assert lines[-1].endswith("3 differences")
    # no two of a kind
    assert len({tuple(op["args"][0] for op in ops) for ops in found}) == 3


def test_a_script_that_is_not_there_is_named(lua_redis_url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"missing\.lua") as raised:
        compare(tmp_path / "missing.lua", lua_redis_url)
    assert raised.value.argument == "lua_path"


@pytest.mark.skipif(PUBLISHED is None, reason="PYQLESS_LUA names no Lua core")
@pytest.mark.parametrize("scheme", ["memory", "fakeredis"])
def test_the_published_core_does_the_same(lua_redis_url: str, scheme: str) -> None:
    assert PUBLISHED is not None
    lines: list[str] = []
    seeds = range(20 if scheme == "memory" else 2)
    status = compare(PUBLISHED, lua_redis_url, f"{scheme}://", seeds=seeds, report=lines.append)
    assert status == 0, "\n".join(lines)
