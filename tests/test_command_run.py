"""`perhop run`: the table, the JSON document, the folder."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import polars as pl
import pytest

from conftest import HANGS_AFTER_S, ROOT, Command, Ended, command_line, leftovers
from perhop.command import class_table


def test_the_table_shows_every_class(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--replications", "1")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("Overload: 5 s simulated, 1 replication, seed 1")
    heads = [word for line in lines[1:4] for word in line.split()]
    for word in ("class", "offered", "delivered", "queue", "full", "network", "throughput", "delay", "p99"):
        assert word in heads
    assert lines[3].split() == ["class", "offered", "delivered", "full", "network", "Mb/s", "ms", "ms"]
    assert any(line.split()[:2] == ["steady", "401"] for line in lines), ended.out
    assert "\x1b" not in ended.out + ended.err, "no escape codes in a pipe"
    assert ended.err == "", "no progress bar in a pipe"


def test_offered_packets_add_up_on_screen(perhop: Command, scenario: Path) -> None:
    rows = [line.split() for line in perhop("run", scenario, "--replications", "1").out.splitlines()]
    for name in ("steady", "random"):
        (row,) = (row for row in rows if row[:1] == [name])
        offered, delivered, full, inside = (int(cell.replace(",", "")) for cell in row[1:5])
        assert offered == delivered + full + inside


def test_queues_have_configured_and_obtained_rates(perhop: Command, tmp_path: Path) -> None:
    text = (ROOT / "examples" / "drr.perhop.yaml").read_text()
    (tmp_path / "drr.perhop.yaml").write_text(text)
    ended = perhop("run", "drr.perhop.yaml", "--replications", "1")
    assert ended.code == 0, ended.err
    table = ended.out.partition("queues of router->sink")[2]
    rows = {row[0]: row[1:] for line in table.splitlines() if (row := line.split())}
    assert rows["gold"] == ["≥", "5,000", "5,000"], "its part of 10 Mb/s, of which all are greedy"
    document = perhop("run", "drr.perhop.yaml", "--json").json()
    gold = next(row for row in document["rates"] if row["queue"] == "gold")
    assert (gold["port"], gold["priority"], gold["limit_bps"]) == ("router->sink", False, None)
    assert gold["guaranteed_bps"] == pytest.approx(gold["obtained_bps"]["mean"], rel=0.01)


def test_marked_packets_have_a_table(perhop: Command, scenario: Path) -> None:
    file = ROOT / "python" / "perhop" / "templates" / "l4s.perhop.yaml"
    options = ("--duration", "4s", "--set", "measure.warmup=1s", "--replications", "1")
    ended = perhop("run", file, *options, "-o", "out")
    lines = ended.out.split("marked by ECN\n", 1)[1].splitlines()
    assert [word for line in lines[:2] for word in line.split()] == [
        "marked",
        "port",
        "queue",
        "sent",
        "marked",
        "%",
    ]
    assert lines[3].split()[:2] == ["edge->home", "all"]
    sent, marked, percent = (float(cell.replace(",", "")) for cell in lines[3].split()[2:])
    assert 0 < marked < sent
    assert percent == pytest.approx(100 * marked / sent, rel=1e-3)
    (row,) = (
        port
        for port in perhop("run", file, *options, "--json").json()["ports"]
        if port["port"] == "edge->home"
    )
    assert (row["sent_packets"]["mean"], row["marked_packets"]["mean"]) == (sent, marked)
    # Events that did not occur have no table.
    assert "marked by" not in perhop("run", scenario).out
    assert perhop("report", "out", "-o", "report.html").code == 0
    report = (scenario.parent / "report.html").read_text()
    assert "Ports that dropped or marked packets, by cause" in report
    assert "marked packets (ECN)" in report


def test_a_queue_without_sent_packets_has_no_marked_share(capsys: pytest.CaptureFixture[str]) -> None:
    def count(mean: float) -> dict[str, object]:
        return {"mean": mean, "ci95": None, "unit": "packets"}

    row = {"port": "a->b", "queue": "all", "precedence": 0}
    class_table._show_marks([{**row, "sent_packets": count(0), "marked_packets": count(3)}])
    assert capsys.readouterr().out.splitlines()[-2].split() == ["a->b", "all", "0", "3", "-"]


def test_replications_bring_confidence_intervals(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--replications", "3")
    assert "3 replications" in ended.out
    (line,) = [line for line in ended.out.splitlines() if line.split()[:1] == ["random"]]
    assert line.count("±") >= 4


def test_json_is_one_document_and_agrees_with_itself(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--json", "--replications", "2")
    assert ended.code == 0, ended.err
    document = ended.json()
    assert document["schema_version"] == 1
    assert document["replications"] == 2
    classes = {row["class"]: row for row in document["classes"]}
    assert set(classes) == {"steady", "random"}
    for row in classes.values():
        lost = row["dropped_packets"]["mean"] + row["in_network_packets"]["mean"]
        assert row["offered_packets"]["mean"] == row["delivered_packets"]["mean"] + lost
    throughput = sum(row["throughput_bps"]["mean"] for row in classes.values())
    assert throughput == pytest.approx(2e6, rel=0.01), "a link of 2 Mb/s that is offered more is full"


def test_a_value_that_was_not_measured_is_null(perhop: Command, scenario: Path) -> None:
    # Nothing can arrive within a duration shorter than the propagation delay.
    ended = perhop("run", scenario, "--json", "--duration", "5ms", "--set", "measure.warmup=0s")
    assert ended.code == 0, ended.err
    assert ended.json()["classes"][0]["delay_mean_s"]["mean"] is None


def test_set_seed_and_duration_reach_the_run(perhop: Command, scenario: Path) -> None:
    arguments = ("--set", "traffic.steady.count=2", "--seed", "7", "--duration", "3s", "--json")
    document = perhop("run", scenario, *arguments).json()
    steady = next(row for row in document["classes"] if row["class"] == "steady")
    assert steady["flows"]["mean"] == 2
    assert (document["seed"], document["duration_s"]) == (7, 3.0)


TCP = """\
perhop: 1
name: Files
duration: 10s
hosts: { client: {}, server: {} }
links:
  - { between: [client, server], rate: 10Mb/s, delay: 5ms, loss: 0.01 }
traffic:
  - name: files
    count: 2
    from: client
    to: server
    source: { file-transfer: { tcp: { profile: linux-2.2 }, size: 20kB } }
  - name: bulk
    from: client
    to: server
    source-port: 40000
    source: { bulk: { tcp: { profile: linux-2.2 } } }
measure:
  connections: [{ traffic: bulk, every: 100ms }]
"""


def test_tcp_has_a_separate_table(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "tcp.perhop.yaml").write_text(TCP)
    ended = perhop("run", "tcp.perhop.yaml", "--replications", "1", "-o", "out")
    assert ended.code == 0, ended.err
    classes, tcp = re.split(r"\nTCP *\n", ended.out.partition("\nverdicts;")[0])
    assert "fairness" in classes, "files are two flows"
    for word in ("goodput", "segments", "retransmitted", "timeouts", "transactions", "p95"):
        assert word in tcp, ended.out
    document = json.loads((tmp_path / "out" / "summary.json").read_text())
    files, bulk = document["tcp"]
    for group in (files, bulk):
        assert group["retransmissions"]["mean"] > 0
        (line,) = [line for line in tcp.splitlines() if line.split()[:1] == [group["class"]]]
        assert f"{group['retransmissions']['mean']:,.0f}" in line.split()
    assert files["completion_p95_s"]["mean"] >= files["completion_p50_s"]["mean"] > 0
    windows = pl.read_parquet(tmp_path / "out" / "connections.parquet")
    assert windows["flow"].unique().to_list() == ["bulk"]
    assert len(windows) in (100, 101)
    assert 0 < document["fairness"]["mean"] <= 1


def test_a_scenario_may_be_piped_in(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    from_file = perhop("run", scenario, "--json").json()

    def piped(text: str, *arguments: str) -> Ended:
        ended = subprocess.run(
            command_line([*arguments, "-", "--json"]),
            cwd=tmp_path,
            input=text,
            capture_output=True,
            text=True,
            timeout=HANGS_AFTER_S,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    assert piped(scenario.read_text(), "run").json() == from_file
    assert piped(scenario.read_text(), "check").code == 0
    wrong = piped(scenario.read_text().replace("rate: 2Mb/s", "rat: 2Mb/s"), "run")
    assert wrong.code == 2
    assert "standard input:8" in wrong.json()["error"]["message"]


def test_quiet_prints_nothing(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--quiet", "-o", "out")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_the_folder_contains_all_results(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    ended = perhop("run", scenario, "--replications", "1", "-o", "lab/out", "--json")
    assert ended.code == 0, ended.err
    out = tmp_path / "lab" / "out"
    manifest = json.loads((out / "manifest.json").read_text())
    names = {f"{table}.parquet" for table in manifest["tables"]}
    assert {path.name for path in out.iterdir()} == names | {"manifest.json", "scenario.json", "summary.json"}
    printed = ended.json()
    del printed["verdicts"]
    assert json.loads((out / "summary.json").read_text()) == printed
    classes = pl.read_parquet(out / "classes.parquet")
    assert classes.columns == list(manifest["tables"]["classes"])
    assert classes["class"].to_list() == ["steady", "random"]
    assert leftovers(tmp_path / "lab") == []


def test_only_an_earlier_result_is_replaced(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    assert perhop("run", scenario, "-o", "out").code == 0
    assert perhop("run", scenario, "-o", "out", "--seed", "2").code == 0
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["seed"] == 2
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter.tex").write_text("years of work")
    ended = perhop("run", scenario, "-o", "thesis")
    assert ended.code == 2
    assert "has no earlier result" in ended.err
    assert [path.name for path in thesis.iterdir()] == ["chapter.tex"]


def test_results_are_not_saved_inside_of_others(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    assert perhop("run", scenario, "-o", "out").code == 0
    before = sorted(path.name for path in (tmp_path / "out").iterdir())
    for inside in ("out/best", "out/deep/er"):
        ended = perhop("run", scenario, "-o", inside, "--force")
        assert ended.code == 2 and "is inside of" in ended.err, ended.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == before


def test_a_saved_scenario_runs_again(perhop: Command, scenario: Path) -> None:
    """The resolved scenario is a scenario file (YAML includes JSON), and gives the same results."""
    assert perhop("run", scenario, "-o", "out", "--seed", "3", "--replications", "2").code == 0
    first = perhop("run", scenario, "--seed", "3", "--replications", "2", "--json").json()
    assert perhop("run", "out/scenario.json", "--json").json() == first
