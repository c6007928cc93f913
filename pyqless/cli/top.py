# SPDX-License-Identifier: MIT
"""``pyqless top``: all of a store on one screen, again and again."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from pyqless.cli import queues, workers
from pyqless.cli.options import AsJson, Namespace
from pyqless.cli.parsing import span_option
from pyqless.cli.printing import clean, day_time, say, say_json, show
from pyqless.cli.store import Url, looking
from pyqless.cli.tables import table
from pyqless.client import Client, QueueCounts
from pyqless.errors import StorageError
from pyqless.worker.waiting import is_refusal

__all__ = ["top"]


class _Scene(NamedTuple):
    """What is to be seen at a moment."""

    now: float
    queues: list[QueueCounts]
    workers: list[dict[str, Any]]
    failed: dict[str, int]

    @classmethod
    def of(cls, client: Client) -> _Scene:
        counts, groups = client.queues.counts(), client.jobs.failed()
        return cls(client.storage.clock(), counts, workers.documents(client), groups)

    def tables(self) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
        """The columns and rows of each table."""
        yield queues.COLUMNS, [queues.row(counts) for counts in self.queues]
        yield workers.COLUMNS, [workers.row(worker, self.now) for worker in self.workers]
        yield ("failed with", "jobs"), [(name, str(jobs)) for name, jobs in self.failed.items()]

    def document(self) -> dict[str, Any]:
        """All of it, for ``--json``."""
        counts = [counts._asdict() for counts in self.queues]
        return {"queues": counts, "workers": self.workers, "failed": self.failed}


def top(
    *,
    interval: Annotated[
        float,
        span_option("--interval", "-i", about="Between two looks", least=0.1),
    ] = 2.0,
    url: Url = None,
    namespace: Namespace = "ql",
    as_json: AsJson = False,
) -> None:
    """
    Show queues, workers and failures on the whole screen, and keep that current; q or Ctrl-C ends it.

    Where there is no terminal, and with --json, they are printed once.
    """
    with looking(url, namespace) as client:
        if as_json:
            say_json(_Scene.of(client).document())
        elif sys.stdin.isatty() and sys.stdout.isatty():
            _follow(client, interval)
        else:
            _print(_Scene.of(client))


def _print(scene: _Scene) -> None:
    for number, (columns, rows) in enumerate(scene.tables()):
        if number and rows:
            say("")
        show(columns, rows)


def _follow(client: Client, interval: float) -> None:
    with suppress(KeyboardInterrupt):
        _Scene.of(client)  # a store that is away from the beginning is told of, and not waited for
        console = Console(highlight=False)
        with _keys() as pressed, Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(_drawn(client), refresh=True)
                if pressed(interval) in (b"q", b"Q", b""):
                    return


def _drawn(client: Client) -> RenderableType:
    now = day_time(client.storage.clock())
    head = Text(f"{client.storage.url}  {now}  (q ends)", style="reverse")
    try:
        return Group(head, *_parts(_Scene.of(client)))
    except StorageError as error:
        if is_refusal(error):
            raise
        # it may be back at the next look
        return Group(head, "", Text(f"{clean(error)}; trying again", style="bold red"))


def _parts(scene: _Scene) -> Iterator[RenderableType]:
    for columns, rows in scene.tables():
        if rows:
            yield ""
            yield table(columns, [[clean(cell) for cell in cells] for cells in rows])


@contextmanager
def _keys() -> Iterator[Callable[[float], bytes | None]]:
    """Read single keys; what is given waits so many seconds for one, and gives nothing at the end of input."""
    before = termios.tcgetattr(sys.stdin)

    def pressed(seconds: float) -> bytes | None:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        # past the buffer of sys.stdin, which select does not see
        return os.read(sys.stdin.fileno(), 1) if ready else None

    try:
        tty.setcbreak(sys.stdin)
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
