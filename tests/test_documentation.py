"""The documentation is valid: the targets of links exist, commands run, pages are complete."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from cyclopts import App
from markdown_it import MarkdownIt

import perhop
from conftest import ROOT
from perhop import _core
from perhop.command import examples
from perhop.command.parser import app
from perhop.errors import Exit

DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("studies/*/README.md")]
    if "_build" not in page.parts and "generated" not in page.parts
)
ALGORITHMS = sorted((DOCS / "algorithms").glob("*.md"))
# The pages that `make docs` writes for Sphinx.
GENERATED = DOCS / "reference" / "generated"
# Folders whose files are named in texts.
FOLDERS = "crates|docs|examples|python|schema|studies|tests|tools|vectors|benchmarks|fidelity|requirements"


def markdown(page: Path) -> str:
    """Return the text of a page; for a notebook, that of its Markdown cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def links(page: Path) -> Iterator[str]:
    for token in MarkdownIt("commonmark").enable("table").parse(markdown(page)):
        for part in token.children or []:
            target = part.attrGet("href") or part.attrGet("src")
            if target:
                yield unquote(str(target))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and as Sphinx write them."""
    tokens = MarkdownIt("commonmark").parse(markdown(page))
    titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            assert target.startswith("https://"), f"{target}: written without https"
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if file.is_relative_to(GENERATED):
            continue
        assert file.exists(), f"{page.relative_to(ROOT)}: {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.relative_to(ROOT)}: no heading for {target}"


# Built files, which git ignores.
BUILT = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return  # it names files of earlier versions
    text = markdown(page)
    if page.name == "tests-merged.md":
        # The first column has tests that no longer exist.
        text = re.sub(r"^\| [^|]*", "", text, flags=re.MULTILINE)
    for name in re.findall(rf"`((?:{FOLDERS})/[^\s`]*[\w/])`", text):
        if re.search(r"[<{…]|_build|generated", name):
            continue
        # A decision has a number; a crate's tests are named without the crate.
        file = name.partition("::")[0].rstrip("/")
        if file in BUILT:
            continue  # not in a fresh checkout
        found = [*ROOT.glob(f"{file}*"), *ROOT.glob(f"crates/*/{file}")]
        assert found, f"{page.relative_to(ROOT)} names {name}"


def test_every_exit_code_is_named() -> None:
    rows = re.findall(r"^\| (\d+) \|", (DOCS / "exit-codes.md").read_text(), flags=re.MULTILINE)
    helped = re.findall(r"\b(\d+) [a-z]", examples.PERHOP.partition("Exit codes:")[2])
    assert [int(code) for code in rows] == [int(code) for code in helped] == list(Exit)


def test_the_page_names_every_function_of_the_extension_module() -> None:
    names = {name for name, value in vars(_core).items() if callable(value) and not isinstance(value, type)}
    assert len(names) > 10
    page = (ROOT / "ARCHITECTURE.md").read_text()
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_no_module_imports_the_command_line() -> None:
    package = ROOT / "python" / "perhop"
    files = [file for file in package.rglob("*.py") if (package / "command") not in file.parents]
    assert len(files) > 50
    importing = [file.name for file in files if "perhop.command" in file.read_text()]
    assert importing == ["__main__.py"]


def test_make_has_the_targets_that_are_named() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for page in PAGES:
        named = re.findall(r"(?:`|^\$ )make ([a-z-]+)", page.read_text(), flags=re.MULTILINE)
        assert set(named) <= targets, f"{page.name}: {set(named) - targets}"


@pytest.mark.parametrize("page", ALGORITHMS, ids=lambda page: page.stem)
def test_every_algorithm_has_its_formula_and_its_source(page: Path) -> None:
    text = page.read_text()
    assert re.search(r"^\*\*Sources?\.\*\* \S", text, flags=re.MULTILINE), "no source"
    formulas = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL) + re.findall(r"\$[^$\n]+\$", text)
    assert any(re.search(r"[←=≤∑·:]|\\leftarrow|\\le", formula) for formula in formulas), "no formula"


def test_every_algorithm_has_a_page() -> None:
    """Every name of the policy language is on a page, as written."""
    written = "\n".join(page.read_text() for page in ALGORITHMS)
    names = []
    for kind in (
        "MeterConfig",
        "BufferConfig",
        "SchedulerConfig",
        "SourceConfig",
        "CongestionControl",
        "Recovery",
    ):
        for choice in perhop.schema()["$defs"][kind]["oneOf"]:
            names += list(choice.get("properties", {})) or [choice["const"]]
    assert len(names) > 25
    for name in names:
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", written, flags=re.IGNORECASE), name


def test_the_reference_describes_every_key() -> None:
    schema = perhop.schema()
    for name, definition in [("the file", schema), *schema["$defs"].items()]:
        for key, value in definition.get("properties", {}).items():
            assert value.get("description") or "$ref" in value, f"{name}: {key}"


def test_the_reference_has_every_command() -> None:
    sys.path.insert(0, str(DOCS))
    try:
        import generate_reference
    finally:
        sys.path.pop(0)
    assert set(generate_reference.commands(app)) == {"", *_words(app)}
    page = generate_reference.not_modelled_page((ROOT / "README.md").read_text())
    assert page.count("\n- ") >= 6


def _words(group: App, before: str = "") -> Iterator[str]:
    for word in group:
        if not word.startswith("-"):
            yield f"{before} {word}".strip()
            yield from _words(group[word], f"{before} {word}".strip())


def test_every_deviation_from_a_source_is_documented() -> None:
    found = tomllib.loads((DOCS / "deviations.toml").read_text())["deviation"]
    for deviation in found:
        assert all(deviation[key].strip() for key in ("algorithm", "source", "quote", "reason"))


def test_every_study_has_a_notebook() -> None:
    from perhop.study import identifiers

    assert {file.stem for file in NOTEBOOKS} == {"my-router", "my-network", "lessons", *identifiers()}
    index = (DOCS / "index.md").read_text()
    assert all(f"notebooks/{file.stem}" in index for file in NOTEBOOKS)


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (\S+)$", citation, flags=re.MULTILINE) == [perhop.__version__]


CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def long_entries(changelog: str) -> list[str]:
    """The entries of more than two lines."""
    entries = re.findall(r"^- .*(?:\n  .*)*", changelog, flags=re.MULTILINE)
    return [entry for entry in entries if entry.count("\n") > 1]


def test_every_entry_of_the_changelog_fits_two_lines() -> None:
    assert long_entries(CHANGELOG) == []
    assert long_entries("- one\n  two\n- one\n  two\n  three\n") == ["- one\n  two\n  three"]


def test_the_changelog_is_ready_for_a_release() -> None:
    """A release needs only its tag if the version of the tree already has a section."""
    sections = re.findall(r"^## (\S+)$", CHANGELOG, flags=re.MULTILINE)
    assert sections[0] == "Unreleased" and sections[1] == perhop.__version__
    assert len(set(sections)) == len(sections)
    kinds = re.findall(r"^### (.+)$", CHANGELOG.partition("## Unreleased\n")[2].partition("\n## ")[0], re.M)
    assert kinds == ["Added", "Changed", "Fixed", "Results change"]
    assert (DOCS / f"what-{sections[-1]}-does.md").is_file()


def test_every_decision_has_its_number_and_a_row_in_the_index() -> None:
    folder = DOCS / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    pages = sorted(folder.glob("0*.md"))
    assert len(pages) > 15
    rows = []
    for page in pages:
        title = page.read_text(encoding="utf-8").splitlines()[0]
        number, text = int(page.name[:4]), title.partition(". ")[2]
        assert title == f"# {number}. {text}", page.name
        rows.append((str(number), text, page.name))
    assert re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|", index, flags=re.MULTILINE) == rows
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", index, flags=re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1)), "a number that is not used has a row, too"


PROMISES = (DOCS / "promises.md").read_text(encoding="utf-8")
INVENTORY = {
    promise["id"]: promise["tests"]
    for promise in tomllib.loads((ROOT / "tests" / "promises.toml").read_text(encoding="utf-8"))["promise"]
}


def sources(place: str) -> list[Path]:
    """The files in which a test may be: `tests/test_x.py`, `crate file`, or a path below a crate.

    A crate's tests are found at any depth, so that they may be modules of one binary.
    """
    path = re.fullmatch(r"crates/([\w-]+)/tests/(?:.+/)?(\w+)\.rs", place)
    short = re.fullmatch(r"([\w-]+) (\w+)", place)
    if found := path or short:
        tests = ROOT / "crates" / found[1] / "tests"
        return [*tests.rglob(f"{found[2]}.rs"), *tests.rglob(f"{found[2]}/mod.rs")]
    return [ROOT / place] if (ROOT / place).is_file() else []


def exists(test: str) -> bool:
    """Whether there is a test `place::function`."""
    place, _, function = test.partition("::")
    declared = re.compile(rf"^ *(def|fn) {re.escape(function)}\(", flags=re.MULTILINE)
    return any(declared.search(file.read_text(encoding="utf-8")) for file in sources(place))


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("tests/test_documentation.py::exists", True),
        ("perhop-sim conservation::offered_is_delivered_dropped_or_in_the_network", True),
        ("crates/perhop-sim/tests/conservation.rs::offered_is_delivered_dropped_or_in_the_network", True),
        ("crates/perhop-sim/tests/it/conservation.rs::offered_is_delivered_dropped_or_in_the_network", True),
        ("perhop-sim conservation::offered", False),
        ("perhop-qos conservation::offered_is_delivered_dropped_or_in_the_network", False),
        ("tests/test_absent.py::test_it", False),
    ],
)
def test_a_named_test_is_found_in_any_layout(test: str, found: bool) -> None:
    assert exists(test) is found


@pytest.mark.parametrize("promise", INVENTORY)
def test_every_test_of_a_promise_exists(promise: str) -> None:
    tests = INVENTORY[promise]
    assert len(tests) == len(set(tests)) > 0
    assert [test for test in tests if not exists(test)] == []


def test_every_promise_has_its_tests_on_the_page() -> None:
    """Each part of the page before the long runs ends in the numbers and places of the inventory."""
    promises, long_runs, _ = PROMISES.partition("\n## Long runs\n")
    assert long_runs
    parts = [" ".join(part.partition("\n## ")[0].split()) for part in promises.split("\n### ")[1:]]
    expected = []
    for promise, tests in INVENTORY.items():
        places = dict.fromkeys(test.partition("::")[0] for test in tests)
        where = ", ".join(f"`{place}`" for place in places)
        expected.append(f"Checked by {len(tests)} tests (`{promise}`): {where}.")
    for part in parts:
        assert any(part.endswith(line) for line in expected), f"write one of {expected} after: {part[:80]}"
    assert len(parts) == len(expected)


def test_promises_and_fidelity_are_pages_and_not_inventories() -> None:
    words = len(PROMISES.split()) + len((DOCS / "fidelity.md").read_text(encoding="utf-8").split())
    assert words <= 8000


def test_every_fuzz_target_has_its_figures() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| [\d,]+ \| [\d.]+ \| .+ \|$", PROMISES, flags=re.MULTILINE)
    assert sorted(rows) == sorted(file.stem for file in (ROOT / "fuzz" / "fuzz_targets").glob("*.rs"))


def merged(page: str) -> list[list[str]]:
    """The rows of the table of merged tests."""
    _, table, rows = page.partition("| deleted or merged test |")
    assert table, "the table has its head"
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows.splitlines()[2:] if row]


def faults_of_merged(rows: list[list[str]]) -> Iterator[str]:
    """Describe each wrong row of the table of merged tests."""
    for row in rows:
        if len(row) != 3 or not row[2].strip():
            yield f"{row}: a row has three cells, the last with the reason"
            continue
        before, after = (re.findall(r"`([^`]+::\w+)`", cell) for cell in row[:2])
        if len(before) != 1 or not after:
            yield f"{row}: write one test `file::function`, then those that hold its promise"
        yield from (f"{test}: it still exists; remove its row" for test in before if exists(test))
        yield from (f"{test}: there is no such test" for test in after if not exists(test))


def test_merged_tests_are_removed_and_their_replacements_exist() -> None:
    page = (DOCS / "tests-merged.md").read_text(encoding="utf-8")
    assert list(faults_of_merged(merged(page))) == []


def test_a_wrong_row_of_merged_tests_is_found() -> None:
    here, gone = "`tests/test_documentation.py::exists`", "`tests/test_documentation.py::test_of_the_past`"
    assert list(faults_of_merged([[gone, here, "the same case"]])) == []
    for row in ([here, here, "why"], [gone, gone, "why"], [gone, "", "why"], [gone, here], [gone, here, ""]):
        assert len(list(faults_of_merged([row]))) == 1, row
    head = "| deleted or merged test | test that still holds its promise | why |\n|---|---|---|\n"
    assert merged(f"# Page\n\n{head}") == []
    assert merged(f"# Page\n\n{head}| a | b, c | d |\n") == [["a", "b, c", "d"]]


SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_list_of_unsafe_code_matches_the_sources() -> None:
    part = SECURITY.partition("### Unsafe code\n")[2].partition("\n#")[0]
    places = re.findall(r"^- `(crates/[^`]+)`:", part, flags=re.MULTILINE)
    code = re.compile(
        r"^(?! *//).*\b(unsafe \{|unsafe (fn|impl|trait)|unsafe\(|allow\(unsafe_code\))", re.MULTILINE
    )
    found = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "crates").rglob("*.rs")
        if code.search(file.read_text(encoding="utf-8"))
    }
    assert [file for file in sorted(found) if not file.startswith(tuple(places))] == []
    assert [place for place in places if not any(file.startswith(place) for file in found)] == []


def test_every_trust_boundary_has_tests_that_exist() -> None:
    table = SECURITY.partition("## Trust boundaries\n")[2].partition("\n## ")[0]
    rows = [row.split(" | ") for row in re.findall(r"^\| (.+) \|$", table, flags=re.MULTILINE)[1:]]
    assert len(rows) == 9
    for boundary, _, held in rows:
        tests = re.findall("`([^`]+)`", held)
        assert tests, boundary
        assert [test for test in tests if not sources(test)] == [], boundary
