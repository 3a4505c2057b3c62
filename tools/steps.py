"""Run the steps of a tier in parallel, and print the time of each: `make check`, `make thorough`.

    python tools/steps.py check|thorough [--jobs N] [--step NAME]... [--list]

A step is a target of the Makefile; its output goes to target/steps/<tier>/<step>.log. If a step fails, the
other steps still run, so that one run shows every fault; the tool leaves out only the steps that need the
failed step. Exit code 1 means that a step failed.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
#: Lines of the output of a failed step that are shown.
_TAIL = 60


@dataclass(frozen=True)
class Step:
    """A target of the Makefile, the variables for it, and the steps that must have passed before it."""

    name: str
    target: str
    after: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    #: A step that hangs is ended after this time, and fails.
    limit_s: float = 86_400


#: The steps in order of priority: the first step that can start is started next. Steps of cargo share a
#: folder and wait for each other. In this order, one processor runs cargo and one runs the tests of Python;
#: the checks of types and pages use the remaining time.
CHECK = (
    Step("extension", "test-setup"),
    Step("format", "format"),
    Step("page-scripts", "page-scripts-if-possible"),
    Step("python-tests", "test-python", after=("extension", "page-scripts"), limit_s=3000),
    Step("rust-tests", "test-rust", after=("extension",), limit_s=3000),
    Step("rust-lints", "lint-rust", after=("rust-tests",)),
    Step("rust-docs", "docs-rust", after=("rust-lints",)),
    Step("python-lints", "lint-python"),
    Step("types", "types", after=("extension",)),
    Step("pages", "docs-pages", after=("extension", "page-scripts"), variables=("NOTEBOOKS=off",)),
)

#: These steps take hours. A step whose tool is missing prints "skipped: ..." and passes.
THOROUGH = (
    Step("check", "check"),
    Step("studies", "reproduce"),
    Step("python-tests", "test-python-thorough", after=("check",)),
    Step("properties", "test-properties", after=("check",)),
    Step("instructions", "bench-instructions"),
    Step("fuzzing", "fuzz", variables=("FUZZ_SECONDS=300",)),
    Step("mutants", "mutants-sample"),
    Step("coverage", "coverage"),
    Step("wheels", "reproducible"),
)

TIERS = {"check": CHECK, "thorough": THOROUGH}


@dataclass
class Run:
    """A step that runs or has ended: its process, and its times."""

    step: Step
    log: Path
    process: subprocess.Popen[bytes]
    began: float
    limit: threading.Timer
    wall_s: float = 0.0
    processor_s: float = 0.0
    code: int | None = None
    left_out: list[str] = field(default_factory=list)


def _start(step: Step, folder: Path) -> Run:
    """Start a step in a separate process group, so that an interrupt ends all its processes."""
    log = folder / f"{step.name}.log"
    line = ["make", "--no-print-directory", step.target, *step.variables]
    # The steps do not use the job server of a make that called this program.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            line, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    limit = threading.Timer(step.limit_s, os.killpg, (process.pid, signal.SIGTERM))
    limit.daemon = True
    limit.start()
    return Run(step, log, process, time.monotonic(), limit)


def _wait(running: list[Run]) -> Run:
    """Return the next run that ends, with its times."""
    while True:
        pid, status, used = os.wait4(-1, 0)
        for run in running:
            if run.process.pid == pid:
                run.limit.cancel()
                run.code = os.waitstatus_to_exitcode(status)
                run.process.returncode = run.code
                run.wall_s = time.monotonic() - run.began
                run.processor_s = used.ru_utime + used.ru_stime
                run.left_out = _left_out(run.log)
                return run


def _left_out(log: Path) -> list[str]:
    """Return the lines in which make and pytest report the skipped parts of a step."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if re.match(r"skipped: |SKIPPED \[\d+\]|not run: ", line)]


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-_TAIL:])


def run_steps(steps: Sequence[Step], folder: Path, jobs: int, out: TextIO) -> list[Run]:
    """Run `steps`, at most `jobs` at a time, and return the runs in the order of their ends."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {step.name for step in steps}
    waiting, running, ended = list(steps), list[Run](), list[Run]()
    passed, failed = set[str](), set[str]()
    try:
        while waiting or running:
            for step in [step for step in waiting if set(step.after) & failed]:
                waiting.remove(step)
                failed.add(step.name)
                out.write(f"not run: {step.name}, which needs {', '.join(step.after)}\n")
            ready = [step for step in waiting if set(step.after) & names <= passed]
            for step in ready[: jobs - len(running)]:
                waiting.remove(step)
                running.append(_start(step, folder))
            if not running:
                continue
            run = _wait(running)
            running.remove(run)
            ended.append(run)
            (passed if run.code == 0 else failed).add(run.step.name)
            _report(run, out)
    except KeyboardInterrupt:
        for run in running:
            os.killpg(run.process.pid, signal.SIGTERM)
        raise
    return ended


def _report(run: Run, out: TextIO) -> None:
    state = "passed" if run.code == 0 else f"FAILED with exit code {run.code}"
    if run.wall_s >= run.step.limit_s:
        state = f"FAILED because of its limit of {run.step.limit_s:g} s"
    out.write(f"{run.step.name}: {state} after {run.wall_s:.0f} s\n")
    if run.code != 0:
        out.write(f"{_tail(run.log)}\nthe whole output: {run.log.relative_to(ROOT)}\n")
    out.flush()


def summary(ended: Sequence[Run], wall_s: float) -> str:
    """Return the table of the time of each step, and the steps that were left out."""
    rows = [f"{'step':<14} {'seconds':>8} {'processor s':>12}  result"]
    for run in ended:
        result = "passed" if run.code == 0 else "FAILED"
        rows.append(f"{run.step.name:<14} {run.wall_s:>8.0f} {run.processor_s:>12.0f}  {result}")
    rows.append(f"{'all':<14} {wall_s:>8.0f} {sum(run.processor_s for run in ended):>12.0f}")
    left_out = [f"  {run.step.name}: {line}" for run in ended for line in run.left_out]
    if left_out:
        rows += ["", "Left out:", *left_out]
    return "\n".join(rows) + "\n"


def main() -> int:
    """Run a tier; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tier", choices=TIERS)
    # Steps sometimes wait for the lock of cargo or for packets in real time. One additional step uses this
    # time.
    jobs = (os.cpu_count() or 1) + 1
    parser.add_argument("--jobs", type=int, default=jobs, help=f"steps at a time ({jobs})")
    parser.add_argument("--step", action="append", help="only this step, without those that it needs")
    parser.add_argument("--list", action="store_true", help="print the steps and their targets")
    arguments = parser.parse_args()
    steps = TIERS[arguments.tier]
    if arguments.list:
        sys.stdout.write("".join(f"{step.name:<14} make {step.target}\n" for step in steps))
        return 0
    if arguments.step:
        unknown = sorted(set(arguments.step) - {step.name for step in steps})
        if unknown:
            parser.error(f"no step {', '.join(unknown)}; there are {', '.join(step.name for step in steps)}")
        steps = tuple(step for step in steps if step.name in arguments.step)
    began = time.monotonic()
    ended = run_steps(steps, ROOT / "target" / "steps" / arguments.tier, arguments.jobs, sys.stdout)
    sys.stdout.write("\n" + summary(ended, time.monotonic() - began))
    passed = len(ended) == len(steps) and all(run.code == 0 for run in ended)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
