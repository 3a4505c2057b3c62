"""The fast reader of plain command lines and the parser of all command lines have the same results."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from rich.console import Console

from conftest import ROOT, Command
from perhop.command import direct, overview
from perhop.command.commands import COMMANDS, Group
from perhop.command.commands import Command as Described
from perhop.command.help_pages import lay_out_examples
from perhop.command.parser import app, program

# Words that are valid for some types and invalid for others; only the full parser understands some of them.
WORDS = [
    "7",
    "0",
    "-3",
    "2.5",
    "1e3",
    "0x10",
    "edge",
    "a=b",
    "Edge File.yaml",
    "",
    "./-",
    "plain",
    "busy",
    "é",
    "[1]",
]


def _commands(group: Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Described]]:
    for name, entry in group.entries.items():
        if isinstance(entry, Group):
            yield from _commands(entry, (*words, name))
        else:
            yield (*words, name), entry


ALL = dict(_commands(COMMANDS))


def _bound(words: list[str]) -> Mapping[str, Any] | None:
    """The arguments in a line according to the parser of all command lines; `None` if it refuses the line."""
    try:
        _, bound, ignored = app.parse_args(words, exit_on_error=False, print_error=False)
    except Exception:
        return None
    return None if ignored else bound.arguments


def _read(words: list[str]) -> Mapping[str, Any] | None:
    """The arguments in a line according to the fast reader; `None` if it leaves the line to the parser."""
    call: Any = direct.call_of(words, COMMANDS)
    return None if call is None else signature(call.func).bind(*call.args, **call.keywords).arguments


def _lines(words: tuple[str, ...], draws: random.Random) -> Iterator[list[str]]:
    """Random command lines of a command, from its own options and any words."""
    flags = sorted(_flags(words))
    values = [*WORDS, *_choices(words)]
    required = [argument for argument in _arguments(words) if argument.required]
    while True:
        line = list(words)
        for argument in required:
            line += [argument.name] if argument.name.startswith("-") else []
            line.append(draws.choice(values))
        for _ in range(draws.randrange(6)):
            match draws.randrange(4):
                case 0:
                    line.append(draws.choice(values))
                case 1 if flags:
                    line.append(draws.choice(flags))
                case 2 if flags:
                    line += [draws.choice(flags), draws.choice(values)]
                case 3 if flags:
                    line.append(f"{draws.choice(flags)}={draws.choice(values)}")
        yield line


def _arguments(words: tuple[str, ...]) -> list[Any]:
    group = app
    for word in words:
        group = group[word]
    return list(group.assemble_argument_collection())


def _flags(words: tuple[str, ...]) -> set[str]:
    return {name for argument in _arguments(words) for name in argument.names if name.startswith("-")}


def _choices(words: tuple[str, ...]) -> set[str]:
    hints = [argument.hint for argument in _arguments(words)]
    inner = [part for hint in hints for part in (hint, *get_args(hint))]
    return {choice for hint in inner if get_origin(hint) is Literal for choice in get_args(hint)}


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_line_that_the_reader_accepts_means_the_same_to_the_parser(words: tuple[str, ...]) -> None:
    draws = random.Random(" ".join(words))
    accepted = 0
    for _, line in zip(range(80), _lines(words, draws), strict=False):
        read = _read(line)
        if read is not None:
            accepted += 1
            assert read == _bound(line), line
    # The reader accepts lines of each command without the parser, except of one whose words may be options.
    assert accepted or words == ("complete",)


@pytest.mark.parametrize(
    "line",
    [
        "check router.cfg",
        "check a.cfg b.cfg --json --fail-on warning",
        "check --ignore a --ignore b sites",
        "run router.cfg --replications 1",
        "run edge --set duration=2s --set seed=3 -q -o out --seed=7",
        "design wred --bandwidth 2Mb/s --delay 100ms",
        "rates router.cfg --interface gi0/1",
        "plot delay results/a results/b --title x",
    ],
)
def test_usual_lines_need_no_parser(line: str) -> None:
    read = _read(line.split())
    assert read is not None and read == _bound(line.split())


@pytest.mark.parametrize(
    "line",
    [
        "",
        "run --help",
        "check",
        "check router.cfg --jsn",
        "check router.cfg --fail-on worst",
        "check router.cfg --fail-on",
        "run edge --replications 0",
        "run edge --replications two",
        "run edge --seed 1 --seed 2",
        "run edge other",
        "run edge --no-open",
        "run edge --json=yes",
        "live exec host -- ls --all",
        "unknown",
    ],
)
def test_the_parser_explains_all_other_lines(line: str) -> None:
    assert direct.call_of(line.split(), COMMANDS) is None


def _groups(group: Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    for name, entry in group.entries.items():
        if isinstance(entry, Group):
            yield from _groups(entry, (*words, name))


@pytest.mark.parametrize("width", [60, 80, 137])
@pytest.mark.parametrize("words", list(_groups(COMMANDS)), ids=" ".join)
def test_the_help_of_a_group_is_that_of_the_parser(
    words: tuple[str, ...], width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert overview.shows([*words, "--help"], COMMANDS)
    printed = capsys.readouterr().out
    usual, written = program(), StringIO()
    lay_out_examples(usual, words)
    usual.help_print(words, console=Console(width=width, file=written))
    lines = "\n".join(line.rstrip() for line in written.getvalue().splitlines())
    assert printed.strip() == lines.strip()


def test_help_in_an_encoding_without_lines() -> None:
    line = [sys.executable, "-m", "perhop", "design", "--help"]
    shown = subprocess.run(line, capture_output=True, check=True, env={"PYTHONIOENCODING": "ascii"}, cwd=ROOT)
    assert b"+- Commands ---" in shown.stdout and b"| wred" in shown.stdout


def test_help_on_a_terminal_is_styled(perhop: Command) -> None:
    assert "\x1b" not in perhop("--help").out
    assert perhop("--version").out.strip() and perhop("--version").code == 0


def test_a_path_keeps_the_type_of_its_parameter() -> None:
    read = _read(["run", "edge", "-o", "out"])
    assert read is not None and read["scenario"] == Path("edge") and read["output"] == Path("out")


def test_only_the_parser_knows_cyclopts() -> None:
    """The fast reader uses no descriptions from cyclopts, whose import lasts longer than a check."""
    folder = ROOT / "python" / "perhop" / "command"
    importing = {
        file.name
        for file in folder.glob("*.py")
        if re.search(r"^\s*(from|import) cyclopts", file.read_text(), re.M)
    }
    assert importing == {"help_pages.py", "parser.py"}
