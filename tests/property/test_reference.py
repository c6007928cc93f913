# SPDX-License-Identifier: MIT
"""The rules do what a Lua core does; it is the one whose script PYQLESS_LUA names."""

from __future__ import annotations

import math
import os
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from pyqless.conformance import Call, Comparison, Core, LuaCore, Outcome, Snapshot, Target, observe
from pyqless.core.keys import RESERVED_SUFFIXES
from tests.property.machines import RulesMachine, explore
from tests.property.sharing import LuaClient, Shared, SharedMachine

pytestmark = pytest.mark.timeout(3600)  # to make a failure small takes minutes

SCRIPT = os.environ.get("PYQLESS_LUA")


needs_script = pytest.mark.skipif(SCRIPT is None, reason="PYQLESS_LUA names no script")


@needs_script
def test_rules_are_those_of_lua(lua_redis_url: str) -> None:
    script = Path(str(SCRIPT)).read_text()
    with Target("memory://") as ours, closing(LuaCore(script, lua_redis_url)) as theirs:
        explore(lambda: ReferenceMachine(ours, theirs), share=1)


@needs_script
@pytest.mark.parametrize("is_mixed", [False, True])
def test_clients_do_together_what_lua_does_alone(lua_redis_url: str, *, is_mixed: bool) -> None:
    """They share another database, with one of Lua's clients if it is mixed."""
    script = Path(str(SCRIPT)).read_text()
    url = lua_redis_url.removesuffix("/0") + "/1"
    with ExitStack() as stack:
        theirs = stack.enter_context(closing(LuaCore(script, lua_redis_url)))
        beside = stack.enter_context(closing(LuaClient(script, url))) if is_mixed else None
        shared = stack.enter_context(closing(Shared(url, beside)))
        explore(lambda: SharedReferenceMachine(shared, theirs), share=0.5)
        assert shared.guesses


class ReferenceMachine(RulesMachine):
    """All calls but those on which the core breaks down, and those that only the core carries out."""

    def __init__(self, ours: Core, theirs: LuaCore) -> None:
        super().__init__(ours)
        theirs.flush()
        theirs.record()
        self.theirs = theirs
        self.theirs_before: Snapshot = {}
        self.comparison = Comparison(numbers=theirs.shortens_numbers)

    def leaves_out(self, call: Call) -> bool:
        return any(_is_refused(word) for word in call)

    def send(self, call: Call) -> Outcome | None:
        expected = observe(self.theirs, call)
        if expected.internal:
            return None
        got = observe(self.cores[0], call)
        assert self.comparison.findings(call, self.theirs_before, expected, got) == []
        self.theirs_before = expected.state
        return got


class SharedReferenceMachine(SharedMachine, ReferenceMachine):
    """The same calls, each of one client or another."""

    def __init__(self, shared: Shared, theirs: LuaCore) -> None:
        ReferenceMachine.__init__(self, shared, theirs)
        self.shared = shared


def _is_refused(word: str) -> bool:
    """Whether a word is a jid or a number that is refused, though the core would take it."""
    try:
        return word.endswith(RESERVED_SUFFIXES) or not math.isfinite(float(word))
    except ValueError:
        return False
