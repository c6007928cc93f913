# SPDX-License-Identifier: MIT
"""Files that are deleted or replaced while they are open, and backups that are restored."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from pyqless.errors import StoreUnavailable
from pyqless.storage import Storage, open_async_storage, open_storage
from pyqless.storage.subscriptions import GAP, Message
from tests.sqlite_files import call, problems, start, url_of

NOW = 1400000000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def storage(path: Path) -> Iterator[Storage]:
    """Give a storage that has the file open, with a job."""
    with open_storage(url_of(path, timeout=5)) as storage:
        put(storage, "old")
        yield storage


def put(storage: Storage, jid: str) -> None:
    call(storage, "put", NOW, "w", "q", jid, "K", "{}", 0)


def has(storage: Storage, jid: str) -> bool:
    return call(storage, "get", NOW, jid) is not None


def another(path: Path, jid: str) -> Path:
    """Make a file beside, with a job."""
    beside = path.with_name(f"{jid}.db")
    with open_storage(url_of(beside)) as storage:
        put(storage, jid)
    return beside


def remove_log(path: Path) -> None:
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink()


def replace(path: Path, jid: str) -> None:
    """Put another file, with a job, in the place of one, and leave nothing of that."""
    new = another(path, jid)
    remove_log(path)
    new.rename(path)


def back_up(path: Path, copy: Path) -> None:
    """As the manual says."""
    connection = apsw.Connection(str(path))
    connection.execute("VACUUM INTO ?", (str(copy),))
    connection.close()


# -- deleted ----------------------------------------------------------------------------------


def test_a_file_that_was_deleted_is_told_until_there_is_another(
    path: Path, storage: Storage
) -> None:
    path.unlink()
    for work in (lambda: put(storage, "new"), lambda: has(storage, "old")):
        with pytest.raises(StoreUnavailable, match="was deleted or moved away") as raised:
            work()
        assert raised.value.value == str(path)
    assert not path.exists()
    with open_storage(url_of(path)) as other:
        put(other, "theirs")
        assert has(storage, "theirs")
        put(storage, "ours")
        assert has(other, "ours")
        assert not has(storage, "old")
    assert problems(path) == []


def test_who_needs_a_further_lane_makes_no_file_either(path: Path, storage: Storage) -> None:
    parts = storage.scan()
    next(parts)
    path.unlink()
    with pytest.raises(StoreUnavailable, match="was deleted"):
        has(storage, "old")
    assert list(parts)  # who is in the middle comes to its end
    assert not path.exists()


def test_a_forked_process_makes_no_file_either(path: Path, storage: Storage) -> None:
    path.unlink()
    if (child := os.fork()) == 0:  # pragma: no cover - the child's
        with contextlib.suppress(StoreUnavailable):
            put(storage, "child")
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert not path.exists()


def test_a_directory_that_was_deleted_is_told(path: Path, storage: Storage) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    with pytest.raises(StoreUnavailable, match="was deleted or moved away"):
        put(storage, "new")
    path.parent.with_name("elsewhere").rename(path.parent)
    assert has(storage, "old")


def test_a_file_that_is_closed_when_it_is_gone_leaves_others_alone(
    path: Path, storage: Storage
) -> None:
    call(storage, "pop", NOW, "q", "w", 1)
    path.unlink()
    with open_storage(url_of(path)) as other:
        put(other, "theirs")
        storage.close()
        assert path.with_name("jobs.db-wal").stat().st_size
        assert has(other, "theirs")
    assert problems(path) == []


# -- replaced ---------------------------------------------------------------------------------


def test_a_file_that_is_put_in_its_place_is_opened(path: Path, storage: Storage) -> None:
    replace(path, "new")
    put(storage, "more")
    assert has(storage, "new")
    assert not has(storage, "old")
    with open_storage(url_of(path)) as other:
        assert has(other, "more")
    assert problems(path) == []


def test_the_log_of_the_former_file_is_not_written_into_it(path: Path, storage: Storage) -> None:
    new = another(path, "new")
    held = new.read_bytes()
    new.rename(path)
    for work in (lambda: put(storage, "more"), lambda: has(storage, "new")):
        with pytest.raises(StoreUnavailable, match="-wal is the former one's"):
            work()
    assert path.read_bytes() == held
    remove_log(path)
    put(storage, "more")
    assert has(storage, "new")
    assert problems(path) == []


def test_not_even_where_the_former_one_is_in_use(path: Path, storage: Storage) -> None:
    parts = storage.scan()
    next(parts)
    another(path, "new").rename(path)
    with pytest.raises(StoreUnavailable, match="-wal is the former one's"):
        has(storage, "new")
    parts.close()


def test_the_former_one_is_left_alone_when_all_is_closed(path: Path, storage: Storage) -> None:
    call(storage, "pop", NOW, "q", "w", 1)
    new = another(path, "new")
    log = path.with_name("jobs.db-wal")
    held = new.read_bytes(), log.read_bytes()
    new.rename(path)
    storage.close()
    assert (path.read_bytes(), log.read_bytes()) == held


def test_lanes_that_were_in_use_meanwhile_are_not_used_again(path: Path, storage: Storage) -> None:
    parts = storage.scan()
    next(parts)
    replace(path, "new")
    assert has(storage, "new")
    parts.close()
    assert all(has(storage, "new") for _ in range(3))
    put(storage, "more")
    assert {name for part in storage.scan() if (name := part.key).startswith("ql:j:")} >= {
        "ql:j:more"
    }
    assert not has(storage, "old")


def test_who_listens_hears_of_the_new_file_and_that_something_was_missed(
    path: Path, storage: Storage
) -> None:
    with storage.subscribe("ql:log") as subscription:
        replace(path, "new")
        with open_storage(url_of(path)) as other:
            assert subscription.get(5) is GAP
            put(other, "more")
            assert isinstance(subscription.get(5), Message)


async def test_who_listens_with_asyncio_hears_of_it_too(path: Path) -> None:
    storage = open_async_storage(url_of(path))
    subscription = await storage.subscribe("ql:log")
    await asyncio.to_thread(path.unlink)
    with pytest.raises(StoreUnavailable, match="was deleted"):
        await subscription.get(5)
    with open_storage(url_of(path)) as other:
        put(other, "new")
        assert await subscription.get(5) is GAP
        put(other, "more")
        assert isinstance(await subscription.get(5), Message)
        await subscription.close()
        await storage.close()


def test_who_listens_no_more_takes_nobody_s_place_in_the_new_file(
    path: Path, storage: Storage
) -> None:
    subscription = storage.subscribe("ql:log")
    replace(path, "new")
    with open_storage(url_of(path)) as other, other.subscribe("ql:log") as theirs:
        subscription.close()
        put(storage, "more")
        assert isinstance(theirs.get(5), Message)


def test_processes_that_were_forked_go_on_with_it(path: Path, storage: Storage) -> None:
    replace(path, "new")
    if (child := os.fork()) == 0:  # pragma: no cover - the child's
        with contextlib.suppress(BaseException):
            put(storage, "child")
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert has(storage, "child")
    assert has(storage, "new")


# -- backups ----------------------------------------------------------------------------------


def test_a_backup_takes_the_place_of_a_file_that_a_killed_process_had_open(path: Path) -> None:
    program = start(
        """
        storage = open_storage(argv[1])
        for number in range(int(argv[2])):
            call(storage, "put", 1400000000, "w", "q", f"jid-{number}", "K", "{}", 0)
        print("done", flush=True)
        input()
        """,
        url_of(path),
        50,
    )
    assert program.stdout.readline() == "done\n"
    copy = path.with_name("backup.db")
    back_up(path, copy)
    with open_storage(url_of(path)) as storage:
        put(storage, "later")
    program.kill()
    program.communicate()
    assert path.with_name("jobs.db-wal").stat().st_size
    remove_log(path)
    copy.rename(path)
    with open_storage(url_of(path)) as storage:
        assert has(storage, "jid-49")
        assert not has(storage, "later")
        put(storage, "more")
    assert problems(path) == []
