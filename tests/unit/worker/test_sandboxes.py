# SPDX-License-Identifier: MIT
"""Jobs have directories of their own, whatever they and their workers are called, and nothing is left of those."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyqless import AsyncClient, Client, Queue
from pyqless.worker import (
    AsyncWorker,
    ExitCode,
    Finder,
    Limits,
    Runner,
    SerialWorker,
    Settings,
    ThreadWorker,
    sandboxes,
)
from pyqless.worker.sandboxes import remove, sandboxed

KINDS = ("serial", "threads", "asyncio")
ODD = ["x" * 512, "a/b", "../..", "..", ".", "\udcff", "🐱" * 128, "a b", "-"]


def run(kind: str, url: str, options: Settings, name: str = "ann") -> ExitCode:
    if kind == "asyncio":
        return asyncio.run(AsyncWorker(AsyncClient(url, worker_name=name), options, 2).run())
    make: Callable[..., Any] = SerialWorker if kind == "serial" else ThreadWorker
    code: ExitCode = make(Client(url, worker_name=name), options).run()
    return code


def settings(finder: Finder, root: Path, jobs: int) -> Settings:
    runner = Runner(finder=finder)
    limits = Limits(jobs=jobs)
    return Settings(queues=["mail"], runner=runner, interval=0.05, sandbox=root, limits=limits)


@pytest.mark.parametrize("kind", KINDS)
def test_each_job_has_an_empty_directory_and_leaves_none(
    tmp_path: Path, url: str, queue: Queue, client: Client, finder: Finder, kind: str
) -> None:
    root = tmp_path / "some" / "where"
    seen: list[Path] = []

    @finder.register("run")
    def work(job: Any) -> None:
        assert list(job.sandbox.iterdir()) == []
        (job.sandbox / "folder").mkdir()
        (job.sandbox / "folder" / "file").touch()
        seen.append(job.sandbox)

    for jid in ODD:
        queue.put("run", {}, jid=jid)
    run(kind, url, settings(finder, root, len(ODD)))
    assert len(client.jobs.complete()) == len(ODD)
    assert len(seen) == len(ODD)
    assert {path.parent for path in seen} == {root}
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("name", ODD)
def test_no_name_leads_out_of_the_root(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    (tmp_path / "mine").touch()
    with sandboxed(root, name) as directory:
        assert directory is not None
        assert directory.parent == root
        assert list(root.iterdir()) == [directory]
    assert [path.name for path in tmp_path.iterdir() if path != root] == ["mine"]


def test_names_that_look_alike_have_directories_of_their_own(tmp_path: Path) -> None:
    names = ["a b", "a_b", "a\udcffb", "x" * 300, "x" * 301]
    found = set()
    for name in names:
        with sandboxed(tmp_path, name) as directory:
            found.add(directory)
    assert len(found) == len(names)


@pytest.mark.parametrize("kind", KINDS)
def test_without_room_for_a_directory_the_job_fails(
    tmp_path: Path, url: str, queue: Queue, client: Client, finder: Finder, kind: str
) -> None:
    (tmp_path / "root").touch()
    finder.register("run")(lambda job: None)
    queue.put("run", {}, jid="J")
    run(kind, url, settings(finder, tmp_path / "root", 1))
    job = client.jobs["J"]
    assert job.state == "failed"
    assert job.failure is not None
    assert job.failure.group in ("run:NotADirectoryError", "run:FileExistsError")


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_removed_fails_no_job(
    tmp_path: Path,
    url: str,
    queue: Queue,
    client: Client,
    finder: Finder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    kind: str,
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError("not yours")

    finder.register("run")(lambda job: monkeypatch.setattr(sandboxes, "_empty", refuse))
    queue.put("run", {}, jid="J")
    run(kind, url, settings(finder, tmp_path, 1))
    assert client.jobs["J"].state == "complete"
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(told) == 1
    assert told[0].endswith("cannot be removed: not yours")


def test_where_the_process_works_is_only_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sandboxed(tmp_path, "ann") as directory:
        assert directory is not None
        (directory / "file").touch()
        monkeypatch.chdir(directory)
    assert list(directory.iterdir()) == []
    monkeypatch.undo()
    remove(tmp_path, "ann")
    assert not directory.exists()


def test_the_root_is_where_it_was_when_the_worker_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings(queues=["q"], sandbox=Path("here")).sandbox == tmp_path / "here"


def test_a_fault_of_a_workers_own_is_logged_with_its_job(
    url: str,
    queue: Queue,
    finder: Finder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def break_down(*_: object) -> None:
        raise TypeError("nobody has foreseen this")

    monkeypatch.setattr("pyqless.worker.aio.settle_async", break_down)
    finder.register("run")(lambda job: None)
    queue.put("run", {}, jid="J")
    options = Settings(queues=["mail"], runner=Runner(finder=finder), limits=Limits(jobs=1))
    run("asyncio", url, options)
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.getMessage() == "job J is left to its lock"
    assert record.exc_info is not None
