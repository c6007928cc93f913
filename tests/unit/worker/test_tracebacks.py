# SPDX-License-Identifier: MIT
"""Of a traceback failures show what lies in the job's own code, and nothing of what lies around it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import pyqless
from pyqless import Client, Queue
from pyqless.worker import Finder, uses
from pyqless.worker.middleware import retry_on

Work = Callable[..., Any]


@contextmanager
def around(_job: Any) -> Iterator[None]:
    yield


@uses(around, retry_on(OSError, backoff=lambda _: 0.0))
def plain(job: Any) -> None:
    raise OSError(job["text"])


@uses(around)
async def coroutine(job: Any) -> None:
    await asyncio.sleep(0)
    raise OSError(job["text"])


@contextmanager
def aside() -> Iterator[None]:
    yield


@aside()
def decorated(job: Any) -> None:
    raise OSError(job["text"])


@pyqless.job(queue="mail")
def declared(text: str) -> None:
    raise OSError(text)


def of_two(_job: Any, _other: Any) -> None: ...


def message(client: Client, queue: Queue, work: Work, klass: str, data: Any) -> list[str]:
    """Let a job fail, and give the lines that say why."""
    queue.put(klass, data, jid="J", retries=0)
    work()
    failure = client.jobs["J"].failure
    assert failure is not None
    return failure.message.splitlines()


@pytest.mark.parametrize(
    "function",
    [plain, coroutine, decorated, declared],
    ids=["plain", "coroutine", "decorated", "declared"],
)
def test_it_begins_in_the_jobs_own_code(
    client: Client, queue: Queue, finder: Finder, work: Work, function: Any
) -> None:
    finder.register("run")(function)
    first, frame, *_, last = message(client, queue, work, "run", {"text": "no"})
    assert first == "Traceback (most recent call last):"
    assert Path(__file__).name in frame
    assert last == "OSError: no"


@pytest.mark.parametrize(
    ("klass", "data", "told"),
    [
        ("os.system", {}, "CodeNotFound: this worker may not run 'os.system'"),
        ("nowhere.run", {}, "CodeNotFound: there is no module 'nowhere'"),
        ("declared", {"txet": "no"}, "DataMismatch: data does not fit declared("),
        ("two", {}, "TypeError: of_two() missing 1 required positional argument"),
    ],
)
def test_what_goes_wrong_before_has_no_traceback(
    client: Client, queue: Queue, work: Work, finder: Finder, klass: str, data: Any, told: str
) -> None:
    finder.register("declared")(declared)
    finder.register("two")(of_two)
    finder._allow("nowhere")
    (line,) = message(client, queue, work, klass, data)
    assert told in line


@pytest.mark.parametrize(
    ("text", "frame", "told"),
    [
        ("import nowhere_at_all", "in <module>", "ModuleNotFoundError: No module named"),
        ("def run(:", "line 1", "SyntaxError: invalid syntax"),
    ],
)
def test_a_module_that_cannot_be_imported_shows_where(
    client: Client,
    queue: Queue,
    work: Work,
    finder: Finder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    frame: str,
    told: str,
) -> None:
    (tmp_path / "breaks.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    finder._allow("breaks")
    lines = message(client, queue, work, "breaks.run", {})
    files = [line for line in lines if line.startswith("  File ")]
    assert [("breaks.py" in line, frame in line) for line in files] == [(True, True)]
    assert told in lines[-1]
