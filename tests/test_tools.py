"""The tools that check prose and commit messages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from commit_subject import fault
from prose_width import faults, wrapped

SENTENCE = "A packet that finds its port idle is sent at once; its departure is known on entry to the ring."
LONG = f"{SENTENCE} {SENTENCE}"


def wrap(name: str, *lines: str) -> list[str]:
    text = wrapped(Path(name), list(lines))
    assert list(faults(Path(name), text)) == []
    assert wrapped(Path(name), text) == text
    return text


def test_a_long_comment_is_wrapped_with_its_mark() -> None:
    text = wrap("a.rs", f"    /// {LONG}", "    fn a() {}")
    assert text[-1] == "    fn a() {}"
    assert len(text) == 3
    assert all(line.startswith("    /// ") and len(line) <= 110 for line in text[:-1])
    assert " ".join(line.removeprefix("    /// ") for line in text[:-1]) == LONG


def test_a_comment_behind_code_goes_above_it() -> None:
    code = '    let address = "http://example.org/"; '
    text = wrap("a.rs", f"{code}// {SENTENCE}")
    assert text == [f"    // {SENTENCE}", code.rstrip()]


def test_what_is_short_stays_as_it_is() -> None:
    lines = ["Short lines", "are not joined.", "", f"- {SENTENCE}", "- another"]
    assert wrap("a.md", *lines) == lines


def test_an_item_keeps_its_indentation() -> None:
    text = wrap("a.md", f"- {LONG}", "  and more", "- another")
    assert text[0].startswith("- A packet")
    assert all(line.startswith("  ") for line in text[1:-1])
    assert text[-1] == "- another"


def test_code_tables_headings_and_addresses_are_exempt() -> None:
    address = f"https://example.org/{'a' * 120}"
    lines = ["```text", LONG, "```", "", f"| {LONG} |", "", f"## {LONG}", "", address, "", f"    {LONG}"]
    assert wrap("a.md", *lines) == lines
    assert wrap("a.rs", "/// ```text", f"/// {LONG}", "/// ```") == ["/// ```text", f"/// {LONG}", "/// ```"]


def test_no_line_begins_with_what_markdown_takes_for_a_list() -> None:
    for length in range(90, 112):
        text = wrap("a.md", f"{'a' * 40} {'b' * (length - 41)} - 1. # > {SENTENCE}")
        assert all(line[0] not in "-1#>" for line in text)


def test_code_and_formulas_stay_on_one_line() -> None:
    text = wrap("a.md", f"{SENTENCE} `perhop run first.perhop.yaml --seed 1` {SENTENCE}")
    assert any("`perhop run first.perhop.yaml --seed 1`" in line for line in text)


@pytest.mark.parametrize(
    ("message", "is_right"),
    [
        ("sim: keep one agenda entry per link", True),
        ("sim+live: share the loop\n\nBoth had a copy of it.", True),
        ("Merge branch 'main'", True),
        ("Keep one agenda entry per link", False),
        ("sim: keep one agenda entry per link.", False),
        ("sim: " + "x" * 68, False),
        ("sim: keep one entry\nwithout a blank line", False),
    ],
)
def test_subjects_of_commits(message: str, is_right: bool) -> None:
    assert (fault(message) is None) is is_right
