"""The survey of small faults: each is written once, selected by its number, and counted with an interval."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from programs import needs

sys.path.insert(0, str(ROOT / "tools"))

import mutants

RUST = """pub fn sum(left: u32, right: u32) -> u32 {
    // { in a comment
    left + right
}
pub const fn fixed(left: u32) -> u32 {
    left + 1
}
pub fn all(count: u32) -> impl Iterator<Item = u32> {
    0..count + 1
}
"""
FUNCTIONS = ["pub fn sum", "pub const fn fixed", "pub fn all"]


def fault(number: int, old: str, new: str, function: str) -> mutants.Mutant:
    begin = RUST.index(function)
    start = RUST.index(old, begin)
    span = (begin, RUST.index("\n}", begin) + 2)
    return mutants.Mutant(number, f"{old} for {new}", "lib.rs", start, start + len(old), new, span)


def test_faults_are_chosen_only_in_functions_that_run() -> None:
    able = {name: mutants._body(RUST, fault(1, "+", "-", name).function or (0, 0)) for name in FUNCTIONS}
    assert [name for name, brace in able.items() if brace is not None] == ["pub fn sum"]


@needs("rustc")
def test_each_fault_runs_where_its_number_is_chosen_and_nowhere_else(tmp_path: Path) -> None:
    faults = [fault(7, "+", "-", "pub fn sum"), fault(9, "left + right", "5", "pub fn sum")]
    text, lines = mutants.rewrite(RUST, faults)
    for first, last, mutant in lines:
        assert mutant.replacement in "\n".join(text.split("\n")[first - 1 : last])
    program = tmp_path / "faults.rs"
    program.write_text(text + mutants._SELECT + 'fn main() { print!("{}", sum(8, 2)) }', encoding="utf-8")
    subprocess.run(["rustc", "--edition=2024", str(program), "-o", str(tmp_path / "run")], check=True)
    for number, expected in {"": "10", "7": "6", "9": "5", "8": "10"}.items():
        environment = {**os.environ, mutants._CHOICE: number}
        done = subprocess.run([tmp_path / "run"], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == expected, number


def test_the_interval_is_wilsons_score_interval() -> None:
    # Brown, Cai and DasGupta 2001: 0 of 10, and its mirror.
    low, high = mutants.interval(0.0, 10)
    assert (round(low, 4), round(high, 4)) == (0.0, 0.2775)
    assert [round(1 - end, 4) for end in mutants.interval(1.0, 10)] == [0.2775, 0.0]
