# SPDX-License-Identifier: MIT
"""The servers under all other tests are the ones meant, forbid what they should, and end."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests import servers
from tests.servers import SCRIPTING, SCRIPTING_SINCE_7, NotInstalled, NotStarted, Server

StartServer = Callable[..., Server]

VERSIONS = {"redis62": "6.2.", "redis70": "7.0.", "redis8": "8.", "valkey9": "9."}

#: One well-formed call of each scripting command.
CALLS = {
    "EVAL": ("return 1", 0),
    "EVALSHA": ("0" * 40, 0),
    "SCRIPT": ("LOAD", "return 1"),
    "EVAL_RO": ("return 1", 0),
    "EVALSHA_RO": ("0" * 40, 0),
    "FUNCTION": ("LIST",),
    "FCALL": ("f", 0),
    "FCALL_RO": ("f", 0),
}


def scripting(server: Server) -> tuple[str, ...]:
    return SCRIPTING if server.kind == "redis62" else SCRIPTING + SCRIPTING_SINCE_7


def test_each_kind_is_the_version_it_says(redis_server: Server) -> None:
    assert redis_server.version.startswith(VERSIONS[redis_server.kind])


def test_each_kind_answers(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping() is True


def test_a_test_is_given_an_empty_database(
    redis_server: Server, request: pytest.FixtureRequest
) -> None:
    with redis_server.client() as client:
        client.set("left", "behind")
        request.getfixturevalue("redis_url")
        assert client.dbsize() == 0


def test_acl_forbids_all_scripting_and_nothing_else(redis_server: Server) -> None:
    with redis_server.client() as client:
        for command in scripting(redis_server):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(command, *CALLS[command])
        with client.pipeline() as transaction:
            transaction.watch("key")
            transaction.multi()
            transaction.publish("channel", "message")
            assert transaction.execute() == [0]


@pytest.mark.parametrize("kind", servers.KINDS)
def test_renamed_knows_no_scripting(kind: servers.Kind, start_server: StartServer) -> None:
    server = start_server(kind, "renamed")
    with server.client() as client:
        for command in scripting(server):
            with pytest.raises(redis.ResponseError, match=r"^unknown command"):
                client.execute_command(command, *CALLS[command])


@pytest.mark.parametrize("kind", servers.KINDS)
def test_plain_runs_lua(kind: servers.Kind, start_server: StartServer) -> None:
    with start_server(kind, "plain").client() as client:
        assert client.eval("return 1", 0) == 1


def test_the_fixture_for_a_lua_core_runs_lua(lua_redis_url: str) -> None:
    with redis.Redis.from_url(lua_redis_url) as client:
        assert client.eval("return 1", 0) == 1


def test_the_one_server_forbids_lua(one_redis_url: str) -> None:
    with (
        redis.Redis.from_url(one_redis_url) as client,
        pytest.raises(redis.exceptions.NoPermissionError),
    ):
        client.eval("return 1", 0)


def test_a_server_on_a_unix_socket_has_no_port(
    start_server: StartServer, one_kind: servers.Kind
) -> None:
    server = start_server(one_kind, unix_socket=True)
    assert server.port == 0
    with server.client() as client:
        assert client.ping() is True
        assert client.config_get("port") == {"port": "0"}


def test_a_server_with_tls_speaks_nothing_else(start_server: StartServer) -> None:
    server = start_server("redis70", tls=True)
    with server.client() as client:
        assert client.ping() is True
    with (
        redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0)) as client,
        pytest.raises(redis.ConnectionError),
    ):
        client.ping()


def test_further_arguments_reach_the_server(
    start_server: StartServer, one_kind: servers.Kind
) -> None:
    with start_server(one_kind, extra_args=("--databases", "3")).client() as client:
        assert client.config_get("databases") == {"databases": "3"}


def test_a_server_that_does_not_start_shows_its_log(
    start_server: StartServer, one_kind: servers.Kind
) -> None:
    with pytest.raises(NotStarted, match="no-such-directive"):
        start_server(one_kind, extra_args=("--no-such-directive", "1"))


def test_a_missing_server_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(servers, "WHEELS", tmp_path)
    with pytest.raises(NotInstalled, match=r"^valkey9: .*make servers"):
        servers.start("valkey9")


def test_stop_leaves_nothing(start_server: StartServer, one_kind: servers.Kind) -> None:
    server = start_server(one_kind)
    server.stop()
    assert not server.directory.exists()
    with server.client() as client, pytest.raises(redis.ConnectionError):
        client.ping()


@pytest.mark.skipif(sys.platform != "linux", reason="needs PR_SET_PDEATHSIG and pidfds")
def test_a_server_dies_with_its_killed_starter(one_kind: servers.Kind, tmp_path: Path) -> None:
    starter = textwrap.dedent(f"""
        import sys
        from tests import servers
        print(servers.start({one_kind!r}).process.pid, flush=True)
        sys.stdin.read()
    """)
    with subprocess.Popen(
        [sys.executable, "-c", starter],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        server = os.pidfd_open(int(process.stdout.readline()))
        process.kill()
    ended, _, _ = select.select([server], [], [], 10)
    os.close(server)
    assert ended == [server]
