# SPDX-License-Identifier: MIT
"""Files that are new, old, foreign, damaged, read-only or full: they work, or an error says what is wrong."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
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
from pyqless.storage.sqlite.causes import denial, free_space, lacks_space
from pyqless.storage.sqlite.faults import translated
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
    assert "it is read-only: user " in str(fault)
    assert isinstance(new, StoreRefused)
    if os.geteuid() == 0:
        assert str(fault).endswith("on a file system that is read-only")


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


@contextmanager
def filled_up(disk: Path, left: int) -> Iterator[None]:
    """Leave so many bytes free, about, as long as the context lasts."""
    filler = disk / "other"
    filler.write_bytes(b"x" * (free_space(str(filler)) or 0))
    os.truncate(filler, filler.stat().st_size - left)
    yield
    filler.unlink()


@pytest.mark.parametrize("left", [0, 4096, 24576])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_disk_that_is_full_from_the_start_is_said(disk: Path, left: int, *, is_new: bool) -> None:
    path = disk / "jobs.db"
    if not is_new:
        put_one(path, "before")
    with open_storage(url_of(path)) as storage:
        with filled_up(disk, left):
            for _ in range(2):
                with pytest.raises(StoreRefused, match="there is no space left for it") as raised:
                    call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
                assert raised.value.argument == "path"
            assert lacks_space(str(path))
        assert not lacks_space(str(path))
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)


def test_what_it_takes_to_open_a_file_is_not_taken_for_enough(disk: Path) -> None:
    """The file for shared memory has 32 KiB, and the log begins with a page or two."""
    for left, is_too_little in ((0, True), (49152, True), (131072, False)):
        with filled_up(disk, left):
            assert lacks_space(str(disk / "jobs.db")) == is_too_little


def test_a_disk_that_fails_and_has_space_left_is_no_full_one(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="its disk fails"), translated(str(path)):
        raise apsw.IOError("disk I/O error")


def test_a_full_disk_that_cannot_be_read_is_one_that_fails(disk: Path) -> None:
    error = apsw.IOError("disk I/O error")
    error.extendedresult = apsw.SQLITE_IOERR_READ  # type: ignore[attr-defined]
    with (
        filled_up(disk, 0),
        pytest.raises(StoreUnavailable, match="its disk fails"),
        translated(str(disk / "jobs.db")),
    ):
        raise error


@pytest.fixture
def shared() -> Iterator[Path]:
    """Give a directory that every user can reach."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@contextmanager
def powerless() -> Iterator[None]:
    """Be a user whom rights stop."""
    before = os.geteuid()
    os.seteuid(before or 65534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize(
    ("place", "mode", "told"),
    [
        ("jobs.db", 0o444, "it is read-only: {user} may not read and write {place}, "),
        ("jobs.db", 0o000, "it cannot be opened: {user} may not read and write {place}, "),
        ("jobs.db-wal", 0o000, "it cannot be opened: {user} may not read and write {place}, "),
        ("", 0o555, "it is read-only: {user} may not make files in {place}, "),
        ("", 0o000, "it cannot be made: {user} may not enter {place}, "),
    ],
)
def test_who_must_not_is_told_so_and_whose_it_is(
    shared: Path, place: str, mode: int, told: str
) -> None:
    path, refused = shared / "jobs.db", shared / place
    put_one(path)
    path.chmod(0o666)
    refused.touch()
    owner = pwd.getpwuid(os.geteuid())
    with open_storage(url_of(path)) as storage:
        refused.chmod(mode)
        with powerless(), pytest.raises(StoreRefused) as raised:
            call(storage, "put", NOW, "w", "q", "other", "K", "{}", 0)
        refused.chmod(0o700)
    user = pwd.getpwuid(owner.pw_uid or 65534)
    told = told.format(user=f"user {user.pw_uid} ({user.pw_name})", place=refused)
    told += f"which belongs to user {owner.pw_uid} ({owner.pw_name}), mode {mode:04o}"
    assert str(raised.value).startswith(f"{path}: {told}")


def test_what_is_not_there_is_denied_to_nobody(tmp_path: Path) -> None:
    assert denial(str(tmp_path / "missing" / "jobs.db")) is None


def test_who_must_not_make_a_file_is_told_so(shared: Path) -> None:
    shared.chmod(0o555)
    path = shared / "jobs.db"
    with open_storage(url_of(path)) as storage, powerless(), pytest.raises(StoreRefused) as raised:
        call(storage, "put", NOW, "w", "q", "jid", "K", "{}", 0)
    shared.chmod(0o700)
    assert "it cannot be made: user " in str(raised.value)
    assert f" may not make files in {shared}, which belongs to user {os.geteuid()} " in str(
        raised.value
    )


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
