"""Tables on a terminal of 80 columns: one table that adds up, all of them with `--wide`."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import ROOT, Terminal

ROUTER = ROOT / "examples" / "router.cfg"


def lines_of(terminal: Terminal, folder: Path, *options: str) -> list[str]:
    shown = terminal.shown(folder, "run", ROUTER, *options, columns=80)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", shown)
    return plain.split("seed 1\n")[1].partition("verdicts")[0].splitlines()


def test_a_routers_table_is_one_and_adds_up(tmp_path: Path, terminal: Terminal) -> None:
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
