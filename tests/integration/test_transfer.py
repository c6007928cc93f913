# SPDX-License-Identifier: MIT
"""Everything that qless keeps, moved from a Redis into every other storage and back."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from pyqless.conformance import Target, Trace, read_traces, replay_trace
from pyqless.core import commands
from pyqless.core.effects import Command
from pyqless.core.replies import Reply
from pyqless.errors import InvalidArgument, StoreCorrupted
from pyqless.storage import Storage, open_storage, transfer
from pyqless.storage.parts import Part
from pyqless.storage.redis import scanning
from tests.servers import Server

#: a job in every state, and whatever else there is: recurring, tracked, tagged, paused, counted
CALLS: Final = """
config.set 0 grace-period 10
config.set 0 ql:heartbeat 60
put 100 w main waiting klass '{"a": "\u00e9"}' 0 priority 5 tags '["a", "b"]' retries 3
put 101 w main delayed klass {} 1000
put 102 w main running klass {} 0 priority 9
put 102 w main stalled klass {} 0 priority 8
put 102 w main failed klass {} 0 priority 7
put 102 w main complete klass {} 0 priority 6
put 103 w main depending klass {} 0 depends '["waiting", "delayed"]'
put 103 w other moved klass {} 0
recur 104 main recurring klass {} interval 60 0 tags '["c"]'
recur 104 main later klass {} interval 60 500
track 105 track waiting
track 105 track delayed
pop 110 main a 4
fail 120 failed a group 'all is lost' {}
complete 121 complete a main {}
pop 170 other b 1
heartbeat 175 moved b {}
pop 190 main b 1
timeout 191 stalled
pause 192 other
unpause 192 main
worker.deregister 193 nobody
"""

TRACES: Final = Path(__file__).parent.parent / "conformance/data/qless-core.jsonl.gz"

STATES: Final = {"waiting", "scheduled", "running", "stalled", "failed", "complete", "depends"}


def call(storage: Storage, *words: str) -> Reply:
    """Send a command as a client on the wire does."""
    wanted = commands.call(words)
    return wanted.render(storage.run(wanted.transition, wanted.now))


@pytest.fixture
def source(redis_url: str) -> Iterator[Storage]:
    """A Redis with all of that."""
    with open_storage(redis_url) as storage:
        for line in CALLS.strip().splitlines():
            call(storage, *shlex.split(line))
        yield storage


@pytest.fixture(params=["memory", "fakeredis", "sqlite", "redis"])
def target(
    request: pytest.FixtureRequest, tmp_path: Path, redis_server: Server
) -> Iterator[Storage]:
    """Each storage in turn, empty; of the Redis itself another database."""
    database = redis_server.url.removesuffix("/0") + "/1"
    urls = {"redis": database, "sqlite": f"sqlite:///{tmp_path}/jobs.db"}
    try:
        storage = open_storage(urls.get(request.param, f"{request.param}://"))
    except InvalidArgument:
        pytest.skip(f"no storage yet for {request.param}://")
    with storage:
        yield storage
        storage.flush()


def moved(source: Storage, target: Storage) -> None:
    file = io.BytesIO()
    transfer.dump(source, file)
    transfer.load(target, file)


def test_every_kind_of_job_is_there(source: Storage) -> None:
    dump = source.dump()
    jobs = [
        entry["value"]
        for key, entry in dump.items()
        if key.startswith("ql:j:") and entry["type"] == "hash"
    ]
    assert {job["state"] for job in jobs} == STATES
    kinds = {key.split(":")[1].partition("-")[0] for key in dump}
    assert kinds >= {"j", "r", "q", "f", "t", "s", "w", "config", "failures", "queues", "tags"}
    assert kinds >= {"tracked", "workers", "completed", "paused_queues"}


def test_there_and_back(source: Storage, target: Storage, redis_server: Server) -> None:
    before = source.dump()
    moved(source, target)
    assert target.dump() == before
    assert list(transfer.diff(source, target)) == []
    with open_storage(redis_server.url.removesuffix("/0") + "/2") as third:
        third.flush()
        moved(target, third)
        assert third.dump() == before


def test_work_goes_on_where_it_was_moved(source: Storage, target: Storage) -> None:
    moved(source, target)
    for line in (
        ("pop", "2000", "main", "c", "9"),
        ("queues", "2000"),
        ("jobs", "2000", "complete"),
    ):
        answers = [call(storage, *line) for storage in (source, target)]
        assert answers[0] == answers[1]
        assert answers[0]
    assert list(transfer.diff(source, target)) == []


def test_what_is_large_is_scanned_whole(one_redis_url: str) -> None:
    names = tuple(f"{number:05}" for number in range(2500))
    large = [
        Part("ql:hash", "hash", tuple((name, name) for name in names)),
        Part("ql:list", "list", names),
        Part("ql:set", "set", names),
        Part("ql:zset", "zset", tuple((name, float(name)) for name in names)),
    ]
    many = [Part(f"ql:{name}", "string", (name,)) for name in names]
    with open_storage(one_redis_url) as source, open_storage("memory://") as target:
        source.restore([*large, *many])
        moved(source, target)
        assert target.dump() == source.dump()
        assert len(target.dump()) == 2504


def test_a_type_that_is_none_of_ours_is_named(one_redis_server: Server, one_redis_url: str) -> None:
    with one_redis_server.client() as client:
        client.xadd("ql:stream", {"a": "1"})
    with open_storage(one_redis_url) as source, pytest.raises(StoreCorrupted) as caught:
        transfer.dump(source, io.BytesIO())
    assert (caught.value.argument, caught.value.value) == ("ql:stream", "stream")


def test_what_goes_away_during_a_scan_is_left_out(
    one_redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(key: str, kind: str, start: int) -> Command:
        with open_storage(one_redis_url) as other:
            other.clear()
        return look(key, kind, start)

    look = scanning._read
    monkeypatch.setattr(scanning, "_read", read)
    with open_storage(one_redis_url) as source:
        source.restore(
            [
                Part("ql:hash", "hash", (("a", "1"),)),
                Part("ql:list", "list", ("a",)),
                Part("ql:set", "set", ("a",)),
                Part("ql:string", "string", ("a",)),
                Part("ql:zset", "zset", (("a", 1.0),)),
            ]
        )
        assert list(source.scan()) == []


@pytest.mark.parametrize("trace", list(read_traces(TRACES))[:8], ids=lambda trace: str(trace.seed))
def test_what_recorded_calls_have_left_is_moved(trace: Trace, one_redis_url: str) -> None:
    url = f"memory://moved-{trace.seed}"
    with Target(url) as core:
        assert replay_trace(core, trace) is None
    with open_storage(url) as source, open_storage(one_redis_url) as target:
        moved(source, target)
        assert target.dump() == source.dump() != {}
        assert list(transfer.diff(target, source)) == []
        target.flush()


def test_a_redis_cannot_show_one_instant(one_redis_url: str) -> None:
    with open_storage(one_redis_url) as source:
        header, _ = transfer.dump(source, io.BytesIO())
    assert header.one_instant is False
    assert header.namespace == "ql"


# -- many jobs --------------------------------------------------------------------------------

JOBS: Final = 100_000
#: bytes that a process may take: its code does already with half of it
MEMORY: Final = 120 << 20

#: the command line, which tells at its end how much memory it has taken at most
MEASURED: Final = """
import sys
from pyqless.cli import main
try:
    main()
finally:
    print(open("/proc/self/status").read(), file=sys.stderr)
"""


def many_jobs() -> Iterator[Part]:
    data = json.dumps({"padding": "x" * 1000})
    for number in range(JOBS):
        fields = {
            "jid": f"{number:032}",
            "klass": "k",
            "state": "waiting",
            "queue": "q",
            "data": data,
        }
        yield Part(f"ql:j:{number:032}", "hash", tuple(sorted(fields.items())))
        yield Part(f"ql:j:{number:032}-history", "list", ('{"what":"put","when":100}',))
        yield Part("ql:q:q-work", "zset", ((f"{number:032}", float(-number)),))
        yield Part("ql:failed:f", "list", (f"{number:032}",))


def measured(*arguments: str, **files: Any) -> int:
    """Run the command line; give the most memory that it has taken, bytes."""
    line = [sys.executable, "-c", MEASURED, *arguments]
    told = subprocess.run(line, stderr=subprocess.PIPE, text=True, check=True, **files).stderr
    found = re.search(r"^VmHWM:\s+(\d+) kB$", told, re.MULTILINE)
    assert found is not None
    return int(found[1]) << 10


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["redis", "sqlite"])
def test_many_jobs_take_little_memory(kind: str, one_redis_url: str, tmp_path: Path) -> None:
    database = one_redis_url.removesuffix("/0") + "/1"
    target = database if kind == "redis" else f"sqlite:///{tmp_path}/jobs.db"
    back = tmp_path / "back"
    with open_storage(one_redis_url) as source:
        source.restore(many_jobs())
    with (tmp_path / "dump").open("w+b") as file:
        assert measured("dump", one_redis_url, stdout=file) < MEMORY
        size = file.seek(0, 2)
        assert size > MEMORY
        file.seek(0)
        assert measured("load", target, stdin=file) < MEMORY
    assert measured("diff", one_redis_url, target) < MEMORY
    with back.open("wb") as file:
        assert measured("dump", target, stdout=file) < MEMORY
    assert back.stat().st_size == size
