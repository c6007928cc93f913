# SPDX-License-Identifier: MIT
"""
pyqless beside the Lua core on the same server, one connection each.

Contestants take turns in short blocks. The time of a call is the median of its block; each ratio is of two blocks of the
same round, and the median of the rounds is shown. See docs/reference/benchmarks.md.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Final, NamedTuple

import pytest

from tests.bench.contestants import Contestant
from tests.bench.ground import FULL, Ground
from tests.bench.opening import KINDS
from tests.bench.scenarios import SCENARIOS, Figures, Scenario, life, run, run_async
from tests.bench.tables import Cell, circumstances, show

ROUNDS: Final = 40 if FULL else 2
#: calls of each kind in a block
COUNT: Final = 40 if FULL else 5
CORES: Final[tuple[Sequence[int], ...]] = ((0,), (0, 1))
#: the CPU time that a life takes, microseconds; beside the times of its calls
CLIENT, SERVER = "client CPU", "server CPU"
LIFE: Final = ("put", "pop", "heartbeat", "complete")


class Entry(NamedTuple):
    """A contestant's place in the tables."""

    kind: str
    unix: bool = False

    def __str__(self) -> str:
        return f"{self.kind} unix" if self.unix else self.kind


ENTRIES: Final = (
    Entry("pyqless"),
    Entry("evalsha"),
    Entry("raw socket"),
    Entry("reqless"),
    Entry("pyqless", unix=True),
    Entry("evalsha", unix=True),
    Entry("raw socket", unix=True),
    Entry("pyqless asyncio"),
    Entry("evalsha asyncio"),
    Entry("pyqless memory"),
)

#: title, who is looked at, with whom it is compared
TABLES: Final = (
    ("A blocking client over TCP", "pyqless", ("evalsha", "raw socket", "reqless")),
    ("A blocking client on a unix socket", "pyqless unix", ("evalsha unix", "raw socket unix")),
    ("asyncio over TCP", "pyqless asyncio", ("evalsha asyncio",)),
    ("In memory, beside Lua over TCP", "pyqless memory", ("evalsha", "raw socket")),
)

#: contestant: figures, one a round
Results = dict[str, list[Figures]]


class Seat(NamedTuple):
    """A contestant that is ready."""

    core: Contestant
    #: runs what is to be awaited; None where nothing is
    runner: asyncio.Runner | None

    def play(self, scenario: Callable[..., Scenario], queue: str) -> Figures:
        """Go through a scenario once."""
        steps = scenario(self.core, queue, COUNT)
        spent = run(steps) if self.runner is None else self.runner.run(run_async(steps))
        return {label: typical(times) for label, times in spent.items() if label}

    def leave(self) -> None:
        """Close the connection."""
        if self.runner is None:
            self.core.close()
        else:
            self.runner.run(self.core.close())


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_against_lua(ground: Ground) -> None:
    """Calls through our clients and calls of the script are timed, side by side."""
    by_cores = {}
    for cores in CORES:
        with ground.pinned(cores), seated(ground) as seats:
            by_cores[len(cores)] = compete(ground, seats)
    print("\n" + circumstances(ground.name))
    report(by_cores)
    for results in by_cores.values():
        assert all(len(rounds) == ROUNDS for rounds in results.values())
        assert all(min(figures.values()) >= 0 for rounds in results.values() for figures in rounds)


@contextmanager
def seated(ground: Ground) -> Iterator[dict[str, Seat]]:
    """Open all contestants, each with a database of its own."""
    ground.flush()
    with asyncio.Runner() as runner, ExitStack() as stack:
        seats = {}
        for number, entry in enumerate(ENTRIES):
            core = KINDS[entry.kind](ground.url(number, unix=entry.unix))
            seats[str(entry)] = Seat(core, runner if "asyncio" in entry.kind else None)
            stack.callback(seats[str(entry)].leave)
        yield seats


def compete(ground: Ground, seats: dict[str, Seat]) -> Results:
    """Let all go through all scenarios in turn, in an order that turns as well."""
    results: Results = defaultdict(list)
    names = list(seats)
    for number in range(-1, ROUNDS):
        turned = names[number % len(names) :] + names[: number % len(names)]
        figures: dict[str, Figures] = {name: {} for name in names}
        for scenario in SCENARIOS:
            for name in turned:
                before = (time.process_time_ns(), ground.cpu())
                played = seats[name].play(scenario, f"{scenario.__name__} {number}")
                if scenario is life:
                    played[CLIENT] = (time.process_time_ns() - before[0]) / COUNT / 1000
                    played[SERVER] = (ground.cpu() - before[1]) / COUNT / 1000
                    played["life"] = sum(played[label] for label in LIFE)
                figures[name] |= played
        if number >= 0:  # the round before the first warms up
            for name in names:
                results[name].append(figures[name])
    return results


# -- tables ---------------------------------------------------------------------------------------


def report(by_cores: dict[int, Results]) -> None:
    """Print the tables."""
    for title, ours, theirs in TABLES:
        columns = ["call"]
        for cores in by_cores:
            columns += [f"µs, {cores} core{'s'[: cores - 1]}", *(f"x {name}" for name in theirs)]
        rows = []
        for label in labels(by_cores[1][ours]):
            row: list[Cell] = [label]
            for results in by_cores.values():
                row += [median(figures[label] for figures in results[ours])]
                row += [ratio(results[name], results[ours], label) for name in theirs]
            rows.append(row)
        show(f"{title}: how many times as fast (x), median of {ROUNDS} rounds", columns, rows)
    report_cpu(by_cores)


def report_cpu(by_cores: dict[int, Results]) -> None:
    """Print what client and server spend."""
    columns = ["contestant"]
    for cores in by_cores:
        columns += [f"{part} µs, {cores} core{'s'[: cores - 1]}" for part in ("client", "server")]
        columns += ["server's of evalsha's", "both of evalsha's"]
    rows: list[list[Cell]] = []
    for name in by_cores[1]:
        row: list[Cell] = [name]
        for results in by_cores.values():
            own, other = both(results[name]), both(results["evalsha"])
            row += [median(figures[part] for figures in own) for part in (CLIENT, SERVER)]
            row += [ratio(own, other, part) for part in (SERVER, "both")]
        rows.append(row)
    show(f"CPU time of a life, median of {ROUNDS} rounds", columns, rows)


def both(rounds: list[Figures]) -> list[Figures]:
    """Add what client and server spend together."""
    return [figures | {"both": figures[CLIENT] + figures[SERVER]} for figures in rounds]


def labels(rounds: list[Figures]) -> list[str]:
    """The rows: a life behind its calls."""
    known = [label for label in rounds[0] if label not in {CLIENT, SERVER, "life"}]
    known.insert(len(LIFE), "life")
    return known


def typical(times: list[int]) -> float:
    """The median time, microseconds; of as many calls together as one round of a scenario counts alike."""
    calls = len(times) // COUNT
    return median(sum(times[at : at + calls]) for at in range(0, len(times), calls)) / 1000


def ratio(upper: list[Figures], lower: list[Figures], label: str) -> float:
    """The median over the rounds."""
    pairs = zip(upper, lower, strict=True)
    return median(one[label] / other[label] for one, other in pairs if other[label])
