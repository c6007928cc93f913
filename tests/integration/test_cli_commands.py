# SPDX-License-Identifier: MIT
"""Each command on a real store: that it does its part, for machines, too, and what it says when it cannot."""

from __future__ import annotations

import io
import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from pyqless.cli import main
from pyqless.client import Client
from pyqless.doctor import Role
from pyqless.storage.redis import RedisStorage
from tests.cli_reference import commands, parameters
from tests.integration.conftest import UrlOf
from tests.servers import Server

#: a call of each command that succeeds on the store below; URL stands for that store's
LINES: Final = {
    "put": "put q a.B --jid new",
    "pop": "pop q",
    "peek": "peek q",
    "complete": "complete running --worker w",
    "fail": "fail running oops no --worker w",
    "heartbeat": "heartbeat running --worker w",
    "jobs": "jobs --queue q",
    "job": "job j",
    "queues": "queues",
    "failed": "failed oops",
    "retry": "retry f",
    "unfail": "unfail q oops",
    "cancel": "cancel j",
    "move": "move other j",
    "workers": "workers w",
    "stats": "stats",
    "events": "events log --count 1",
    "top": "top",
    "janitor": "janitor --deep",
    "doctor": "doctor",
    "dump": "dump",
    "load": "load --merge",
    "diff": "diff URL URL",
    "queue pause": "queue pause q",
    "queue unpause": "queue unpause q",
    "queue forget": "queue forget empty",
    "queue stats": "queue stats q",
    "tag add": "tag add j blue",
    "tag remove": "tag remove j red",
    "tag top": "tag top",
    "track add": "track add j",
    "track remove": "track remove j",
    "track list": "track list",
    "recur put": "recur put q a.B 15m",
    "recur list": "recur list q",
    "recur show": "recur show r",
    "recur update": "recur update r --every 1h",
    "recur cancel": "recur cancel r",
    "config list": "config list",
    "config get": "config get heartbeat",
    "config set": "config set heartbeat 90",
    "config unset": "config unset heartbeat",
}

#: those that never end, need a server of another kind, or no store at all: they have tests of their own
ELSEWHERE: Final = {"worker", "conformance replay", "conformance compare"}

#: those that name a job; in its place stands one that is not there
WITH_JIDS: Final = {
    name: line.replace(f" {jid}", " nowhere", 1)
    for name, line in LINES.items()
    for jid in ("j", "f", "r", "running")
    if f" {jid} " in f"{line} "
}

Cli = Callable[..., tuple[object, str, str]]


class Pipe(io.TextIOWrapper):
    """A stream of text and of bytes, as the process has them; bytes that are no text survive."""

    def __init__(self, content: bytes = b"") -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8", write_through=True)

    @property
    def text(self) -> str:
        kept = self.buffer
        assert isinstance(kept, io.BytesIO)
        return kept.getvalue().decode(errors="surrogateescape")


@pytest.fixture
def cli(one_redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command line in this process, on the server unless another URL is given."""
    monkeypatch.setenv("COLUMNS", "200")

    def cli(line: str, url: str = one_redis_url, given: str = "") -> tuple[object, str, str]:
        monkeypatch.setenv("PYQLESS_URL", url)
        out, err = Pipe(), Pipe()
        monkeypatch.setattr(sys, "stdin", Pipe(given.encode(errors="surrogateescape")))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as end:
            main(shlex.split(line.replace("URL", url)))
        return end.value.code, out.text, err.text

    return cli


@pytest.fixture
def client(one_redis_url: str) -> Iterator[Client]:
    """Fill the store with something of each kind."""
    with Client(one_redis_url, worker_name="w") as client:
        queue = client.queues["q"]
        queue.put("a.B", jid="f", priority=9)
        queue.put("a.B", jid="running", priority=8)
        failing, _ = queue.pop(2)
        failing.fail("oops", "no")
        queue.put("a.B", jid="j", tags=["red"])
        queue.put("a.B", jid="k", tags=["red"])
        queue.recur("a.B", {}, 900, jid="r", offset=900)
        client.queues["empty"].put("a.B", jid="gone")
        client.jobs["gone"].cancel()
        yield client


@pytest.fixture
def noise(client: Client) -> Iterator[None]:
    """Let something happen, so that there is something to follow."""
    over = threading.Event()

    def make() -> None:
        while not over.wait(0.02):
            client.config["noise"] = 1

    thread = threading.Thread(target=make)
    thread.start()
    yield
    over.set()
    thread.join()


def test_each_command_has_a_line() -> None:
    names = {" ".join(names) for names, _ in commands()}
    assert LINES.keys() | ELSEWHERE == names


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", LINES)
def test_it_does_its_part(cli: Cli, request: pytest.FixtureRequest, name: str) -> None:
    if name == "events":
        request.getfixturevalue("noise")
    given = cli("dump")[1] if name == "load" else ""
    status, out, err = cli(LINES[name], given=given)
    assert status == 0, err
    assert "Traceback" not in out + err
    assert "pyqless: " not in err.replace("pyqless: listening\n", "")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    "name",
    [
        " ".join(names)
        for names, function in commands()
        if any(parameter.name == "as_json" for parameter in parameters(function))
    ],
)
def test_it_speaks_to_machines(cli: Cli, request: pytest.FixtureRequest, name: str) -> None:
    if name == "events":
        request.getfixturevalue("noise")
    status, out, _ = cli(f"{LINES[name]} --json")
    assert status == 0
    assert isinstance(json.loads(out), dict | list | int)


@pytest.mark.parametrize("name", LINES)
def test_it_explains_itself(cli: Cli, name: str) -> None:
    status, out, _ = cli(f"{name} --help")
    assert status == 0
    assert f"Usage: pyqless {name}" in out


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", sorted(LINES.keys() - {"events", "janitor", "load"}))
def test_it_looks_before_it_changes_anything(
    cli: Cli, client: Client, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    usual, writes = RedisStorage.run, list[bool]()

    def run(self: RedisStorage, *arguments: Any) -> Any:
        if self is client.storage:  # which dumps
            return usual(self, *arguments)
        before = client.storage.dump()
        answer = usual(self, *arguments)
        writes.append(client.storage.dump() != before)
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(RedisStorage, "run", run)
        assert cli(LINES[name])[0] == 0
    # who may write but not look would be told of a failure, and it would be done all the same
    assert writes == sorted(writes)


# -- with the rights of a role ----------------------------------------------------------------

#: what programs and people of a role do
OF_ROLES: Final = {
    Role.PRODUCER: (
        *("put", "job", "cancel", "move", "recur put", "recur show", "recur update"),
        *("recur cancel", "tag add", "tag remove", "track add", "track remove"),
        *("config list", "config get"),
    ),
    Role.WORKER: ("pop", "peek", "complete", "fail", "heartbeat"),
    Role.OBSERVER: (
        *("peek", "jobs", "job", "queues", "failed", "workers", "stats", "top"),
        *("queue stats", "tag top", "track list", "recur list", "recur show"),
        *("config list", "config get"),
    ),
    # the doctor asks for more than it needs, and events come from elsewhere
    Role.OPERATOR: tuple(LINES.keys() - {"doctor", "events"}),
}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("role", OF_ROLES)
def test_the_rights_of_a_role_are_enough_for_its_commands(
    cli: Cli, url_of: UrlOf, role: Role
) -> None:
    url, given = url_of(role), cli("dump")[1]
    for name in OF_ROLES[role]:
        cli("load --replace", given=given)
        status, _, err = cli(LINES[name], url=url, given=given)
        assert status == 0, f"{name}: {err}"


# -- what goes wrong --------------------------------------------------------------------------


def require_one_line(name: str, told: tuple[object, str, str]) -> None:
    """The doctor's answer is a report, that of others is one line on stderr."""
    status, out, err = told
    assert status == 1
    assert "Traceback" not in out + err
    assert "s3cret" not in out + err
    if name == "doctor":
        assert "not usable" in out
        return
    assert out == ""
    assert err.startswith("pyqless: ")
    assert err.count("\n") == 1


@pytest.fixture
def powerless(one_redis_server: Server) -> Iterator[str]:
    """Give the URL of a user without any rights."""
    with one_redis_server.client() as admin:
        admin.execute_command("ACL", "SETUSER", "nobody", "on", ">s3cret", "-@all")
        yield f"redis://nobody:s3cret@127.0.0.1:{one_redis_server.port}/0"
        admin.execute_command("ACL", "DELUSER", "nobody")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", LINES)
def test_a_store_that_is_away(cli: Cli, name: str) -> None:
    given = cli("dump")[1] if name == "load" else ""
    url = "redis://ann:s3cret@127.0.0.1:1/0"
    require_one_line(name, cli(LINES[name], url=url, given=given))


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", LINES)
def test_no_permission(cli: Cli, powerless: str, name: str) -> None:
    given = cli("dump")[1] if name == "load" else ""
    require_one_line(name, cli(LINES[name], url=powerless, given=given))


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", LINES)
def test_a_wrong_password(cli: Cli, powerless: str, name: str) -> None:
    given = cli("dump")[1] if name == "load" else ""
    url = powerless.replace("s3cret", "wr0ng-s3cret")
    require_one_line(name, cli(LINES[name], url=url, given=given))


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", WITH_JIDS)
def test_a_job_that_is_not_there(cli: Cli, name: str) -> None:
    told = cli(WITH_JIDS[name])
    require_one_line(name, told)
    assert "'nowhere'" in told[2]


def test_jids_are_looked_for_wherever_they_can_be_named() -> None:
    takers = {
        " ".join(names)
        for names, function in commands()
        if any(each.switch.strip("[").startswith("JID") for each in parameters(function))
    }
    assert takers == WITH_JIDS.keys()
