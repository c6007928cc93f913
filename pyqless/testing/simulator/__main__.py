# SPDX-License-Identifier: MIT
"""``python -m pyqless.testing.simulator SEED ...``: repeat runs, and tell what happened in them."""

from __future__ import annotations

import sys

from pyqless.testing.simulator import simulate


def main(seeds: list[str]) -> int:
    """Print each run's calls and faults; the exit status is 1 if there are faults."""
    status = 0
    for seed in seeds:
        run = simulate(int(seed))
        lines = [*map(str, run.history.calls), *run.faults, str(run)]
        sys.stdout.write("\n".join(lines) + "\n")
        status |= bool(run.faults)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
