# SPDX-License-Identifier: MIT
"""
pyqless's batches beside the Lua core on the same server: called job by job, and many calls in one packet.

Contestants take turns in short blocks, as in bench_lua. The time of a call is the median of its block; each ratio is of
two blocks of the same round, and the median of the rounds is shown. See docs/reference/benchmarks.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Final, NamedTuple

import pytest

from tests.bench.batching import MANNERS, Manner, batches
from tests.bench.delay import delayed
from tests.bench.ground import FULL, Ground
from tests.bench.scenarios import run
from tests.bench.tables import Cell, circumstances, show

#: jobs of a batch
SIZES: Final = (10, 100, 1000) if FULL else (10, 100)
#: jobs of a block at least
BLOCK: Final = 300 if FULL else 1
ROUNDS: Final = 15 if FULL else 1
ROUNDS_FAR: Final = 3 if FULL else 1
CORES: Final[tuple[Sequence[int], ...]] = ((0,), (0, 1))
#: one way, seconds
DELAY: Final = 0.001

OURS: Final = ("pyqless", "pyqless memory")
#: with whom it is compared, and how many times as fast it is to be with 100 jobs
GOALS: Final = {"evalsha": 5, "raw socket": 5, "pipeline": 2.5}
GOALS_FAR: Final = {"raw socket": 3, "pipeline": None}


class Lot(NamedTuple):
    """What is timed together."""

    call: str
    size: int


#: microseconds a job
Figures = dict[Lot, float]
#: contestant: figures, one a round
Results = dict[str, list[Figures]]


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_batches(ground: Ground) -> None:
    """Batches through our client and calls of the script are timed, side by side."""
    by_cores = {}
    for cores in CORES:
        ground.flush()
        with ground.pinned(cores), seated(ground.url, (*OURS, *GOALS)) as seats:
            by_cores[f"{len(cores)} core{'s'[: len(cores) - 1]}"] = compete(seats, ROUNDS)
    print("\n" + circumstances(ground.name))
    title = f"Batches over TCP: how many times as fast a job (x), median of {ROUNDS} rounds"
    report(title, by_cores, OURS, GOALS)


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_batches_far_away(ground: Ground) -> None:
    """The same, behind a network."""
    ground.flush()
    with delayed(ground.server.port, DELAY) as port:
        place = f"redis://127.0.0.1:{port}"
        with seated(lambda number: f"{place}/{number}", (*OURS[:1], *GOALS_FAR)) as seats:
            results = compete(seats, ROUNDS_FAR)
    print("\n" + circumstances(ground.name))
    away = f"{DELAY * 1000:g} ms"
    title = f"Batches, {away} away: how many times as fast a job (x), median of {ROUNDS_FAR} rounds"
    report(title, {away: results}, OURS[:1], GOALS_FAR)


@contextmanager
def seated(url: Callable[[int], str], names: Sequence[str]) -> Iterator[dict[str, Manner]]:
    """Open contestants, each with a database of its own."""
    with ExitStack() as stack:
        seats = {name: MANNERS[name](url(number)) for number, name in enumerate(names)}
        for seat in seats.values():
            stack.callback(seat.close)
        yield seats


def compete(seats: Mapping[str, Manner], rounds: int) -> Results:
    """Let all go through all batches in turn, in an order that turns as well."""
    results: Results = defaultdict(list)
    names = list(seats)
    for seat in seats.values():
        play(seat, SIZES[0], "warming up")
    for number in range(rounds):
        turned = names[number % len(names) :] + names[: number % len(names)]
        figures: dict[str, Figures] = {name: {} for name in names}
        for size in SIZES:
            for name in turned:
                figures[name] |= play(seats[name], size, f"queue {number}")
        for name in names:
            results[name].append(figures[name])
    return results


def play(seat: Manner, size: int, queue: str) -> Figures:
    """Go through a block of batches, each in a queue that nobody has used."""
    spent: dict[str, list[int]] = defaultdict(list)
    for number in range(max(1, BLOCK // size)):
        for label, times in run(batches(seat, f"{queue}, {size}, {number}", size)).items():
            spent[label] += times
    return {
        Lot(label, size): median(times) / size / 1000 for label, times in spent.items() if label
    }


# -- tables ---------------------------------------------------------------------------------------


def report(
    title: str,
    settings: Mapping[str, Results],
    ours: Sequence[str],
    goals: Mapping[str, float | None],
) -> None:
    """Print a table, its goals at the foot."""
    columns = ["call", "jobs", "store"]
    for setting in settings:
        columns += [f"µs a job, {setting}", *(f"x {name}" for name in goals)]
    rows = [row(settings, name, lot, goals) for name in ours for lot in lots(settings)]
    rows.append(["goal", 100, "", *([None, *goals.values()] * len(settings))])
    show(title, columns, rows)


def row(
    settings: Mapping[str, Results], name: str, lot: Lot, goals: Mapping[str, float | None]
) -> list[Cell]:
    """A line of the table."""
    cells: list[Cell] = [lot.call, lot.size, "memory" if "memory" in name else "Redis"]
    for results in settings.values():
        own = [figures[lot] for figures in results[name]]
        cells.append(median(own))
        for other in goals:
            pairs = zip(results[other], own, strict=True)
            cells.append(median(figures[lot] / time for figures, time in pairs))
    return cells


def lots(settings: Mapping[str, Results]) -> list[Lot]:
    """The rows, call by call."""
    known = list(next(iter(settings.values()))[OURS[0]][0])
    return [
        lot
        for call in dict.fromkeys(lot.call for lot in known)
        for lot in known
        if lot.call == call
    ]
