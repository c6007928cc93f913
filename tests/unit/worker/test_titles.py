# SPDX-License-Identifier: MIT
"""A worker shows what it does in the list of processes, and no name of a job is worth its life."""

from __future__ import annotations

from typing import NoReturn

import pytest
import setproctitle

from pyqless import Client
from pyqless.compat.qless.workers import Worker
from pyqless.worker import Finder, Runner, SerialWorker, Settings, titles


@pytest.mark.parametrize("text", ["\udcff", "\0", "\x1b[31m", "a\nb", "\n" * 9_999])
def test_whatever_a_job_is_called_can_be_shown(text: str) -> None:
    before = setproctitle.getproctitle()
    try:
        titles.set_title("it runs")
        titles.set_title(f"{text} (k)")
        shown = setproctitle.getproctitle()
    finally:
        setproctitle.setproctitle(before)
    assert shown.startswith("pyqless-worker: ")
    assert "\N{REPLACEMENT CHARACTER}" in shown
    assert shown.isprintable()
    assert len(shown) <= 16 + titles.LIMIT


def test_workers_of_qless_py_show_it_too() -> None:
    before = setproctitle.getproctitle()
    try:
        Worker.title("Working on \udcff\0 (k)")
        shown = Worker.title()
    finally:
        setproctitle.setproctitle(before)
    assert shown == "qless-py-worker Working on \ufffd\ufffd (k)"


def test_a_library_that_breaks_ends_no_worker(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    def break_down(text: str) -> NoReturn:
        shown.append(text)
        raise OSError("there is no room for titles")

    monkeypatch.setattr(titles, "_setter", lambda: break_down)
    client.queues["mail"].put("k", jid="J")
    runner = Runner(finder=Finder(functions={"k": print}))
    assert SerialWorker(client, Settings(queues=["mail"], runner=runner)).drain() == 1
    assert client.jobs["J"].state == "complete"
    assert shown == ["pyqless-worker: J (k) from mail"]
