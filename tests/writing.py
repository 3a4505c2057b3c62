"""The commands that write, for tests that apply every fault to each of them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from conftest import SCENARIO
from disk_model import Tree, tree
from perhop import Scenario
from perhop.errors import UnreadableFileError
from perhop.saved import Saved


@dataclass(frozen=True)
class Writing:
    """A command that writes, and its targets; `{seed}` is 1 the first time and 2 the second."""

    line: str
    targets: tuple[str, ...]
    #: The results that must exist before the command runs.
    needs: tuple[str, ...] = ()
    #: A plot in the results, whose failure does not invalidate them: its words in the command, and its file.
    plot: tuple[str, str] | None = None


_RUNS = ("run-1", "run-2")

COMMANDS = {
    "run": Writing("run overload.yaml --duration 2s -q --seed {seed} -o out", ("out",)),
    "run-deep": Writing("run overload.yaml --duration 2s -q --seed {seed} -o new/er/out", ("new/er/out",)),
    "run-plots-captures": Writing(
        "run overload.yaml --duration 1s --set measure.warmup=0s -q --seed {seed} -o out --pcap captures "
        "--plot queue=queue.svg --plot throughput",
        ("out", "captures", "queue.svg"),
        plot=("--plot throughput", "out/throughput.svg"),
    ),
    "run-captures-inside": Writing(
        "run overload.yaml --duration 1s --set measure.warmup=0s -q --seed {seed} -o out --pcap out/captures",
        ("out",),
    ),
    "study": Writing(
        "study run car-wfq-tcp --only scenario-1 --replications 1 --no-sensitivity -q --seed {seed} -o out",
        ("out/car-wfq-tcp",),
    ),
    "report": Writing("report run-{seed} -o report.html", ("report.html",), _RUNS),
    "plot": Writing("plot throughput run-{seed} -o plot.svg", ("plot.svg",), _RUNS),
    "diff": Writing(
        "diff overload.yaml overload-1.yaml --simulate --replications 1 --seed {seed} --chart chart.svg",
        ("chart.svg", "chart-2.svg", "chart-3.svg"),
    ),
    "compare": Writing("compare run-{seed} run-2 -o out", ("out",), _RUNS),
    "export-csv": Writing("export csv run-{seed} -o out", ("out",), _RUNS),
    "export-iperf3": Writing("export iperf3 run-{seed} -o flows.json", ("flows.json",), _RUNS),
    "export-flent": Writing("export flent run-{seed} -o flows.flent.gz", ("flows.flent.gz",), _RUNS),
    "draw": Writing("draw overload-{seed}.yaml -o network.svg", ("network.svg",)),
}

#: Commands whose folder grows. After any disturbance, the same command continues and ends with the same
#: folder.
GROWING = {
    "sweep": Writing(
        "sweep overload.yaml --duration 2s -q --seed {seed} --set links.1.rate=1Mb/s,2Mb/s -o out", ("out",)
    ),
    "tune": Writing(
        "tune overload.yaml --duration 2s -q --seed {seed} --vary links.1.rate=1Mb/s,3Mb/s "
        "--goal steady.loss<=50% --replications 2 -o out",
        ("out",),
    ),
}


def save_runs(base: Path) -> None:
    """Save two runs that other commands read."""
    (base / "overload.yaml").write_text(SCENARIO)
    for seed in (1, 2):
        scenario = Scenario.load(base / "overload.yaml", {"duration": "2s"})
        scenario.run(seed=seed).save(base / f"run-{seed}")


def lay_out(folder: Path, writing: Writing, runs: Path) -> None:
    """Create a folder with all files that a command needs."""
    folder.mkdir()
    for seed in (1, 2):
        (folder / f"overload-{seed}.yaml").write_text(SCENARIO.replace("Overload", f"Overload {seed}"))
    (folder / "overload.yaml").write_text(SCENARIO)
    for name in writing.needs:
        shutil.copytree(runs / name, folder / name)


def trees(folder: Path, writing: Writing) -> dict[str, Tree]:
    """The current content of each target of a command."""
    return {target: tree(folder / target) for target in writing.targets}


def untrue(
    code: int, output: str, old: Mapping[str, Tree], new: Mapping[str, Tree], found: Mapping[str, Tree]
) -> Iterator[str]:
    """Generate the violated guarantees of a disturbed command, which ended with `code`.

    `old` is the content of the targets before the command, `new` the content after an undisturbed run, and
    `found` the current content.
    """
    for target, there in found.items():
        if there not in (old[target], new[target]):
            yield f"{target} is neither the earlier result nor the new one"
    yield from _ill_said(code, output)
    if code == 0 and found != new:
        yield "done, and not everything is in place"
    if "nothing was written" in output and found != old:
        yield "something was written"
    for target in old:
        if f"`{target}`" in output.partition("written before: ")[2] and found[target] != new[target]:
            yield f"{target} was not written"


def untrue_of_growing(
    code: int, output: str, folder: Path, writing: Writing, new: Mapping[str, Tree]
) -> Iterator[str]:
    """Generate the violated guarantees of a disturbed command whose folder grows. `new` is the content of its
    targets once it is complete.
    """
    yield from _ill_said(code, output)
    if code == 0 and trees(folder, writing) != new:
        yield "done, and not everything is in place"
    for target in writing.targets:
        if (folder / target).exists():
            try:
                Saved.open(folder / target)
            except UnreadableFileError as error:
                yield f"{target} cannot be read: {error}"


def _ill_said(code: int, output: str) -> Iterator[str]:
    if re.search("internal error|Traceback|Panic|panicked|Exception ignored", output):
        yield "what it says is for its developers"
    if code > 0 and not re.search(r"^(error|interrupted|terminated): ", output, re.MULTILINE):
        yield "no message"
