# SPDX-License-Identifier: MIT
"""A Lua core is seen as it is, on each kind of server; what a failed call has left behind is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pytest
import redis

from pyqless.conformance import InternalError, LuaCore
from tests.conftest import do_without
from tests.servers import KINDS, Kind, NotInstalled, Server, Variant

#: A core of a few commands, none of them of qless. Its second line is one that servers now refuse.
SCRIPT: Final = """-- a core
function table.extend(self, other)
  for _, item in ipairs(other) do table.insert(self, item) end
end
local commands = {}
function commands.fill()
  redis.call('HSET', 'ql:hash', 'a', '1', 'b', ARGV[2])
  redis.call('ZADD', 'ql:zset', 0.1, 'b', '-1.5', 'a', '+inf', 'c')
  redis.call('RPUSH', 'ql:list', 'b', 'a', 'b')
  redis.call('SADD', 'ql:set', 'b', 'a')
  redis.call('SET', 'ql:string', 'text')
  redis.call('PUBLISH', 'ql:channel', 'filled')
  return {1, 'text', false}
end
function commands.ruin()
  commands.fill()
  redis.call('HDEL', 'ql:hash', 'a')
  redis.call('ZADD', 'ql:zset', 5, 'a', 6, 'd')
  redis.call('LPUSH', 'ql:list', 'c')
  redis.call('SREM', 'ql:set', 'a')
  redis.call('DEL', 'ql:string')
  redis.call('SET', 'ql:new', 'text')
end
function commands.refuse()
  commands.ruin()
  error('Refuse(): no')
end
function commands.print_a_table()
  commands.ruin()
  error('Print(): ' .. tostring({}))
end
function commands.break_down()
  commands.ruin()
  return nothing + 1
end
function commands.misuse()
  commands.ruin()
  redis.call('LPUSH', 'ql:hash', 'a')
end
function commands.answer_an_error()
  commands.ruin()
  return redis.error_reply('My own words')
end
function commands.number() return 7.9 end
function commands.yes() return true end
function commands.no() return false end
function commands.extend()
  local all = {'a'}
  table.extend(all, {'b'})
  return all
end
function commands.echo() return ARGV end
return commands[ARGV[1]]()
"""

FILLED: Final = {
    "ql:hash": {"type": "hash", "value": {"a": "1", "b": "caf\udce9 é"}},
    "ql:zset": {"type": "zset", "value": [["a", "-1.5"], ["b", "0.1"], ["c", "inf"]]},
    "ql:list": {"type": "list", "value": ["b", "a", "b"]},
    "ql:set": {"type": "set", "value": ["a", "b"]},
    "ql:string": {"type": "string", "value": "text"},
}


@pytest.fixture(params=KINDS)
def server(
    request: pytest.FixtureRequest, shared_server: Callable[[Kind, Variant], Server]
) -> Server:
    """Repeat the test on each kind of server, scripts allowed; the database is empty."""
    try:
        server = shared_server(request.param, "plain")
    except NotInstalled as error:
        raise do_without(error) from None
    server.flush()
    return server


@pytest.fixture
def core(server: Server) -> Iterator[LuaCore]:
    core = LuaCore(SCRIPT, server.url)
    yield core
    core.close()


def test_replies_are_those_of_a_client(core: LuaCore) -> None:
    assert core.call("number") == 7
    assert core.call("yes") == 1
    assert core.call("no") is None
    assert core.call("fill", "b") == [1, "text", None]
    assert core.call("echo", "é", "caf\udce9", "") == ["echo", "é", "caf\udce9", ""]


def test_a_script_that_extends_the_global_table_loads(core: LuaCore) -> None:
    assert core.call("extend") == ["a", "b"]


def test_everything_stored_is_shown(core: LuaCore) -> None:
    assert core.snapshot() == {}
    core.call("fill", "caf\udce9 é")
    assert core.snapshot() == FILLED


def test_flush_empties_this_database_alone(core: LuaCore, server: Server) -> None:
    with redis.Redis(port=server.port, db=1) as other:
        other.set("mine", "1")
        core.call("fill", "b")
        core.flush()
        assert core.snapshot() == {}
        assert other.get("mine") == b"1"


def test_messages_are_recorded_from_then_on(core: LuaCore) -> None:
    assert core.recorded() == []
    core.call("fill", "b")
    core.record()
    assert core.recorded() == []
    core.call("fill", "b")
    core.call("fill", "b")
    assert core.recorded() == [("ql:channel", "filled"), ("ql:channel", "filled")]
    assert core.recorded() == []
    core.call("fill", "b")
    core.record()
    assert core.recorded() == []


@pytest.mark.parametrize(
    ("command", "words", "internal"),
    [
        ("refuse", "Refuse(): no", False),
        ("print_a_table", "Print()", False),
        ("answer_an_error", "My own words", False),
        ("break_down", "nothing", True),
        ("misuse", "WRONGTYPE", True),
    ],
)
def test_a_failed_call_changes_nothing(
    core: LuaCore, command: str, words: str, *, internal: bool
) -> None:
    core.call("fill", "caf\udce9 é")
    core.record()
    with pytest.raises(core.error, match=words.replace("(", r"\(").replace(")", r"\)")) as raised:
        core.call(command, "caf\udce9 é")
    assert isinstance(raised.value, InternalError) is internal
    assert "user_script" not in str(raised.value)
    assert core.recorded() == []
    assert core.snapshot() == FILLED
    # nor has anything but the picture of it stayed as it was
    core.call("number")
    assert core.snapshot() == FILLED


def test_a_table_that_is_printed_has_no_address(core: LuaCore) -> None:
    with pytest.raises(core.error) as raised:
        core.call("print_a_table", "b")
    assert str(raised.value) == "Print()"


def test_which_servers_shorten_numbers(core: LuaCore, server: Server) -> None:
    """Redis has done so since 7.2, and so has Valkey."""
    assert core.shortens_numbers is (server.kind in ("redis8", "valkey9"))


def test_a_script_that_does_not_compile_is_refused(server: Server) -> None:
    with pytest.raises(redis.ResponseError, match="compiling"):
        LuaCore("this is no Lua", server.url)
