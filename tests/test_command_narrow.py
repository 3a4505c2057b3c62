"""Answers on a terminal of 80 columns: tables that fit, whole words, colors, wrapped help texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT, Command, Terminal

ROUTER = ROOT / "examples" / "router.cfg"
LONG = "TRANSACTIONS-OF-THE-WAREHOUSES-IN-THE-SOUTHERN-REGION-AF31"
SHORTER = "BULK-DATA-AND-BACKUPS-OVERNIGHT-AF11"
# A queue of 2000 packets at 64 kb/s: delays of five digits in milliseconds.
CONFIGURATION = f"""\
version 15.7
class-map match-any {LONG}
 match ip dscp af31
class-map match-any {SHORTER}
 match ip dscp af11
policy-map leased-line
 class {LONG}
  bandwidth 768
 class {SHORTER}
  bandwidth 64
  queue-limit 2000
 class class-default
  fair-queue
interface FastEthernet0/0
 ip address 10.20.0.1 255.255.255.0
interface Serial0/0
 ip address 192.168.1.2 255.255.255.252
 clock rate 2000000
 service-policy output leased-line
"""
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def plain(shown: str) -> str:
    """Return the screen of a terminal, without colors and progress bars."""
    return _CODES.sub("", re.sub(r"\x1b\[\?25l.*?\x1b\[\?25h", "", shown, flags=re.DOTALL))


def lines_of(terminal: Terminal, folder: Path, *options: str) -> list[str]:
    shown = terminal.shown(folder, "run", ROUTER, *options, columns=80)
    return plain(shown).split("seed 1\n")[1].partition("verdicts")[0].splitlines()


def test_a_routers_table_is_not_split_and_adds_up(tmp_path: Path, terminal: Terminal) -> None:
    lines = lines_of(terminal, tmp_path, "--replications", "1")
    rules = [line for line in lines if line.startswith("───")]
    assert len(rules) == 1, "one table"
    assert all(len(line.rstrip()) <= 80 for line in lines)
    heads = " ".join(lines[:3]).split()
    assert {"offered", "delivered", "dropped", "network", "configured", "obtained", "p99"} <= set(heads)
    assert "%" not in heads, "no number twice"
    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0] in ("voice", "business")]
    assert len(rows) == 2
    for row in rows:
        offered, *parts = (int(cell.replace(",", "")) for cell in row[1:5])
        assert offered == sum(parts) > 0
    assert "more with --wide: drops by cause, delay mean" in lines


def test_several_replications_are_one_table_of_means(tmp_path: Path, terminal: Terminal) -> None:
    lines = lines_of(terminal, tmp_path)
    assert len([line for line in lines if line.startswith("───")]) == 1
    assert not any("±" in line for line in lines)
    assert any(line.startswith("more with --wide: drops by cause, intervals") for line in lines)


def test_wide_shows_every_column(tmp_path: Path, terminal: Terminal) -> None:
    lines = lines_of(terminal, tmp_path, "--wide")
    assert len([line for line in lines if line.startswith("───")]) >= 2
    heads = " ".join(lines).split()
    assert {"full", "queued", "flight", "mean", "p99"} <= set(heads)
    assert not any("--wide" in line for line in lines)


@pytest.fixture
def routers(tmp_path: Path) -> tuple[Path, Path]:
    """A router whose classes have long names, and a copy with another share."""
    old, new = tmp_path / "old.cfg", tmp_path / "new.cfg"
    old.write_text(CONFIGURATION)
    new.write_text(CONFIGURATION.replace("bandwidth 768", "bandwidth 500"))
    return old, new


def assert_fits(shown: str, width: int = 80) -> list[str]:
    """Fail on lines that the terminal would wrap, and on broken words."""
    lines = plain(shown).splitlines()
    assert [line for line in lines if len(line) > width] == []
    assert "…" not in shown, "nothing is truncated"
    for part in re.findall(r"[A-Z][A-Z0-9-]{12,}", plain(shown)):
        assert part in (LONG, SHORTER), "a name is whole"
    return lines


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "old.cfg"),
        ("diff", "old.cfg", "new.cfg"),
        ("rates", "old.cfg"),
        ("bounds", "old.cfg"),
        ("run", "old.cfg", "--load", "overload", "--duration", "60s", "--replications", "2"),
        ("run", "old.cfg", "--duration", "20s", "--replications", "2", "--wide"),
        ("explain", "priority-burst-small"),
        ("bufferbloat", "--rate", "50/10Mb/s", "--qdisc", "fq_codel,fifo"),
        ("check", ROOT / "examples" / "uplink.tc"),
        ("trace", ROUTER, "--packet", "tcp 10.1.0.20:443 > 10.1.0.20:9 dscp af21 len 500"),
    ],
    ids=lambda arguments: " ".join(Path(word).name for word in arguments[:2]),
)
@pytest.mark.usefixtures("routers")
def test_no_line_and_no_word_is_broken(
    arguments: tuple[str | Path, ...], tmp_path: Path, terminal: Terminal
) -> None:
    assert_fits(terminal.shown(tmp_path, *arguments, columns=80))


@pytest.mark.usefixtures("routers")
def test_delays_of_five_digits_fit(tmp_path: Path, terminal: Terminal) -> None:
    shown = terminal.shown(tmp_path, "run", "old.cfg", "--load", "overload", "--duration", "60s", columns=80)
    lines = assert_fits(shown)
    row = lines[lines.index(SHORTER) + 1].split()
    offered, *parts = (float(cell.replace(",", "")) for cell in row[:4])
    assert offered == pytest.approx(sum(parts), rel=0.01) and offered > 0, "the row below its name"
    assert any(re.search(r"\b\d\d\.\d+$", line) for line in lines), "tens of seconds in a queue"


def test_a_comparison_has_whole_words_and_colored_verdicts(
    perhop: Command, scenario: Path, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = scenario.read_text().replace("name: random", f"name: {LONG}")
    scenario.write_text(text)
    for name, rate in (("a", "2Mb/s"), ("b", "3Mb/s")):
        assert perhop("run", scenario, "--set", f"links.1.rate={rate}", "-o", name, "-q").code == 0
    shown = terminal.shown(tmp_path, "compare", "a", "b", columns=80)
    lines = assert_fits(shown)
    assert LONG in lines and "steady" in lines, "a class has a line of its own"
    heads = " ".join(lines[:4])
    assert all(word in heads for word in ("figure", "unit", "difference", "verdict"))
    assert "\x1b[1;31mDIFFERS" in shown and "\x1b[32magrees" in shown
    narrow = assert_fits(terminal.shown(tmp_path, "compare", "a", "b", columns=60), 60)
    assert sum("figure" in line and "unit" in line for line in narrow) >= 2, "each part names its rows"
    monkeypatch.setenv("NO_COLOR", "1")
    without = terminal.shown(tmp_path, "compare", "a", "b", columns=80)
    assert "DIFFERS" in without and "\x1b[3" not in without and "\x1b[1;3" not in without
    monkeypatch.delenv("NO_COLOR")
    piped = perhop("compare", "a", "b").out
    assert "\x1b" not in piped and "tolerance" in piped and max(map(len, piped.splitlines())) > 80


@pytest.mark.usefixtures("routers")
def test_judgments_are_colored_on_a_terminal_alone(
    perhop: Command, tmp_path: Path, terminal: Terminal
) -> None:
    (tmp_path / "bad.perhop.yaml").write_text("perhop: 1\n")
    assert "\x1b[32mok\x1b[0m" in terminal.shown(tmp_path, "check", "old.cfg", columns=80)
    both = terminal.shown(tmp_path, "check", "old.cfg", "bad.perhop.yaml", columns=80, code=2)
    assert "\x1b[1;31mnot ok\x1b[0m" in both and "\x1b[32mok\x1b[0m" in both
    asserted = ("--assert", "class-default.loss < 100%", "--assert", "class-default.loss > 99%")
    run = ("run", "old.cfg", "--duration", "20s", "--replications", "1", *asserted)
    shown = terminal.shown(tmp_path, *run, columns=80, code=4)
    assert "\x1b[32mPASS\x1b[0m" in shown and "\x1b[1;31mFAIL\x1b[0m" in shown
    assert "\x1b[32mno losses" in shown or "\x1b[32mfit for" in shown
    assert "\x1b" not in perhop(*run).out + perhop("check", "old.cfg", "bad.perhop.yaml").out


def test_the_platform_is_named_once(
    perhop: Command, routers: tuple[Path, Path], tmp_path: Path, terminal: Terminal
) -> None:
    run = ("run", routers[0], "--duration", "5s", "--replications", "1")
    for command in (run, ("check", routers[0]), ("bounds", routers[0])):
        assert plain(terminal.shown(tmp_path, *command, columns=80)).count("hqf") == 1, command[0]
    piped = perhop(*run)
    assert piped.out.count("hqf") == piped.err.count("hqf") == 1, "each of the two streams may stand alone"


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("command", ["", "run", "trace", "sweep", "tune", "study run", "live bridge"])
def test_helps_wrap_at_the_width(perhop: Command, command: str, width: int) -> None:
    ended = perhop(*command.split(), "--help", COLUMNS=str(width))
    lines = ended.out.splitlines()
    assert ended.code == 0 and max(map(len, lines)) <= width
    framed = [line for line in lines if line.startswith(("╭", "│"))]
    assert {len(line) for line in framed} == {width}, "the whole width is used"
    examples = ended.out.partition("Examples:")[2].partition("\n\n")[0].replace(" \\\n    ", " ")
    assert f"\n  perhop {command}".rstrip() in examples, "an example is one command for a shell"
    assert not re.search(r"--\w[\w-]* \\\n", ended.out), "an option and its value stay on a line"
