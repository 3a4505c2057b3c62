"""The tools that check prose and commit messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import prose_style
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


def test_short_lines_are_unchanged() -> None:
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


REJECTED = prose_style.patterns((ROOT / prose_style.PAGE).read_text(encoding="utf-8"))


def rejected(name: str, text: str) -> list[tuple[int, str]]:
    """The lines and words that the style page rejects in a file of which every line is new."""
    lines = text.splitlines()
    found = prose_style.faults(name, lines, set(range(1, len(lines) + 1)), REJECTED)
    return [(fault.line, fault.words) for fault in found]


BAD = {
    "whoever": "a.md\nThe gate is for whoever waits.",
    "nobody": "a.rs\n// Nobody waits for it.",
    "whatever": "a.rs\n/// Runs whatever is due.",
    "beside": "a.py\n# A policer beside a shaper.",
    "mended": "a.md\nThe bug is mended.",
    "told": 'a.py\n"""The port is told the time."""',
    "what there is to say": "a.rs\n//! Collects what there is to say of a policy.",
    "as ever": "a.md\nIt runs as ever.",
    "as above": "a.rs\n// The same as above.",
    "so many": "a.rs\n/// Sends so many packets.",
    "is no": "a.rs\n/// The value is no text.",
    "Lets": "a.rs\n/// Lets the port send.",
    "relative subject": "a.md\nIt ends. What arrives later is counted.",
    "stands": "a.rs\n// The rule stands above it.",
    "becomes of": "a.rs\n/// Decides what becomes of a packet.",
    "amounts to": "a.rs\n/// The list amounts to a drop.",
    "of today": "a.md\nThe Linux of today drops it.",
    "for ever": "a.rs\n// It would wait for ever.",
    "anew": "a.rs\n/// Counts anew.",
    "upon": "a.md\nIt depends upon the rate.",
    "wherever": "a.md\nThe rule applies wherever a queue is.",
    "laboratory": "a.py\n# Removes the laboratory.",
    "goes by": "a.rs\n/// The packet goes by that link.",
    "none but": "a.rs\n// It takes none but voice.",
    "puts down": "a.rs\n/// Puts down a wake-up.",
    "is there": "a.py\n# Whether the file is there.",
    "the like": "a.md\nRouters, hosts and the like.",
    "inverted opening": "a.rs\n/// What an acknowledgment reports.",
    "British spelling": "a.md\nThe behaviour of the licence.",
    "name that says nothing": "a.rs\n    pub(crate) fn of(&self) {}",
    "promised rate": "a.md\nThe promise to a class is its limit.",
    "stays empty": "a.md\nThe class stays empty.",
    "gets nothing": "a.rs\n/// The class gets no packet.",
    "is gone": "a.py\n# The namespace is gone.",
    "gives back": "a.rs\n/// Gives back the tokens.",
    "knows no": "a.rs\n//! The model knows no vendor.",
    "holds something": "a.py\n# The folder holds something else.",
}


def test_every_pattern_has_a_sentence_that_it_rejects() -> None:
    assert {pattern.name for pattern in REJECTED} == set(BAD)


@pytest.mark.parametrize("name", BAD)
def test_a_rejected_wording_is_found(name: str) -> None:
    file, _, text = BAD[name].partition("\n")
    only = [pattern for pattern in REJECTED if pattern.name == name]
    (fault,) = prose_style.faults(file, text.splitlines(), {1}, only)
    assert (fault.path, fault.line, fault.instead) == (file, 1, only[0].instead)
    assert prose_style.faults(file, text.splitlines(), set(), only) == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.rs", "    pub(crate) fn of<K: Ord, V>(map: &Map<K, V>) -> V {"),
        ("a.rs", 'pub(in crate::port) const unsafe extern "C" fn of<\'a, const N: usize>('),
        ("a.rs", "#[must_use] pub async fn of<"),
        ("a.py", "    async def of[T](self, value: T) -> T:"),
    ],
)
def test_generic_functions_have_names_too(name: str, line: str) -> None:
    named = prose_style.FUNCTION[Path(name).suffix].search(line)
    assert named is not None and named["name"] == "of"
    if name == "a.rs":
        assert rejected(name, line) == [(1, "of")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rs", "/// Runs all events up to `limit`.\nfn run_until(limit: Time) {}"),
        ("a.rs", '// Calls fn of() through `told`.\nlet told = "whoever";'),
        ("a.rs", "/// Returns the rate.\n///\n/// When the link is idle, the rate is 0.\nfn rate() {}"),
        ("a.rs", "// Where the port owns the queue, no lock is needed.\nlet one = of(1);"),
        ("a.rs", "/// There is no such queue, and the delay is no longer than before.\nfn color_of() {}"),
        ("a.py", 'told = "said"\ndef one_packet():\n    """Return a packet."""'),
        ("a.md", "```text\nwhoever\n```\n\nCompare `mended_by` with [it](beside.md), besides."),
    ],
)
def test_other_wordings_and_code_pass(name: str, text: str) -> None:
    assert rejected(name, text) == []


@pytest.mark.parametrize(
    "line",
    [
        "  of(number, duration, port) {",
        "  static async of(bytes) {",
        "export function of(text) {",
        "const of = (frame, index) => frame.ports[index];",
        "  const of = async frame => frame;",
    ],
)
def test_functions_of_the_playground_have_names_too(line: str) -> None:
    assert rejected("a.js", line) == rejected("a.mjs", line) == [(1, "of")]


@pytest.mark.parametrize(
    "text",
    ["  return client.of(name);", "if (of(frame)) {", "for (const one of (frames)) {", "const of = 3;"],
)
def test_calls_of_the_playground_pass(text: str) -> None:
    assert rejected("a.js", text) == []


def test_comments_of_the_playground_are_prose() -> None:
    assert rejected("a.js", "  // Whoever told.\nlet a = 'told';") == [(1, "Whoever"), (1, "told")]


def test_comments_and_docstrings_are_found_at_their_lines() -> None:
    python = (
        'x = 1  # told\n\n\nclass A:\n    """A.\n\n    It is told.\n    """\n\n    def of(self):\n        ...'
    )
    assert rejected("a.py", python) == [(1, "told"), (7, "told"), (10, "of")]
    assert rejected("a.rs", 'let a = "// told"; // told') == [(1, "told")]
    assert rejected("a.rs", "/// A.\n/// So it is.\nstruct A;\n/// So it is.") == [(4, "So")]


class Checkout:
    """A git repository with the style page, in which files change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")
        self.write("README.md", "Whoever was here before.\n")
        self.commit()
        self.write("docs/style.md", (ROOT / "docs" / "style.md").read_text(encoding="utf-8"))
        self.commit()

    def git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, capture_output=True)

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a: change something")

    def found(self, since: str | None = None) -> list[str]:
        return [f"{fault.path}:{fault.line}" for fault in prose_style.check(self.folder, since)]


def test_only_changed_lines_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = Checkout(tmp_path)
    assert checkout.found() == []
    checkout.write("README.md", "Whoever was here before.\n\nIt is told.\n")
    checkout.write("new file.md", "A wire beside a wire.\n")
    assert checkout.found() == ["README.md:3", "new file.md:1"]
    checkout.commit()
    assert checkout.found() == ["README.md:3", "new file.md:1"], "the main branch checks its last commits"
    assert prose_style.main(["--since", "HEAD"], tmp_path) == 0
    assert prose_style.main([], tmp_path) == 1
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].startswith("README.md:3: 'told': write reported")
    assert shown[-1] == "error: docs/style.md rejects 2 wordings on changed lines"
    checkout.git("checkout", "--quiet", "-b", "work")
    checkout.write("moved.md", "A wire beside a wire.\n")
    (tmp_path / "new file.md").unlink()
    checkout.commit()
    assert checkout.found() == [], "a line that moves is not new"
    checkout.write("work.md", "It is mended.\n")
    checkout.commit()
    assert checkout.found() == ["work.md:1"], "a branch is compared with the main branch"


def test_a_single_branch_without_the_main_branch_is_checked(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    checkout = Checkout(origin)
    checkout.git("checkout", "--quiet", "-b", "work")
    checkout.write("work.md", "It is mended.\n")
    checkout.commit()
    clone = tmp_path / "clone"
    line = ["git", "clone", "--quiet", "--single-branch", "--branch", "work", origin.as_uri(), str(clone)]
    subprocess.run(line, check=True, capture_output=True)
    assert [fault.path for fault in prose_style.check(clone, None)] == ["work.md"]


def test_a_checkout_with_nothing_to_compare_is_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    checkout = Checkout(origin)
    clone = tmp_path / "clone"
    line = ["git", "clone", "--quiet", "--depth=1", checkout.folder.as_uri(), str(clone)]
    subprocess.run(line, check=True, capture_output=True)
    assert prose_style.main([], clone) == 0
    assert "has no earlier commit" in capsys.readouterr().err
    assert prose_style.main(["--since", "missing"], clone) == 2
    assert "there is no such commit" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert prose_style.main([], clone) == 0
    assert "git is not installed" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    plain = tmp_path / "plain"
    (plain / "docs").mkdir(parents=True)
    (plain / "docs" / "style.md").write_text((ROOT / "docs" / "style.md").read_text(encoding="utf-8"))
    assert prose_style.main([], plain) == 0
    assert "not a git checkout" in capsys.readouterr().err
