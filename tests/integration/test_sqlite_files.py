# SPDX-License-Identifier: MIT
"""Files that are new, old, foreign, damaged, read-only or full: they work, or an error says what is wrong."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from pyqless.errors import (
    StorageError,
    StoreCorrupted,
    StoreRefused,
    StoreUnavailable,
    StoreUnsupported,
)
from pyqless.storage import open_storage
from pyqless.storage.sqlite import migrations
from tests.conftest import do_without
from tests.sqlite_files import (
    call,
    cannot_mount,
    mounted,
    problems,
    remount,
    url_of,
    writing,
)

NOW = 1400000000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of 4 MB."""
    if reason := cannot_mount():
        raise do_without(reason)
    with mounted(tmp_path / "disk", "4m") as disk:
        yield disk


def put_one(path: Path, jid: str = "jid") -> None:
    with open_storage(url_of(path)) as storage:
        call(storage, "put", NOW, "w", "q", jid, "K", "{}", 0)


def refusal(path: Path) -> StorageError:
    """Give the error with which a call on a file fails; it must name the file, and leave it as it is."""
    before = path.read_bytes() if path.is_file() else None
    with open_storage(url_of(path, timeout=1)) as storage, pytest.raises(StorageError) as raised:
        call(storage, "put", NOW, "w", "q", "other", "K", "{}", 0)
    assert str(path) in str(raised.value)
    assert raised.value.argument == "path"
    if before is not None:
        assert path.read_bytes() == before
    return raised.value


# -- new files --------------------------------------------------------------------------------


def test_a_file_is_made_at_the_first_call_for_its_owner_alone(path: Path) -> None:
    with open_storage(url_of(path)) as storage:
        assert not path.exists()
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
        beside = sorted(path.parent.glob("jobs.db*"))
        assert [file.name for file in beside] == ["jobs.db", "jobs.db-shm", "jobs.db-wal"]
        assert {stat.S_IMODE(file.stat().st_mode) for file in beside} == {0o600}
    assert sorted(path.parent.iterdir()) == [path]
    with open_storage(url_of(path)) as storage:
        assert call(storage, "get", NOW, "jid").fields["state"] == "waiting"


def test_nothing_is_left_of_empty_values_when_a_file_is_closed(path: Path) -> None:
    with open_storage(url_of(path)) as storage:
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
        call(storage, "pop", NOW, "q", "w", 1)
        assert empty_rows(path) == [b"ql:q:q-work"]
        assert "ql:q:q-work" not in storage.dump()
        assert {part.key for part in storage.scan()} == storage.dump().keys()
    assert empty_rows(path) == []


def test_a_file_can_be_closed_while_another_writes(path: Path) -> None:
    storage = open_storage(url_of(path))
    call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
    call(storage, "pop", NOW, "q", "w", 1)
    with writing(path):
        storage.close()
    assert empty_rows(path) == [b"ql:q:q-work"]
    with open_storage(url_of(path)) as after:
        assert "ql:q:q-work" not in after.dump()
        assert call(after, "complete", NOW, "jid", "w", "q", "{}") == "complete"
        put_one(path, "other")
        assert [job.jid for job in call(after, "pop", NOW, "q", "w", 1)] == ["other"]
    assert problems(path) == []


def empty_rows(path: Path) -> list[bytes]:
    """Give the names of the keys that have a row with nothing in it."""
    connection = apsw.Connection(str(path))
    found: list[Any] = connection.execute("SELECT name FROM key WHERE size = 0").fetchall()
    connection.close()
    return [name for (name,) in found]


def test_the_path_is_that_of_the_moment_of_opening(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_storage("sqlite:///jobs.db") as storage:
        monkeypatch.chdir("/")
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
    assert path.exists()


def test_an_empty_file_is_a_new_one(path: Path) -> None:
    path.touch()
    put_one(path)
    assert problems(path) == []


def test_a_file_says_whose_it_is_and_of_which_version(path: Path) -> None:
    put_one(path)
    connection = apsw.Connection(str(path))
    assert connection.pragma("application_id") == 0x716C6573
    assert connection.pragma("user_version") == 1
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("auto_vacuum") == 2
    connection.close()


def test_a_path_may_be_long_and_strange(tmp_path: Path) -> None:
    directory = tmp_path / ("d" * 120) / "é ü?#%&"
    directory.mkdir(parents=True)
    path = directory / "jobs?.db"
    url = "sqlite:///" + str(path).replace("%", "%25").replace("?", "%3F").replace("#", "%23")
    with open_storage(url) as storage, storage.subscribe("ql:log") as subscription:
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
        assert subscription.get(5) is not None
    assert path.exists()


# -- the library ------------------------------------------------------------------------------


def test_an_old_library_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(StoreUnsupported, match=r"3\.51\.3 or later") as raised:
        open_storage(url_of(path))
    assert raised.value.value == "3.51.2"
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.3")
    open_storage(url_of(path)).close()


# -- places where there is no file ------------------------------------------------------------


def test_a_missing_directory_is_named_with_a_hint(tmp_path: Path) -> None:
    fault = refusal(tmp_path / "missing" / "jobs.db")
    assert isinstance(fault, StoreUnavailable)
    assert f"no directory {tmp_path / 'missing'}" in str(fault)
    assert "four slashes" in str(fault)


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    assert isinstance(refusal(tmp_path), StoreUnavailable)


# -- other files ------------------------------------------------------------------------------


def test_text_is_no_database(path: Path) -> None:
    path.write_text("no database at all, but long enough to be one" * 100)
    fault = refusal(path)
    assert isinstance(fault, StoreCorrupted)
    assert "no SQLite database" in str(fault)


def test_another_program_s_database_is_left_alone(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE key (a, b)")
    connection.close()
    fault = refusal(path)
    assert isinstance(fault, StoreUnsupported)
    assert "another program's" in str(fault)


def test_a_later_release_s_file_is_left_alone(path: Path) -> None:
    put_one(path)
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 2)
    connection.close()
    fault = refusal(path)
    assert isinstance(fault, StoreUnsupported)
    assert "has version 2, this release knows 1" in str(fault)


def test_a_file_without_our_tables_is_damaged(path: Path) -> None:
    put_one(path)
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE key")
    connection.close()
    assert isinstance(refusal(path), StoreCorrupted)


# -- damage -----------------------------------------------------------------------------------


def filled(path: Path) -> int:
    """Fill a file with jobs; give its size."""
    with open_storage(url_of(path, synchronous="normal")) as storage:
        for number in range(300):
            call(storage, "put", NOW, "w", "q", f"jid{number}", "K", "{}", 0)
    return path.stat().st_size


def test_damaged_pages_are_noticed(path: Path) -> None:
    size = filled(path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with open_storage(url_of(path)) as storage, pytest.raises(StoreCorrupted) as raised:
        call(storage, "put", NOW, "w", "q", "other", "K", "{}", 0)
    assert str(path) in str(raised.value)


def test_a_file_that_was_cut_off_is_noticed(path: Path) -> None:
    size = filled(path)
    os.truncate(path, size // 2 // 4096 * 4096)
    with open_storage(url_of(path)) as storage, pytest.raises(StoreCorrupted):
        call(storage, "multiget", NOW, *(f"jid{number}" for number in range(300)))


@pytest.mark.parametrize("change", ["value = x'ff'", "value = x'c1'", "value = NULL", "kind = 9"])
def test_a_value_that_makes_no_sense_names_its_key(path: Path, change: str) -> None:
    put_one(path)
    put_one(path, "other")
    connection = apsw.Connection(str(path))
    connection.execute(f"UPDATE key SET {change} WHERE name = CAST('ql:j:jid' AS BLOB)")  # noqa: S608
    connection.close()
    with open_storage(url_of(path)) as storage:
        with pytest.raises(StoreCorrupted) as raised:
            call(storage, "get", NOW, "jid")
        assert raised.value.argument == "ql:j:jid"
        assert [job.jid for job in call(storage, "pop", NOW, "q", "w", 2)] == ["other"]
        assert storage.metrics.damaged > 0


# -- no rights, no space ----------------------------------------------------------------------


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:  # whom rights do not stop
        with mounted(tmp_path / "disk", "4m") as disk:
            put_one(disk / "jobs.db")
            remount(disk, "ro")
            fault = refusal(disk / "jobs.db")
            new = refusal(disk / "new.db")
    else:
        put_one(tmp_path / "jobs.db")
        (tmp_path / "jobs.db").chmod(0o400)
        fault = refusal(tmp_path / "jobs.db")
        tmp_path.chmod(0o500)
        new = refusal(tmp_path / "new.db")
        tmp_path.chmod(0o700)
    assert isinstance(fault, StoreRefused)
    assert "read-only" in str(fault)
    assert isinstance(new, StoreRefused)


def test_a_full_disk_is_said_and_loses_nothing(disk: Path) -> None:
    path, acknowledged = disk / "jobs.db", []
    data = '"%s"' % ("x" * 10_000)
    with open_storage(url_of(path)) as storage:

        def fill() -> None:
            for number in range(1000):
                call(storage, "put", NOW + number, "w", "q", f"jid{number}", "K", data, 0)
                acknowledged.append(f"jid{number}")

        with pytest.raises(StoreRefused, match="no space left") as raised:
            fill()
        assert raised.value.argument == "path"
        assert len(acknowledged) > 50
        assert [jid for jid in acknowledged if call(storage, "get", NOW, jid) is None] == []
        assert call(storage, "get", NOW, f"jid{len(acknowledged)}") is None
        remount(disk, "size=16m")
        call(storage, "put", NOW, "w", "q", "after", "K", data, 0)
    assert problems(path) == []
    with open_storage(url_of(path)) as storage:
        jobs = call(storage, "multiget", NOW, *acknowledged, "after")
        assert [job.jid for job in jobs] == [*acknowledged, "after"]


def test_a_disk_that_is_full_from_the_start_is_said(disk: Path) -> None:
    (disk / "other").write_bytes(b"x" * (4 * 2**20 - 8192))
    with open_storage(url_of(disk / "jobs.db")) as storage:
        for _ in range(2):
            with pytest.raises(StorageError) as raised:
                call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
            assert isinstance(raised.value, StoreRefused | StoreUnavailable)
        (disk / "other").unlink()
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)


# -- versions ---------------------------------------------------------------------------------


def test_an_older_file_is_brought_to_the_newest_version_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_one(path)
    script = "CREATE TABLE added (a INTEGER) STRICT; INSERT INTO added VALUES (1)"
    scripts = {"schema.sql": "not run again", "second.sql": script}
    monkeypatch.setattr(migrations, "SCRIPTS", tuple(scripts))
    monkeypatch.setattr(migrations, "NEWEST", 2)
    monkeypatch.setattr(migrations, "_text_of", scripts.__getitem__)
    for _ in range(2):
        put_one(path)
    connection = apsw.Connection(str(path))
    assert connection.pragma("user_version") == 2
    assert connection.execute("SELECT count(*) FROM added").get == 1
    connection.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_one(path)
    scripts = {"schema.sql": "", "second.sql": "CREATE TABLE added (a INTEGER) STRICT; nonsense"}
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "SCRIPTS", tuple(scripts))
        patched.setattr(migrations, "NEWEST", 2)
        patched.setattr(migrations, "_text_of", scripts.__getitem__)
        with open_storage(url_of(path)) as storage, pytest.raises(StoreCorrupted):
            call(storage, "get", NOW, "jid")
    put_one(path, "other")
    with open_storage(url_of(path)) as storage:
        assert {job.jid for job in call(storage, "multiget", NOW, "jid", "other")} == {
            "jid",
            "other",
        }


def test_every_script_is_there() -> None:
    assert len(migrations.SCRIPTS) == migrations.NEWEST
    for script in migrations.SCRIPTS:
        assert "CREATE" in migrations._text_of(script)
