# SPDX-License-Identifier: MIT
"""``python -m pyqless.testing.simulator SEED ...``: repeat runs, and tell what happened in them; FIRST-LAST does many."""

from __future__ import annotations

import sys

from pyqless.testing.simulator import simulate


def main(words: list[str]) -> int:
    """Print each run's calls and faults, or of many the faults alone; the exit status is 1 if there are any."""
    found = 0
    for word in words:
        first, dash, last = word.partition("-")
        found += _many(int(first), int(last)) if dash else _one(int(first))
    return int(found > 0)


def _one(seed: int) -> int:
    run = simulate(seed)
    _say(*run.history.calls, *run.faults, run)
    return len(run.faults)


def _many(first: int, last: int) -> int:
    found = 0
    for seed in range(first, last + 1):
        run = simulate(seed)
        if run.faults:
            found += 1
            _say(run)
    _say(f"{last + 1 - first} runs, {found} with faults")
    return found


def _say(*lines: object) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
