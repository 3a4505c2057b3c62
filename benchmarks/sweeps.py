"""Compare a sweep with the alternatives of a user: a shell loop, and a pool of processes.

    python benchmarks/sweeps.py [--points N] [--rounds N] [--output FILE]

Points are runs of `examples/on-off-red.perhop.yaml` for 10 s, each with another seed. Rates are points per
second of wall time. They are medians over rounds in which all alternatives run in turn, because a shared
machine disturbs all of them. The slow alternatives run fewer points. The overhead is the processor time of a
stored sweep minus the time of the points alone (`_core.Batch`), which load and run the scenario and create
the tables without Python. A local Dask cluster runs longer points (100 s), which are also run on the threads
of one process for comparison. The start and the end of the cluster are not counted.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import perhop
from perhop import _core
from perhop.engines import Assignment, Embedded, Engine, Finished, Task, named
from perhop.sweeping import Plan, design_of, plan_of, stored

SCENARIO = Path(__file__).parents[1] / "examples" / "on-off-red.perhop.yaml"
_TARGETS = {"two threads": 1.9, "overhead %": 2.0, "dask": 0.85}
_NAIVE_POINTS = {"shell loop": 10, "pool of processes": 100}


def main() -> int:
    """Measure the sweep and its alternatives, print the rates, and write them to `--output`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1000, help="points of a sweep (default: 1,000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--output", type=Path, default=Path("results/sweeps.json"))
    arguments = parser.parse_args()
    short, long = plan(arguments.points, "10s"), plan(4 * arguments.points, "100s")
    ways: dict[str, Callable[[], float]] = {
        "points alone, 1 thread": lambda: alone(short, 1),
        "sweep, 1 thread": lambda: swept(short, Embedded(1)),
        "sweep, 2 threads": lambda: swept(short, Embedded(2)),
        "pool of processes": pool,
        "shell loop": shell,
        "long points, 2 threads": lambda: swept(long, Embedded(2)),
        "long points, dask with 2 workers": lambda: swept(long, named("dask", threads=2)),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(arguments.rounds):
        for name, way in ways.items():
            rates[name].append(way())
    medians = {name: statistics.median(found) for name, found in rates.items()}
    overheads = [overhead(short) for _ in range(arguments.rounds)]
    ratios = {
        "two threads": statistics.median(
            second / first
            for first, second in zip(rates["sweep, 1 thread"], rates["sweep, 2 threads"], strict=True)
        ),
        "overhead %": statistics.median(overheads),
        "dask": statistics.median(
            there / here
            for here, there in zip(
                rates["long points, 2 threads"], rates["long points, dask with 2 workers"], strict=True
            )
        ),
    }
    for name, rate in medians.items():
        sys.stdout.write(f"{name:<34} {rate:10.1f} points/s\n")
    for name, value in ratios.items():
        bound = "at most" if name.startswith("overhead") else "at least"
        sys.stdout.write(f"{name:<34} {value:10.2f} ({bound} {_TARGETS[name]})\n")
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(json.dumps({"points_per_s": medians, "ratios": ratios}, indent=2) + "\n")
    return 0


def plan(points: int, duration: str) -> Plan:
    """Return a sweep over seeds."""
    loaded = perhop.Scenario.load(SCENARIO)
    return plan_of(loaded, design_of({"duration": duration, "seed": f"1:{points}:1"}))


def swept(made: Plan, engine: Engine) -> float:
    """Return the points per second of a stored sweep. The start and the end of a cluster are not counted."""
    with tempfile.TemporaryDirectory() as folder, engine.session() as running:
        timed = _Timed(running, is_local=isinstance(engine, Embedded))
        stored(made, timed, Path(folder) / "out")
        return timed.rate(time.monotonic())


class _Timed:
    """An engine that records when its first points are complete."""

    def __init__(self, engine: Engine, *, is_local: bool) -> None:
        self._engine, self._is_local = engine, is_local
        self._first, self._points = 0.0, 0

    def simulate(self, task: Task, points: Iterator[Assignment]) -> Generator[Finished]:
        """Generate the results of the engine."""
        begin = time.monotonic()
        for finished in self._engine.simulate(task, points):
            self._note(finished, begin)
            yield finished

    def session(self) -> AbstractContextManager[Engine]:
        """Return this engine, because the session of the timed engine is already open."""
        return nullcontext(self)

    def _note(self, finished: Finished, begin: float) -> None:
        local = self._is_local
        if not self._first and (finished.ended or local):
            # The first batches of a cluster were simulated during its start, so they are not counted.
            self._first = begin if local else time.monotonic()
            self._points = len(finished.ended) if local else 0
        elif self._first:
            self._points += len(finished.ended)

    def rate(self, end: float) -> float:
        """Return points per second."""
        return self._points / (end - self._first)


def alone(made: Plan, threads: int) -> float:
    """Return the rate of the points alone, without Python and without a folder of results."""
    begin = time.monotonic()
    _simulate(made, threads)
    return len(made.design) / (time.monotonic() - begin)


def _simulate(made: Plan, threads: int) -> None:
    task = made.task
    batch = _core.Batch(task.scenario, task.base, threads, list(task.tables), seed=task.seed)
    batch.submit([(number, list(changes)) for number, changes in made.assignments(range(len(made.design)))])
    while batch.unfinished():
        batch.take(0.25)


def overhead(made: Plan) -> float:
    """Return the additional processor time of a stored sweep compared with its points alone, percent."""
    begin = time.process_time()
    _simulate(made, 1)
    middle = time.process_time()
    swept(made, Embedded(1))
    return 100.0 * ((time.process_time() - middle) / (middle - begin) - 1.0)


def _one_run(seed: int) -> float:
    found = perhop.run(SCENARIO, seed=seed, duration="10s", threads=1)
    return float(found.classes["throughput_bps"][0])


def pool() -> float:
    """Return the rate of a pool of two processes that call `perhop.run`."""
    count = _NAIVE_POINTS["pool of processes"]
    begin = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(2) as workers:
        workers.map(_one_run, range(1, count + 1))
    return count / (time.monotonic() - begin)


def shell() -> float:
    """Return the rate of a shell loop over `perhop run`."""
    count = _NAIVE_POINTS["shell loop"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(sys.executable).with_name("perhop")
        command = f'"{program}" run "{SCENARIO}" --duration 10s --seed $seed -q -o $seed'
        loop = f"for seed in $(seq {count}); do {command}; done"
        begin = time.monotonic()
        subprocess.run(loop, shell=True, check=True, cwd=folder, env=os.environ, stderr=subprocess.DEVNULL)
        return count / (time.monotonic() - begin)


if __name__ == "__main__":
    sys.exit(main())
