# SPDX-License-Identifier: MIT
"""The doctor on real servers: sound ones, and such as lack or forbid what pyqless needs."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from pyqless.core.commands import call
from pyqless.doctor import Check, Report, Role, Verdict, probe
from pyqless.errors import StorageError
from pyqless.storage import open_storage
from tests import servers
from tests.servers import SCRIPTING, SCRIPTING_SINCE_7, Kind, Server

StartServer = Callable[..., Server]


def found(report: Report) -> dict[str, Check]:
    assert len({check.name for check in report.checks}) == len(report.checks)
    return {check.name: check for check in report.checks}


def verdicts(report: Report) -> dict[str, str]:
    return {check.name: str(check.verdict) for check in report.checks}


@contextmanager
def overheard(server: Server) -> Iterator[list[list[str]]]:
    """Give, at the end, every command that the server has carried out meanwhile."""
    commands: list[list[str]] = []
    with server.client() as client, client.monitor() as monitor:
        begun = threading.Event()

        def listen() -> None:
            begun.set()
            for entry in monitor.listen():
                commands.append(entry["command"].split())
                if entry["command"] == "ECHO done":
                    return

        listener = threading.Thread(target=listen)
        listener.start()
        begun.wait()
        yield commands
        with server.client() as other:
            other.echo("done")
        listener.join()


def test_a_sound_server(redis_server: Server) -> None:
    report = probe(redis_server.url)
    assert report.usable
    assert verdicts(report) == {
        "server": "ok",
        "commands": "ok",
        "transactions": "ok",
        "scores": "ok",
        "messages": "ok",
        "scripting": "ok",
        "eviction": "ok",
        "memory": "ok",
        "persistence": "warning",
        "replication": "ok",
        "cluster": "ok",
        "clock": "ok",
        "data": "ok",
    }
    assert redis_server.version in found(report)["server"].seen
    assert found(report)["scripting"].seen == "not needed; forbidden to this user"
    json.dumps(report.to_json())


def test_it_writes_under_its_own_keys_and_sends_no_script(redis_server: Server) -> None:
    redis_server.flush()
    with overheard(redis_server) as commands:
        probe(redis_server.url)
    assert len(commands) > 20
    assert not {words[0].upper() for words in commands} & {*SCRIPTING, *SCRIPTING_SINCE_7}
    written = [words[1] for words in commands if words[0] in ("HSET", "ZADD", "EXPIRE", "DEL")]
    assert len(written) > 3
    assert all(key.startswith("ql:py:doctor:") for key in written)
    with redis_server.client() as client:
        assert client.keys() == []


def test_a_role_that_does_not_write_writes_nothing(redis_server: Server) -> None:
    with overheard(redis_server) as commands:
        assert probe(redis_server.url, role=Role.OBSERVER).usable
    assert not {words[0] for words in commands} & {"HSET", "ZADD", "EXPIRE", "DEL", "PUBLISH"}


@pytest.mark.parametrize("variant", ["renamed", "plain"])
def test_scripting_is_nothing_but_information(
    one_kind: Kind, start_server: StartServer, variant: str
) -> None:
    report = probe(start_server(one_kind, variant).url)
    assert report.usable
    seen = {"renamed": "the server has none", "plain": "allowed, but not used"}[variant]
    assert found(report)["scripting"].seen == f"not needed; {seen}"


@pytest.mark.parametrize("kind", ["redis62", "redis70", "valkey9"])
@pytest.mark.parametrize("command", ["WATCH", "MULTI", "EXEC", "HSET", "PUBLISH", "DISCARD"])
def test_a_server_without_a_command(start_server: StartServer, kind: Kind, command: str) -> None:
    server = start_server(kind, extra_args=("--rename-command", command, ""))
    check = found(probe(server.url))["commands"]
    assert check.verdict is Verdict.FAILURE
    assert check.seen.startswith(f"the store lacks or forbids {command}, which pyqless needs")
    with server.client() as client:
        assert client.keys() == []


@pytest.mark.parametrize("command", ["WATCH", "MULTI", "EXEC", "HSET", "PUBLISH"])
def test_the_doctor_says_what_the_driver_says(
    one_kind: Kind, start_server: StartServer, command: str
) -> None:
    server = start_server(one_kind, "plain")
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "default", f"-{command.lower()}")
    check = found(probe(server.url))["commands"]
    with open_storage(server.url) as storage, pytest.raises(StorageError) as caught:
        storage.run(call(["put", "0", "w", "q", "A", "klass", "{}", "0"]).transition, 0)
    assert check.seen == str(caught.value)
    assert command in check.seen


def test_a_full_server(redis_server: Server) -> None:
    redis_server.flush()
    with redis_server.client() as client:
        used = client.info("memory")["used_memory"]
        client.config_set("maxmemory", int(used * 1.05))
        nearly = probe(redis_server.url)
        client.config_set("maxmemory", 1)
        full = probe(redis_server.url)
        client.config_set("maxmemory", 0)
    assert verdicts(nearly)["memory"] == "warning"
    assert not full.usable
    assert found(full)["commands"].seen.startswith("the store is out of memory: OOM")
    assert "raise maxmemory" in found(full)["commands"].advice


def test_a_server_that_evicts(redis_server: Server) -> None:
    with redis_server.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        report = probe(redis_server.url)
        client.config_set("maxmemory-policy", "noeviction")
    assert report.usable
    assert verdicts(report)["eviction"] == "warning"


def test_persistence(one_kind: Kind, start_server: StartServer) -> None:
    server = start_server(one_kind)
    with server.client() as client:
        client.config_set("save", "3600 1")
        assert found(probe(server.url))["persistence"].seen.startswith("RDB alone")
        client.config_set("appendonly", "yes")
        assert found(probe(server.url))["persistence"].seen == "AOF and RDB (3600 1)"


def test_a_replica_and_its_primary(one_kind: Kind, start_server: StartServer) -> None:
    primary, replica = start_server(one_kind), start_server(one_kind)
    with primary.client() as above, replica.client() as below:
        above.config_set("repl-diskless-sync-delay", 0)
        below.replicaof("127.0.0.1", primary.port)
        until(lambda: below.info("replication")["master_link_status"] == "up")
        worker = probe(replica.url)
        observer = probe(replica.url, role=Role.OBSERVER)
        without_minimum = found(probe(primary.url))["replication"]
        above.config_set("min-replicas-to-write", 1)
        with_minimum = found(probe(primary.url))["replication"]
    assert not worker.usable
    assert found(worker)["replication"].seen == "a replica"
    assert found(worker)["commands"].seen.startswith("this is a read-only replica: READONLY")
    assert observer.usable
    assert (without_minimum.verdict, with_minimum.verdict) == (Verdict.WARNING, Verdict.OK)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_node_of_a_cluster(one_kind: Kind, start_server: StartServer) -> None:
    bus = ("--cluster-port", str(servers._free_port()))
    server = start_server(one_kind, extra_args=("--cluster-enabled", "yes", *bus))
    with server.client() as client:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        until(lambda: client.cluster("INFO")["cluster_state"] == "ok")
    scattered = probe(server.url)
    assert not scattered.usable
    assert found(scattered)["cluster"].advice.endswith("--namespace '{ql}'")
    together = probe(server.url, namespace="{ql}")
    assert together.usable
    assert verdicts(together)["cluster"] == "warning"


def test_a_password(one_kind: Kind, start_server: StartServer) -> None:
    server = start_server(one_kind, "plain")
    with server.client() as client:
        client.config_set("requirepass", "secret")
    missing = probe(server.url)
    assert not missing.usable
    assert found(missing)["commands"].seen.startswith("the store wants a password: NOAUTH")
    wrong = probe(server.url.replace("//", "//:wrong@"))
    assert verdicts(wrong) == {"connection": "failure"}
    assert found(wrong)["connection"].seen.startswith("the store does not let us in")
    right = probe(server.url.replace("//", "//:secret@"))
    assert right.usable
    assert "secret" not in json.dumps(right.to_json())


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1", "unix:///nowhere"])
def test_a_server_that_is_not_there(url: str) -> None:
    report = probe(url)
    assert not report.usable
    assert verdicts(report) == {"connection": "failure"}


@pytest.fixture
def proxy_without_multi() -> Iterator[str]:
    """Give the URL of a proxy that says OK to everything, and hangs up on MULTI."""

    class Proxy(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while head := self.rfile.readline():
                words = [self.rfile.readline() for _ in range(2 * int(head[1:]))]
                if words[1] == b"MULTI\r\n":
                    return
                self.wfile.write(b"+OK\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"redis://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_proxy_that_hangs_up(proxy_without_multi: str) -> None:
    report = probe(proxy_without_multi)
    assert not report.usable
    assert verdicts(report) == {"server": "unknown", "connection": "failure"}
    assert found(report)["connection"].seen.startswith("the connection broke over MULTI")


def test_a_connection_of_the_caller(one_redis_server: Server) -> None:
    with redis.Redis.from_url(one_redis_server.url) as client:
        report = probe(connection=client)
        assert report.usable
        assert report.url == one_redis_server.url
        assert client.ping()


def test_stores_in_this_process() -> None:
    memory = probe("memory://")
    assert verdicts(memory) == {"server": "ok", "data": "ok"}
    fake = probe("fakeredis://")
    assert fake.usable
    assert verdicts(fake)["transactions"] == "ok"
    assert found(fake)["server"].seen.startswith("fakeredis 2.")


def test_damaged_data(redis_server: Server) -> None:
    redis_server.flush()
    values: dict[Any, Any] = {"gone": 1}
    with redis_server.client() as client:
        client.zadd("ql:queues", {"q": 1})
        client.zadd("ql:q:q-work", values)
        report = probe(redis_server.url)
        assert client.zrange("ql:q:q-work", 0, -1) == [b"gone"]
    assert report.usable
    assert "job 'gone', which is not there" in found(report)["data"].seen
