"""The page and the command line agree about a file: findings, scenario, results, verdicts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import perhop.playground
from conftest import ROOT, Command
from perhop import Scenario, _core
from perhop.verdicts.fitness import ROLES
from playground import Page, needs_page, page, summary_of

# A build of the whole engine for WebAssembly, and minutes in a browser: `make test-playground` runs them.
pytestmark = pytest.mark.touched

EXAMPLES, CONFIGURATIONS = ROOT / "examples", ROOT / "tests" / "configurations"
JUNOS = """\
set version 21.4R3.15
set system host-name edge
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 10.1.0.1/24
set interfaces ge-0/0/1 speed 10m
set interfaces ge-0/0/1 unit 0 family inet address 10.2.0.1/30
set class-of-service forwarding-classes class voice queue-num 5
set class-of-service forwarding-classes class orders queue-num 2
set class-of-service classifiers dscp marks forwarding-class voice loss-priority low code-points ef
set class-of-service classifiers dscp marks forwarding-class orders loss-priority low code-points af31
set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp marks
set class-of-service interfaces ge-0/0/1 scheduler-map wan
set class-of-service scheduler-maps wan forwarding-class voice scheduler voice
set class-of-service scheduler-maps wan forwarding-class orders scheduler orders
set class-of-service scheduler-maps wan forwarding-class best-effort scheduler rest
set class-of-service schedulers voice priority strict-high
set class-of-service schedulers voice shaping-rate 2m
set class-of-service schedulers orders transmit-rate percent 40
set class-of-service schedulers rest transmit-rate remainder
"""
#: A class of files with a guarantee that it does not get: losses alone would not fail it.
SHORT_OF_ITS_GUARANTEE = """\
perhop: 1
name: A guarantee on a line that loses packets
duration: 20s
hosts: { office: {}, server: {} }
routers: { edge: {} }
links:
  - { between: [office, edge], rate: 100Mb/s }
  - { between: [edge, server], rate: 2Mb/s, delay: 5ms, interfaces: { edge: { output: wan } } }
policies:
  wan:
    queueing:
      scheduler: drr
      classes:
        - name: files
          match: { dscp: af11 }
          share: { quantum: 4500B }
          buffer: { tail-drop: { limit: 4 packets } }
        - { name: rest, share: { quantum: 1500B } }
traffic:
  - name: files
    from: office
    to: server
    dscp: af11
    role: bulk
    source: { on-off: { rate: 8Mb/s, on-time: 20ms, off-time: 80ms, packet: { ip: 1500B } } }
  - name: rest
    from: office
    to: server
    role: best-effort
    source: { poisson: { rate: 3Mb/s, packet: { ip: 1000B } } }
"""
SAMPLES = {
    "router": EXAMPLES / "router.cfg",
    "ios-xe": CONFIGURATIONS / "csr1000v-edge.cfg",
    "switch": CONFIGURATIONS / "catalyst-9300.cfg",
    "ios-xr": ROOT / "vectors" / "ios" / "xr-edge.cfg",
    "junos": JUNOS,
    "tc": EXAMPLES / "uplink.tc",
    "first-steps": EXAMPLES / "first-steps.perhop.yaml",
    "weighted-fair": EXAMPLES / "class-based-wfq.perhop.yaml",
    "tcp": EXAMPLES / "tcp.perhop.yaml",
    "guarantee": SHORT_OF_ITS_GUARANTEE,
}
#: The page samples these for its charts, and a run of the command line does not.
SAMPLED = {"queues", "throughput", "delays"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("parity") / "page.html"
    file.write_text(perhop.playground.page(), encoding="utf-8")
    return file


def remarks(here: Page) -> set[tuple[str, int | None, str]]:
    """Return severity, line and text of each remark that the page lists."""
    found = set()
    for item in here.tab.locator("#diagnostics li").all():
        head = item.locator("b").inner_text()
        severity, _, line = head.partition(", line ")
        found.add((severity, int(line) if line else None, item.inner_text().removeprefix(head).strip()))
    return found


def details(here: Page) -> dict[str, str]:
    """Return the details of the verdict on each class."""
    here.tab.evaluate("document.querySelectorAll('#verdicts details').forEach((one) => { one.open = true; })")
    rows = here.tab.locator("#verdicts details").all()
    return {str(row.get_attribute("data-class")): row.locator("p").last.inner_text() for row in rows}


def judged(verdict: dict[str, Any]) -> str:
    """Return the words of the page for a verdict of the command line."""
    role = ROLES[verdict["role"]]
    if verdict["verdict"] is None:
        return f"{role}: not known"
    rated = verdict["role"] == "voice" and verdict["r"] is not None
    words = f"{verdict['verdict']} for {role}"
    return f"{words} (R {verdict['r']['mean']:.1f}, MOS {verdict['mos']['mean']:.2f}" if rated else words


@needs_page
@pytest.mark.parametrize("name", SAMPLES)
def test_one_file_has_one_answer(file: Path, perhop: Command, tmp_path: Path, name: str) -> None:
    sample = SAMPLES[name]
    text = sample.read_text(encoding="utf-8") if isinstance(sample, Path) else sample
    source = tmp_path / "sample.txt"
    source.write_text(text, encoding="utf-8")
    findings = perhop("check", source.name, "--json").json()["files"][0]["diagnostics"]
    ended = perhop("run", source.name, "--replications", "1", "--json", "-o", "out")
    assert ended.code == 0, ended.err
    assert perhop("export", "csv", "out", "-o", "tables").code == 0
    answered = ended.json()
    with page(file) as here:
        here.write(text)
        shown = remarks(here)
        summary = here.exported("summary").decode()
        exported = here.exported("scenario")
        verdicts = details(here)
        names = here.tab.eval_on_selector_all("#tables option", "all => all.map((one) => one.value)")
        tables = {}
        for table in sorted({*names} - SAMPLED):
            here.tab.evaluate("document.getElementById('saving').open = true")
            here.tab.select_option("#tables", table)
            tables[table] = here.exported("csv")
    # The findings are equal; the page appends help in parentheses.
    assert len(shown) == len(findings)
    for finding in findings:
        assert any(
            (severity, line) == (finding["severity"], finding["line"]) and text.startswith(finding["message"])
            for severity, line, text in shown
        ), (finding, shown)
    # The scenarios are equal.
    (tmp_path / "page.perhop.yaml").write_bytes(exported)
    scenario = Scenario.load(tmp_path / "page.perhop.yaml").embedded()
    assert scenario.to_json() == Scenario.load(source).embedded().to_json()
    # The results are equal, byte for byte.
    assert summary == summary_of(_core.load(tmp_path / "page.perhop.yaml", []))
    assert {key: answered[key] for key in json.loads(summary)} == json.loads(summary)
    assert {"classes", "ports", "histogram"} <= {*tables}
    for table, content in tables.items():
        written = tmp_path / "tables" / f"{table}.csv"
        assert written.read_bytes() == content if written.is_file() else content.count(b"\n") == 1, table
    # The verdicts are equal.
    decided = {verdict["class"]: judged(verdict) for verdict in answered["verdicts"] if verdict["role"]}
    assert decided
    for class_name, words in decided.items():
        assert words in verdicts[class_name], (class_name, words, verdicts[class_name])


@needs_page
def test_every_example_can_be_chosen_as_a_file(file: Path) -> None:
    with page(file) as here:
        accepted = (here.tab.locator("#open").get_attribute("accept") or "").split(",")
        for example in (EXAMPLES / "router.cfg", EXAMPLES / "uplink.tc", EXAMPLES / "tcp.perhop.yaml"):
            assert example.suffix in accepted
            known = here.runs()
            here.tab.set_input_files("#open", example)
            here.after(known)


@needs_page
def test_a_class_is_judged_by_its_guarantee(file: Path, perhop: Command, tmp_path: Path) -> None:
    """Files obtain less than 95 % of their load, which is below their guarantee."""
    (tmp_path / "guarantee.perhop.yaml").write_text(SHORT_OF_ITS_GUARANTEE, encoding="utf-8")
    answered = perhop("run", "guarantee.perhop.yaml", "--replications", "1", "--json").json()
    answers = {verdict["class"]: verdict["verdict"] for verdict in answered["verdicts"]}
    with page(file) as here:
        here.write(SHORT_OF_ITS_GUARANTEE)
        line = here.tab.locator("#verdicts li").first
        assert line.get_attribute("class") == {"fit": "good", "unfit": "bad"}[answers["files"]] == "bad"
        assert re.search(r"unfit: [\d.]+ [kM]b/s < [\d.]+ [kM]b/s", line.inner_text())
        assert line.locator(".line").evaluate("one => one.scrollWidth <= one.clientWidth")
        line.locator("summary").click()
        assert "unfit for bulk data (throughput" in line.inner_text()
