"""Applications by which people judge a network, through the command line: figures, tables, report, plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from perhop import Results, Scenario, ScenarioError, _core, run
from perhop.tables import APPLICATIONS

EXAMPLE = ROOT / "examples" / "applications.perhop.yaml"
FAIR = {"policies.line.queueing.classes.0.buffer": "{fq-codel: {law: linux}}"}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The example with a plain queue and with FQ-CoDel."""
    folder = tmp_path_factory.mktemp("applications")
    for name, changed in {"fifo": {}, "fq": FAIR}.items():
        run(EXAMPLE, duration="30s", seed=1, set=changed).save(folder / name)
    return {name: folder / name for name in ("fifo", "fq")}


def figures(folder: Path, key: str) -> dict[str, Any]:
    (group,) = Results.load(folder).summary[key]
    return {name: value["mean"] for name, value in group.items() if isinstance(value, dict)}


def test_fair_queueing_improves_all_applications_except_the_speed_test(saved: dict[str, Path]) -> None:
    plain, fair = saved["fifo"], saved["fq"]
    # 250 packets of 1500 bytes at 20 Mb/s are 150 ms.
    before, after = figures(plain, "speed_tests"), figures(fair, "speed_tests")
    assert before["loaded_latency_s"] > 0.08
    assert 0.03 < after["loaded_latency_s"] < 0.045
    assert after["rpm"] == pytest.approx(60 / after["loaded_latency_s"])
    assert min(before["rate_bps"], after["rate_bps"]) > 0.6 * 20e6
    assert figures(fair, "calls")["r"] > 90.0 > figures(plain, "calls")["r"] + 10.0
    assert figures(fair, "games")["response_p99_s"] < 0.065 < figures(plain, "games")["response_p99_s"]
    for folder in (plain, fair):
        video, page = figures(folder, "videos"), figures(folder, "pages")
        assert 0.03 < video["startup_delay_s"] < 5.0
        assert 235e3 <= video["bitrate_mean_bps"] <= 5.8e6
        # 1.9 MB at 20 Mb/s last 0.76 s, in addition to two pauses of 50 ms.
        assert page["load_p50_s"] > 0.86
        assert page["pages"] >= 2


def test_every_table_is_printed_and_in_the_report(
    saved: dict[str, Path], perhop: Command, tmp_path: Path
) -> None:
    ended = perhop("run", EXAMPLE, "--duration", "14s", "--wide")
    assert ended.code == 0, ended.err
    for words in (
        "Calls",
        "Games",
        "Adaptive video",
        "Page loads",
        "Speed tests",
        "MOS",
        "load time",
        "start-up",
    ):
        assert words in ended.out, words
    ended = perhop("report", saved["fq"], "-o", "report.html")
    assert ended.code == 0, ended.err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for table in APPLICATIONS:
        assert table.title in page, table.title
    assert "Page load time" in page


def test_page_loads_are_plotted(saved: dict[str, Path], perhop: Command, tmp_path: Path) -> None:
    ended = perhop("plot", "page-load-cdf", saved["fifo"], "-o", "pages.svg")
    assert ended.code == 0, ended.err
    assert "Page load time" in (tmp_path / "pages.svg").read_text(encoding="utf-8")


def test_runs_without_applications_have_no_application_tables(perhop: Command) -> None:
    ended = perhop("run", ROOT / "examples" / "drr.perhop.yaml", "--duration", "2s", "-o", "out", "--json")
    assert ended.code == 0, ended.err
    assert not {table.key for table in APPLICATIONS} & set(ended.json())
    ended = perhop("plot", "page-load-cdf", "out")
    assert ended.code != 0
    assert "no page was loaded" in ended.err


def test_mistakes_are_named_with_their_line(perhop: Command, tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8").replace("connections: 4", "connections: 0")
    (tmp_path / "wrong.perhop.yaml").write_text(text, encoding="utf-8")
    ended = perhop("check", "wrong.perhop.yaml")
    line = next(number for number, content in enumerate(text.splitlines(), 1) if "connections: 0" in content)
    assert ended.code != 0
    assert f"wrong.perhop.yaml:{line}" in ended.err + ended.out
    assert "from 1 to 1000" in ended.err + ended.out


def test_live_runs_refuse_unsupported_applications() -> None:
    with pytest.raises(ScenarioError, match="players, browsers and speed tests"):
        _core.live_plan(Scenario.load(EXAMPLE).to_json(), EXAMPLE.parent, 1)
