"""The commands that write, for tests that take every one of them through every fault."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from conftest import SCENARIO
from perhop import Scenario


@dataclass(frozen=True)
class Writing:
    """A command that writes, and what it writes; `{seed}` is 1 the first time and 2 the second."""

    line: str
    targets: tuple[str, ...]
    #: What is there before: results to make something of.
    needs: tuple[str, ...] = ()


_RUNS = ("run-1", "run-2")

COMMANDS = {
    "run": Writing("run overload.yaml --duration 2s -q --seed {seed} -o out", ("out",)),
    "run-deep": Writing("run overload.yaml --duration 2s -q --seed {seed} -o new/er/out", ("new/er/out",)),
    "run-plots-captures": Writing(
        "run overload.yaml --duration 1s --set measure.warmup=0s -q --seed {seed} -o out --pcap captures "
        "--plot queue=queue.svg --plot throughput",
        ("out", "captures", "queue.svg"),
    ),
    "run-captures-inside": Writing(
        "run overload.yaml --duration 1s --set measure.warmup=0s -q --seed {seed} -o out --pcap out/captures",
        ("out",),
    ),
    "sweep": Writing(
        "sweep overload.yaml --duration 2s -q --seed {seed} --set links.1.rate=1Mb/s,2Mb/s -o out", ("out",)
    ),
    "study": Writing(
        "study run car-wfq-tcp --only scenario-1 --replications 1 --no-sensitivity -q --seed {seed} -o out",
        ("out/car-wfq-tcp",),
    ),
    "report": Writing("report run-{seed} -o report.html", ("report.html",), _RUNS),
    "plot": Writing("plot throughput run-{seed} -o plot.svg", ("plot.svg",), _RUNS),
    "compare": Writing("compare run-{seed} run-2 -o out", ("out",), _RUNS),
    "export-csv": Writing("export csv run-{seed} -o out", ("out",), _RUNS),
    "export-iperf3": Writing("export iperf3 run-{seed} -o flows.json", ("flows.json",), _RUNS),
    "export-flent": Writing("export flent run-{seed} -o flows.flent.gz", ("flows.flent.gz",), _RUNS),
    "draw": Writing("draw overload-{seed}.yaml -o network.svg", ("network.svg",)),
}


def save_runs(base: Path) -> None:
    """Save two runs, of which other commands make something."""
    (base / "overload.yaml").write_text(SCENARIO)
    for seed in (1, 2):
        scenario = Scenario.load(base / "overload.yaml", {"duration": "2s"})
        scenario.run(seed=seed).save(base / f"run-{seed}")


def lay_out(folder: Path, writing: Writing, runs: Path) -> None:
    """Make a folder with all that a command needs."""
    folder.mkdir()
    for seed in (1, 2):
        (folder / f"overload-{seed}.yaml").write_text(SCENARIO.replace("Overload", f"Overload {seed}"))
    (folder / "overload.yaml").write_text(SCENARIO)
    for one in writing.needs:
        shutil.copytree(runs / one, folder / one)
