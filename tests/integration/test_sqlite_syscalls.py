# SPDX-License-Identifier: MIT
"""Killed or failed in the middle of any system call: nothing acknowledged is lost, no file is ruined."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Final

import pytest

from pyqless import errors
from pyqless.storage import open_storage
from tests.sqlite_files import call, problems, url_of

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
]

NOW: Final = 1400000000

#: Lives with its jobs, many of them large so that the log begins anew, and prints what was acknowledged.
PROGRAM: Final = textwrap.dedent("""
    from sys import argv
    from pyqless.errors import QlessError
    from pyqless.storage import open_storage
    from tests.sqlite_files import call

    def say(*words):
        print(*words, flush=True)

    def attempt(verb, jid, *words):
        try:
            call(storage, *words)
        except QlessError as error:
            say("failed", jid, verb, type(error).__name__)
            return False
        say("done", jid, verb)
        return True

    storage = open_storage(argv[1])
    for number in range(int(argv[2]), int(argv[2]) + 12):
        jid, data = f"jid{number}", '"%s"' % ("x" * 200_000)
        (
            attempt("put", jid, "put", 1400000000, "w", jid, jid, "K", data, 0)
            and attempt("pop", jid, "pop", 1400000000, jid, "w", 1)
            and attempt("complete", jid, "complete", 1400000000, jid, "w", jid, "{}")
        )
    storage.close()
    say("end", "-", "-")
""")

#: what each verb leaves a job in
STATES: Final = {"put": "waiting", "pop": "running", "complete": "complete"}

#: the system calls that matter, and about how often the program makes them
CALLS: Final = {
    "pwrite64": 3000,
    "fdatasync": 40,
    "fsync": 1,
    "ftruncate": 3,
    "fcntl": 290,
    "unlink": 4,
}


def live(path: Path, first: int, injection: str) -> list[list[str]]:
    """Run the program with something injected into a system call; give what it said."""
    traced = f"trace={injection.partition(':')[0]}"
    command = ["strace", "-f", "-qq", "-e", traced, "-e", f"inject={injection}"]
    done = subprocess.run(
        [*command, "-o", "/dev/null", sys.executable, "-c", PROGRAM, url_of(path), str(first)],
        capture_output=True,
        text=True,
        check=False,
    )
    whole, _, _ = done.stdout.rpartition("\n")  # the last line may be cut off
    return [line.split() for line in whole.splitlines()]


def check(path: Path, said: list[list[str]], *, known: bool) -> None:
    """Make sure that the file is whole, and every job as it was last said to be."""
    assert problems(path) == []
    last = {jid: verb for word, jid, verb, *_ in said if word == "done"}
    with open_storage(url_of(path)) as storage:
        for jid, verb in last.items():
            job = call(storage, "get", NOW, jid)
            assert job is not None
            # what came after it may have been carried out, but nobody was there to hear of it
            later = list(STATES.values())[list(STATES).index(verb) :]
            assert job.fields["state"] in (later[:1] if known else later[:2])


@pytest.mark.timeout(3600)
def test_killed_in_any_system_call(tmp_path: Path) -> None:
    rng, killed = random.Random(0), 0
    path = tmp_path / "jobs.db"
    for turn in range(120):
        name = rng.choice(list(CALLS))
        when = rng.randint(1, CALLS[name])
        said = live(path, turn * 100, f"{name}:signal=KILL:when={when}")
        killed += ["end", "-", "-"] not in said
        if path.exists():
            check(path, said, known=False)
        if turn % 10 == 9:
            path.unlink(missing_ok=True)
            path.with_name("jobs.db-wal").unlink(missing_ok=True)
            path.with_name("jobs.db-shm").unlink(missing_ok=True)
    assert killed > 60


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_failed_in_any_system_call(tmp_path: Path, error: str) -> None:
    rng, failures = random.Random(error), 0
    for turn in range(60):
        path = tmp_path / f"{turn}.db"
        name = rng.choice(("pwrite64", "fdatasync", "ftruncate"))
        when = rng.randint(1, CALLS[name])
        said = live(path, 0, f"{name}:error={error}:when={when}")
        faults = [line for line in said if line[0] == "failed"]
        failures += len(faults)
        for *_, fault in faults:
            assert issubclass(getattr(errors, fault), errors.QlessError)
        unknown = any(fault == "OutcomeUnknown" for *_, fault in faults)
        assert said[-1][0] == "end"
        check(path, said, known=not unknown)
    assert failures > 20
