# SPDX-License-Identifier: MIT
"""What no worker can use is told when it is made, and not by what it does later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyqless import AsyncClient, Client
from pyqless.errors import InvalidArgument
from pyqless.worker import (
    AsyncWorker,
    ExitCode,
    Finder,
    ForkingWorker,
    Runner,
    SerialWorker,
    Settings,
    ThreadWorker,
)

#: each kind takes what is of no type it knows, as far as a type checker goes
serial: Any = SerialWorker
threads: Any = ThreadWorker
aio: Any = AsyncWorker

SETTINGS = Settings(queues=["q"])
LOCAL = Settings(queues=["q"], runner=Runner(finder=Finder(functions={"k": lambda job: None})))


def connect(name: str) -> Client:
    return Client("memory://bad-workers", worker_name=name)


def fork(**options: Any) -> ForkingWorker:
    given: dict[str, Any] = {"connect": connect, "settings": SETTINGS, "name": "ann", **options}
    return ForkingWorker(given.pop("connect"), given.pop("settings"), **given)


CASES: list[tuple[Callable[..., Any], str]] = [
    (lambda c, a: serial(c, "q"), "settings"),
    (lambda c, a: serial(a, SETTINGS), "client"),
    (lambda c, a: serial("memory://", SETTINGS), "client"),
    (lambda c, a: threads(c, None), "settings"),
    (lambda c, a: threads(a, SETTINGS), "client"),
    (lambda c, a: aio(a, ["q"]), "settings"),
    (lambda c, a: aio(c, SETTINGS), "client"),
    (lambda c, a: fork(connect=c), "connect"),
    (lambda c, a: fork(connect=lambda name: a), "connect"),
    (lambda c, a: fork(connect=lambda name: None), "connect"),
    (lambda c, a: fork(settings="q"), "settings"),
    (lambda c, a: fork(name=""), "name"),
    (lambda c, a: fork(name=None), "name"),
    (lambda c, a: fork(start_method="forkserver"), "start_method"),
    (lambda c, a: fork(fork_per_job=1), "fork_per_job"),
    (lambda c, a: fork(stagger=-1), "stagger"),
    (lambda c, a: fork(stagger="1"), "stagger"),
    (lambda c, a: fork(before="set_up"), "before"),
    (lambda c, a: fork(connect=lambda name: c, start_method="spawn"), "connect"),
    (lambda c, a: fork(settings=LOCAL, start_method="spawn"), "settings"),
    (lambda c, a: fork(before=lambda: None, start_method="spawn"), "before"),
]


@pytest.mark.parametrize(("make", "argument"), CASES, ids=map(str, range(len(CASES))))
def test_what_is_no_good_is_named(
    client: Client, async_client: AsyncClient, make: Callable[..., Any], argument: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        make(client, async_client)
    assert refused.value.argument == argument
    assert str(refused.value).startswith(f"{argument} ")


@pytest.mark.parametrize("method", ["fork", "spawn", None])
def test_what_is_good_is_taken(tmp_path: Path, method: str | None) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    worker = fork(connect=_Connect(url), start_method=method, stagger=0, fork_per_job=True)
    assert (worker.name, worker.settings.limits.jobs) == ("ann", 1)
    assert worker.exit_code is ExitCode.DONE
    worker.client.close()


class _Connect:
    """What can be pickled."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __call__(self, name: str) -> Client:
        return Client(self.url, worker_name=name)
