# SPDX-License-Identifier: MIT
"""
What all drivers of peers share. It needs nothing but Python, for each runs in a virtual environment of its own.

A driver is told one ``Task`` as JSON, as its only argument, and prints JSON, a line for each thing that has happened.
Moments are of the machine's monotonic clock, which all processes share, seconds.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

__all__ = ["STAMP", "Peer", "Task", "drive", "job"]

#: what a job writes down: when it was put, and when it began
STAMP = struct.Struct("dd")
#: bytes of data of each job
SIZE = 100


@dataclass
class Task:
    """
    What a driver is to do.

    ``put``: put jobs one after another. ``work``: run jobs until killed. ``both``: the one, and then the other beside more
    of the first, in one process.
    """

    role: Literal["put", "work", "both"]
    url: str
    #: where jobs write their stamps
    stamps: str
    count: int
    #: seconds between two puts
    pause: float = 0.0
    #: of ``both``: how many more to put with a pause between
    paced: int = 0
    #: which of a peer's workers
    variant: str = ""


class Peer(Protocol):
    """A queue to be measured; made with the URL of its server, and the variant."""

    def put(self, texts: Iterator[str]) -> None:
        """Put a job for each text, one after another; the iterator waits where that is wanted."""

    def work(self) -> None:
        """Run jobs one at a time, for ever."""


def job(text: str) -> None:
    """Be the job: all it does is to write down that it has begun."""
    stamp = STAMP.pack(float(text.rstrip(".")), time.monotonic())
    os.write(_stamps(), stamp)


def drive(make: Callable[[str, str], Peer]) -> None:
    """Do what the command line says."""
    task = Task(**json.loads(sys.argv[1]))
    os.environ["PEER_STAMPS"] = task.stamps
    peer = make(task.url, task.variant)
    if task.role == "work":
        _say("ready")
        peer.work()
        return
    _put(peer, task.count, task.pause)
    if task.role == "both":
        threading.Thread(target=peer.work, daemon=True).start()
        while Path(task.stamps).stat().st_size < task.count * STAMP.size:
            time.sleep(0.01)
        _put(peer, task.paced, task.pause or 0.005)
        time.sleep(0.1)


def _put(peer: Peer, count: int, pause: float) -> None:
    begun: list[float] = []

    def texts() -> Iterator[str]:
        begun.append(time.monotonic())
        for _ in range(count):
            yield f"{time.monotonic():.9f}".ljust(SIZE, ".")
            if pause:
                time.sleep(pause)

    peer.put(texts())
    _say("put", count=count, seconds=time.monotonic() - begun[0])


def _say(event: str, **values: Any) -> None:
    print(json.dumps({"event": event, **values}), flush=True)


_opened: dict[str, int] = {}


def _stamps() -> int:
    """Open the file once in each process; forked ones write to the same."""
    path = os.environ["PEER_STAMPS"]
    if path not in _opened:
        _opened[path] = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    return _opened[path]
