# SPDX-License-Identifier: MIT
"""Workers as processes of their own, for tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from pyqless import Client, Job

__all__ = ["Gate", "Mark", "Worker", "is_alive", "state", "until"]

ROOT: Final = Path(__file__).parent.parent

#: seconds after which what should have happened counts as not happening
PATIENCE: Final = 20.0


def until(holds: Callable[[], Any], what: str = "", patience: float = PATIENCE) -> Any:
    """Wait until something holds, and give it; fail if it does not in time."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {patience:g} s: {what or holds}")


def is_alive(pid: int) -> bool:
    """Whether there is such a process, and it is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


class Mark(NamedTuple):
    """What a job has written down."""

    what: str
    jid: str
    pid: int
    worker: str


class Worker:
    """
    ``pyqless worker`` on a store, with the jobs of ``tests.worker_jobs`` unless it is given a runner.

    Args:
        url: of the store.
        arguments: further ones of the command.
    """

    def __init__(self, url: str, *arguments: str, **environment: str) -> None:
        self.url = url
        self.directory = Path(tempfile.mkdtemp(prefix="pyqless-worker-"))
        self._log = (self.directory / "log").open("wb")
        line = [sys.executable, "-m", "pyqless", "worker", "--url", url, "-vv", "--path", str(ROOT)]
        line += [] if "--runner" in arguments else ["-m", "tests.worker_jobs"]
        line += ["--interval", "0.2", *arguments]
        self.process = subprocess.Popen(
            line,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={**os.environ, "PYTHONFAULTHANDLER": "1", **environment},
            start_new_session=True,
        )

    @property
    def marks_path(self) -> str:
        """Where jobs leave their marks."""
        return str(self.directory / "marks")

    def put(self, client: Client, klass: str, jid: str, queue: str = "q", **data: Any) -> None:
        """Put a job of ``tests.worker_jobs`` that leaves its marks here."""
        options = {name: data.pop(name) for name in ("retries", "priority") if name in data}
        client.queues[queue].put(
            f"tests.worker_jobs.{klass}", {"marks": self.marks_path, **data}, jid=jid, **options
        )

    def marks(self, what: str = "") -> list[Mark]:
        """What jobs have written down, or what of a kind."""
        try:
            lines = Path(self.marks_path).read_text().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            said, jid, pid, worker = line.rsplit(" ", 3)
            found.append(Mark(said, jid, int(pid), worker))
        return [mark for mark in found if mark.what.startswith(what)]

    def began(self, jid: str) -> Mark:
        """Wait until a job has begun."""
        found: Mark = until(
            lambda: next((mark for mark in self.marks("began") if mark.jid == jid), None),
            f"{jid} begins\n{self.log()}",
        )
        return found

    def signal(self, number: int) -> None:
        """Send a signal to the worker alone."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait for its end; the exit status, below 0 for a signal."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGABRT)  # shows what each thread is doing
            self.process.wait()
            raise AssertionError(f"the worker does not end\n{self.log()}") from None

    def children(self) -> list[int]:
        """The processes that it has started and that are there."""
        pid = self.process.pid
        told = Path(f"/proc/{pid}/task/{pid}/children")
        with contextlib.suppress(OSError):
            return [int(child) for child in told.read_text().split()]
        return []

    def log(self) -> str:
        """What it has logged so far."""
        return (self.directory / "log").read_text(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        children = self.children()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._log.close()
        for child in children:
            with contextlib.suppress(OSError):
                os.killpg(child, signal.SIGKILL)
        shutil.rmtree(self.directory, ignore_errors=True)


def state(client: Client, jid: str) -> str:
    """The state of a job, or an empty text."""
    job: Job | None = client.jobs.get(jid)
    return "" if job is None else job.state


class Gate:
    """
    A way to a server on loopback that can be shut: all connections end, and new ones at once.

    Args:
        port: the server's.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._is_open = True
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def shut(self) -> None:
        """Let nobody through."""
        self._is_open = False
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def open(self) -> None:
        """Let everybody through again."""
        self._is_open = True

    def close(self) -> None:
        """Close everything."""
        self.shut()
        with contextlib.suppress(OSError):  # or the thread that accepts would do so for ever
            self._listener.shutdown(socket.SHUT_RDWR)
        for one in (self._listener, *self._sockets):
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if not self._is_open:
                    client.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self._target))
                self._sockets += [client, server]
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(2**16):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
