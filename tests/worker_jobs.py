# SPDX-License-Identifier: MIT
"""Jobs for the tests of workers: each does one thing that a worker has to cope with."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import redis

__all__: list[str] = []


def touch(job: Any) -> None:
    """Leave a mark for the test to see."""
    mark(job, "began")


def mark(job: Any, what: str) -> None:
    """Append a line to the file that the test has named; the line is written at once, or not at all."""
    line = f"{what} {job.jid} {os.getpid()} {job.worker_name}\n"
    descriptor = os.open(job.data["marks"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def sleep(job: Any) -> None:
    """Sleep, deaf to all but signals."""
    mark(job, "began")
    time.sleep(job.data["seconds"])
    mark(job, "ended")


def checkpoints(job: Any) -> None:
    """Work for long, in small steps."""
    mark(job, "began")
    end = time.monotonic() + job.data["seconds"]
    while time.monotonic() < end:
        job.checkpoint()
        time.sleep(0.01)
    mark(job, "ended")


def spin(job: Any) -> None:
    """Hold the interpreter for long, so that no other thread of the process gets a turn."""
    mark(job, "began")
    sys.setswitchinterval(3600)
    end = time.monotonic() + job.data["seconds"]
    while time.monotonic() < end:
        pass
    mark(job, "ended")


async def coroutine(job: Any) -> None:
    """Wait for long, in a loop."""
    mark(job, "began")
    try:
        await asyncio.sleep(job.data["seconds"])
    finally:
        mark(job, "left")
    mark(job, "ended")


def leave(job: Any) -> None:
    """End the process."""
    mark(job, "began")
    os._exit(job.data.get("status", 3))


def parent(job: Any) -> None:
    """Start a process that would outlive the job."""
    child = subprocess.Popen(["/bin/sleep", "600"])
    mark(job, f"started {child.pid} for")
    time.sleep(job.data["seconds"])


def fork(job: Any) -> None:
    """Fork, and wait for the other process."""
    mark(job, "began")
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def double(job: Any) -> None:
    """Fork, and let the other process run off the end of the job, or raise."""
    forked = os.fork()
    mark(job, f"forked {forked}")
    if forked == 0 and job.data["raises"]:
        raise ValueError("in the wrong process")


def talk(job: Any) -> None:
    """Print megabytes."""
    for _ in range(64):
        sys.stdout.write("x" * 2**15 + "\n")
    mark(job, "ended")


def grow(job: Any) -> None:
    """Leak memory."""
    leaked.append(b"x" * job.data["bytes"])
    mark(job, "ended")


leaked: list[bytes] = []


def litter(job: Any) -> None:
    """Leave something behind in the sandbox."""
    assert list(job.sandbox.iterdir()) == []
    Path(job.sandbox, "rubbish").write_text("x")
    mark(job, "ended")


def count(job: Any) -> None:
    """Count in Redis, whatever happens to the job afterwards."""
    with redis.Redis.from_url(job.data["counter"]) as client:
        client.hincrby("counted", job.jid, 1)
    time.sleep(job.data.get("seconds", 0))
