"""Every string is data, including names with a meaning for a terminal, a table, a formula or a page."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from conftest import Command, Terminal
from perhop import run
from perhop.convert.policies import read_source
from perhop.printable import printable

NAMES = (
    "data[gold]",
    "[/]",
    "[bold red]x[/bold red]",
    "$$",
    r"$\frac{$",
    "_hidden",
    "<script>alert(1)</script>",
    "</script>",
    "&amp;",
    ":smile:",
    '=cmd|"/c calc"!A1',
    "`tick` ``",
    "![p](//tracker.example/x) *a* www.example.com",
    "@SUM(A1)",
    "{{ 7 * 7 }}",
    "{name}",
    "%s%n",
    "../up",
    "naïve 数据 \N{GRINNING FACE}",
)
# Allowed control sequences: colors, and the cursor and lines of a progress bar.
_TOLD = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def _scenario(folder: Path) -> Path:
    sources = {"cbr": {"rate": "80kb/s", "packet": {"ip": "500B"}}}
    document = {
        "perhop": 1,
        "name": "[/] $x$ <b> {{ title }}",
        "duration": "2s",
        "hosts": {"a": {}, "b": {}},
        "routers": {"r[1]": {}},
        "links": [
            {"between": ["a", "r[1]"], "rate": "10Mb/s"},
            {"between": ["r[1]", "b"], "rate": "1Mb/s", "interfaces": {"r[1]": {"output": "p"}}},
        ],
        "policies": {
            "p": {
                "queueing": {
                    "scheduler": "drr",
                    "classes": [
                        {"name": name, "match": {"dscp": number}} if name != NAMES[-1] else {"name": name}
                        for number, name in enumerate(NAMES, 1)
                    ],
                }
            }
        },
        "traffic": [
            {"name": name, "from": "a", "to": "b", "dscp": number % len(NAMES), "source": sources}
            for number, name in enumerate(NAMES, 1)
        ],
        "measure": {"queues": [{"from": "r[1]", "to": "b", "every": "100ms"}], "throughput-every": "200ms"},
    }
    file = folder / "hostile.perhop.yaml"
    file.write_text(json.dumps(document, ensure_ascii=False))
    return file


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    return _scenario(tmp_path)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs, their scenario, and another that differs."""
    folder = tmp_path_factory.mktemp("saved")
    file = _scenario(folder)
    (folder / "other.perhop.yaml").write_text(file.read_text().replace('"1Mb/s"', '"900kb/s"'))
    for name, seed in (("results", 1), ("other", 2)):
        run(file, seed=seed).save(folder / name)
    return folder


def test_a_terminal_shows_every_name_literally(hostile: Path, tmp_path: Path, terminal: Terminal) -> None:
    shown = terminal.shown(tmp_path, "run", hostile, "-o", "results")
    for name in NAMES:
        assert name in shown, name
    assert "[/] $x$ <b> {{ title }}" in shown
    assert "\x1b" not in _TOLD.sub("", shown)


# Commands that show every name, and commands that receive all names but show none.
SHOWING = (
    "run FILE --watch --speed 100x",
    "run FILE --assert data[gold].loss<=100%",
    "trace FILE --at r[1]:b --reach all",
    "bounds FILE",
    "diff FILE other.perhop.yaml",
    "diff FILE other.perhop.yaml --simulate --replications 2",
    "convert FILE --to ios",
    "convert FILE --to tc",
    "sweep FILE --set seed=1,2",
    "compare results other",
)
SILENT = (
    "check FILE",
    "draw FILE -o network.png",
    "tune FILE --goal '$$.loss as small as possible' --vary links.1.rate=1Mb/s:2Mb/s --trials 2",
    "verify results",
    "export flent results",
    "export iperf3 results",
)


@pytest.mark.parametrize("line", [*SHOWING, *SILENT])
def test_every_command_shows_names_literally(line: str, saved: Path, terminal: Terminal) -> None:
    arguments = ["hostile.perhop.yaml" if word == "FILE" else word for word in shlex.split(line)]
    shown = terminal.shown(saved, *arguments)
    assert "\x1b" not in _TOLD.sub("", shown)
    if line in SHOWING:
        assert [name for name in NAMES if name not in shown] == []


def test_a_comment_contains_every_name_literally(saved: Path, perhop: Command) -> None:
    written = perhop("diff", *sorted(saved.glob("*.perhop.yaml")), "--markdown").out
    page = MarkdownIt("commonmark").enable("table").render(written)
    found = ElementTree.fromstring(f"<page>{page}</page>")
    marks = {element.tag for element in found.iter()}
    assert marks == {"page", "h3", "table", "thead", "tbody", "tr", "th", "td", "code"}
    cells = {"".join(element.itertext()) for element in found.iter("td")}
    assert {f"queue {name}" for name in NAMES} <= cells
    # On GitHub, more texts have an effect: mentions, emoji and formulas. They have none inside code.
    code = {element.text for element in found.iter("code")}
    assert {f"queue {name}" for name in NAMES if re.search("[@$:]|www", name)} <= code


def test_written_policies_contain_every_name_literally(
    hostile: Path, tmp_path: Path, perhop: Command
) -> None:
    assert perhop("convert", hostile, "--to", "yaml", "-o", "policies.yaml").code == 0
    assert perhop("check", "policies.yaml").code == 0
    (policy,) = read_source(tmp_path / "policies.yaml").attached
    queueing = policy.policy["queueing"]
    assert queueing is not None
    assert [entry["name"] for entry in queueing["classes"]] == [*NAMES]


def test_pictures_and_pages_contain_every_name_literally(
    hostile: Path, tmp_path: Path, perhop: Command
) -> None:
    assert perhop("run", hostile, "-q", "-o", "results").code == 0
    for kind in ("throughput", "queue", "delay-cdf"):
        for suffix in (".svg", ".png", ".html") if kind == "throughput" else (".svg",):
            ended = perhop("plot", kind, "results", "-o", f"{kind}{suffix}")
            assert ended.code == 0, ended.err
        words = "\n".join(ElementTree.parse(tmp_path / f"{kind}.svg").getroot().itertext())
        # A chart of queues shows only the longest queues, not all names.
        assert kind == "queue" or all(name in words for name in NAMES), kind
    assert perhop("report", "results", "-o", "report.html").code == 0
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert(1)" not in page
    assert "{{ 7 * 7 }}" in page
    assert perhop("draw", hostile, "-o", "network.svg").code == 0
    drawn = "\n".join(ElementTree.parse(tmp_path / "network.svg").getroot().itertext())
    assert all(name in drawn for name in NAMES)


def test_a_spreadsheet_evaluates_no_formula(hostile: Path, tmp_path: Path, perhop: Command) -> None:
    assert perhop("run", hostile, "-q", "-o", "results").code == 0
    assert perhop("export", "csv", "results").code == 0
    with (tmp_path / "results.csv" / "throughput.csv").open(newline="") as file:
        cells = {cell for row in csv.reader(file) for cell in row}
    assert not any(cell.startswith(("=", "@")) for cell in cells)
    assert {f"'{name}" if name[0] in "=@" else name for name in NAMES} <= cells


# Files whose names contain control sequences of terminals, and marks that reverse the reading direction.
_COMMANDING = {
    "router.cfg": (
        "hostname r\x1b]0;title\x07\nclass-map A\x1b[31m\n match dscp ef\npolicy-map P\n"
        " description \u202ex\n class A\x1b[31m\n  priority percent 10\n  bogus\x1b[35m\n"
        "interface Serial0/0\n ip address 10.0.0.1 255.255.255.0\n service-policy output P\n"
    ),
    "refused.tc": (
        "tc qdisc add dev eth0\x1b[31m root handle 1: htb default 1\n"
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit\x1b[32m \u202e\n"
    ),
    "uplink.tc": "tc qdisc add dev eth1 root handle 1: htb default 1 # \x1b[31m\n"
    "tc class add dev eth1 parent 1: classid 1:1 htb rate 1mbit\ntc qdisc add dev e\x9b31m root pfifo\n",
    "shown.json": '[{"kind": "pfifo", "handle": "1:", "dev": "e\\u001b[31m", "root": true, "options": {}}]',
    "scenario.yaml": (
        'perhop: 1\nname: "x\\e[31m"\nduration: 1s\nhosts: {"a\\e[31m": {}, b: {}}\nlinks: []\ntraffic: []\n'
    ),
}
_BRIEFLY = "--duration 1s --set measure.warmup=0s"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("check router.cfg", 0),
        (f"run router.cfg {_BRIEFLY}", 0),
        (f"show policy-map interface router.cfg {_BRIEFLY}", 0),
        ("trace router.cfg --reach all", 0),
        ("convert router.cfg --to yaml", 0),
        ("check refused.tc", 1),
        (f"run refused.tc {_BRIEFLY}", 0),
        ("check uplink.tc", 0),
        ("diff uplink.tc refused.tc", 0),
        ("check shown.json", 0),
        ("check scenario.yaml", 2),
        ("run scenario.yaml --set x\x1b[31m=1", 2),
    ],
)
def test_control_characters_of_a_file_reach_no_terminal(
    line: str, code: int, tmp_path: Path, terminal: Terminal
) -> None:
    for name, text in _COMMANDING.items():
        (tmp_path / name).write_text(text)
    shown = terminal.shown(tmp_path, *line.split(), code=code)
    assert re.search("[\x1b\x07\x9b\u202e]", _TOLD.sub("", shown)) is None
    # A name does not change the color either, although perhop itself prints colors.
    assert re.search(r"\b(A|r|x|a|e|bogus|eth0|1mbit)\x1b\[3[125]m", shown) is None


def test_a_file_name_is_shown_without_its_control_characters(tmp_path: Path, perhop: Command) -> None:
    ended = perhop("run", "a\x1b[31mb\u202e.yaml")
    assert ended.code == 2
    assert "\x1b" not in ended.err
    assert "\u202e" not in ended.err


def test_printable_characters_are_kept() -> None:
    assert printable("data[gold] 数据\n\tx") == "data[gold] 数据\n\tx"
    assert printable("a\x1b[0m\x07\x7f\x9b\u202e\udc80") == "a␛[0m␇␡���"
