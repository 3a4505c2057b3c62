"""Write perhop's answers to the inputs of this repository, or list the answers that differ.

    python tools/answers.py DIRECTORY [FOLDER ...]
    python tools/answers.py --compare BEFORE AFTER

Run the tool before and after a change that must not change answers. The tool writes one JSON file for each
input file to `DIRECTORY`, with the answer to each question: the report of `check`, the inferred and the
resolved scenario, the result of a short run with its rates, `show`, the packets of `trace`, `draw`, `convert`
to each language, and `diff` with the previous configuration of the same folder. Inputs are the router
configurations and scenarios of `FOLDERS` and of every further folder. An error is also an answer.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.checking import check_file
from perhop.configuration import router_text
from perhop.convert import TARGETS, convert
from perhop.differing import difference
from perhop.document import overrides
from perhop.draw import draw
from perhop.draw.router import router as draw_router
from perhop.errors import PerhopError
from perhop.inputs import SCENARIO, require_regular
from perhop.results import Results
from perhop.running import simulate
from perhop.scenario import Scenario
from perhop.show.output import sampled, shown
from perhop.tracing import has_output, node, traced

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("vectors/ios", "vectors/tc", "examples", "tests/configurations", "studies")
CONFIGURATIONS = (".cfg", ".tc", ".txt")
SCENARIOS = (".yaml", ".yml")
# The duration is sufficient for every class to send a packet.
SHORT = {"duration": "50ms", "measure.warmup": "0s"}

Answer = Any
Questions = dict[str, Callable[[], Answer]]


def configurations(folder: Path) -> Iterator[Path]:
    """Generate the inputs of a folder in order."""
    for file in sorted(folder.rglob("*")):
        is_output = file.suffix == ".txt" and (
            "reference" in file.parts or file.with_suffix(".cfg").exists() or file.with_suffix(".tc").exists()
        )
        if file.is_file() and file.suffix in (*CONFIGURATIONS, *SCENARIOS) and not is_output:
            yield file


class Router:
    """The questions about a router configuration. They share one run and one inference."""

    def __init__(self, file: Path, text: str, before: Path | None) -> None:
        """Store a configuration, and the earlier configuration with which `diff` compares it."""
        self.file, self.text, self.before = file, text, before
        self._inferred: Scenario | PerhopError | None = None
        self._results: Results | PerhopError | None = None

    def questions(self) -> Questions:
        """Return the questions by name."""
        asked: Questions = {
            "check": lambda: asdict(check_file(self.file, detail="policies")),
            "check-remarks": lambda: asdict(check_file(self.file, detail="remarks")),
            "inferred": lambda: [json.loads(self.inferred().to_json()), self.inferred().inferred],
            "resolved": self.resolved,
            "run": lambda: self.results().summary,
            "show": lambda: [
                text
                for command in self.outputs()
                for device in shown(self.results(), command)
                for text in device["texts"]
            ],
            "trace": self.traced,
            "draw": lambda: draw_router(self.text),
        }
        for target in TARGETS:
            asked[f"convert-{target}"] = lambda to=target: convert(self.file, to=to).to_dict()  # type: ignore[misc]
        if self.before is not None:
            old = self.before
            asked["diff"] = lambda: asdict(difference(old, self.file))
        return asked

    def inferred(self) -> Scenario:
        """Return the inferred scenario."""
        if self._inferred is None:
            try:
                self._inferred = Scenario.infer(self.file)
            except PerhopError as error:
                self._inferred = error
        if isinstance(self._inferred, PerhopError):
            raise self._inferred
        return self._inferred

    def resolved(self) -> Answer:
        """Return the scenario that runs."""
        scenario = self.inferred()
        return json.loads(_core.load_json(scenario.to_json(), scenario.base, overrides(SHORT)).resolved)

    def outputs(self) -> tuple[str, ...]:
        """Return the commands of the device whose output is shown."""
        profile = json.loads(_core.check_router(self.text, detail="remarks"))["platform"]["profile"]
        return ("qdisc", "class") if profile == "linux" else ("policy-map interface",)

    def results(self) -> Results:
        """Return the results of a short run."""
        if self._results is None:
            try:
                scenario = sampled(self.inferred().changed(SHORT), self.outputs())
                self._results = simulate(scenario, replications=1, threads=1)
            except PerhopError as error:
                self._results = error
        if isinstance(self._results, PerhopError):
            raise self._results
        return self._results

    def traced(self) -> Answer:
        """Return the packets that reach the queues of each interface with an output policy."""
        ports = json.loads(_core.check_router(self.text))["router"]["ports"]
        found = {}
        for port in ports:
            if has_output(port):
                at = node(self.file, out=port["name"])
                reached = at.reach()
                place = traced(self.file, out=port["name"])
                found[port["name"]] = [
                    reached,
                    *(place.answer(packet) for packet in reached.values() if packet),
                ]
        return found


def scenario_questions(file: Path) -> Questions:
    """Return the questions about a scenario or a file of policies."""
    asked: Questions = {
        "check": lambda: asdict(check_file(file)),
        "resolved": lambda: json.loads(_core.load(file, []).resolved),
        "draw": lambda: draw(Scenario.load(file)),
    }
    for target in TARGETS:
        asked[f"convert-{target}"] = lambda to=target: convert(file, to=to).to_dict()  # type: ignore[misc]
    return asked


def answered(question: Callable[[], Answer]) -> Answer:
    """Return the answer to a question, or its error."""
    try:
        return question()
    except PerhopError as error:
        return {"error": type(error).__name__, "message": str(error), "help": error.help}
    except Exception as error:  # a fault that existed before is also an answer
        return {"fault": repr(error)}


def _plain(value: object) -> object:
    """Return a set as a sorted list, and any other value as text."""
    return sorted(value) if isinstance(value, set | frozenset) else str(value)


def write_answers(directory: Path, folders: list[Path]) -> int:
    """Write the answers to all inputs of `folders`; return their number."""
    count = 0
    for folder in folders:
        # Paths in answers are relative, so that two trees can be compared.
        base = ROOT if folder.is_relative_to(ROOT) else folder.parent
        os.chdir(base)
        before: Path | None = None
        for file in configurations(folder.relative_to(base)):
            require_regular(file, SCENARIO)
            text = None if file.suffix in SCENARIOS else router_text(file)
            if text is None and file.suffix not in SCENARIOS:
                continue
            if text is None:
                questions = scenario_questions(file)
            else:
                is_near = before is not None and before.parent == file.parent
                questions = Router(file, text, before if is_near else None).questions()
                before = file
            answers = {name: answered(question) for name, question in questions.items()}
            written = directory / f"{file}.json"
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(json.dumps(answers, indent=1, default=_plain) + "\n", encoding="utf-8")
            count += len(answers)
    return count


def differing(before: Path, after: Path) -> Iterator[str]:
    """Generate the name of each answer that differs between two folders or is missing in one of them."""
    files = sorted({file.relative_to(at) for at in (before, after) for file in at.rglob("*.json")})
    for file in files:
        first, second = (
            json.loads((at / file).read_text(encoding="utf-8")) if (at / file).exists() else {}
            for at in (before, after)
        )
        for name in dict.fromkeys([*first, *second]):
            if first.get(name) != second.get(name):
                yield f"{file.with_suffix('')}: {name}"


def main() -> int:
    """Write or compare answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    parser.add_argument("directory", nargs="?", type=Path)
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    if given.compare:
        names = list(differing(*given.compare))
        sys.stdout.write("\n".join([*names, f"{len(names)} answers differ\n"]))
        return 1 if names else 0
    if given.directory is None:
        parser.error("a folder for the answers is missing")
    folders = [*(ROOT / name for name in FOLDERS), *(folder.resolve() for folder in given.folders)]
    sys.stdout.write(f"{write_answers(given.directory.resolve(), folders)} answers\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
