"""Names, assumptions and configurations that earlier caused internal errors, and hostile requests."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from conftest import ROOT, Command
from mutated import mutated_text
from perhop import Scenario
from perhop.checking import check_file
from perhop.command import viewing
from perhop.errors import Exit, InvalidInputError, PerhopError
from perhop.pacing import Pace
from perhop.plot.tradeoffs import pareto
from perhop.printable import printable
from perhop.viewing.hub import Hub
from perhop.viewing.server import Server
from perhop.viewing.simulation import Simulation
from seeds import drawing

CONFIGURATIONS = sorted(
    [*(ROOT / "tests" / "configurations").glob("*.cfg"), *(ROOT / "vectors" / "ios").glob("*.cfg")]
)


def test_an_assumption_without_its_class_map_is_an_error_of_check_and_run(perhop: Command) -> None:
    for command in ("check", "run"):
        ended = perhop(command, ROOT / "examples" / "router.cfg", "--assume", "voice = class-map x")
        assert ended.code == (Exit.FINDINGS if command == "check" else Exit.INVALID_INPUT)
        assert "class-map x is not defined" in ended.out + ended.err


def test_one_metric_twice_is_refused() -> None:
    for metrics in (("gold.loss", "gold.loss"), ("gold.loss", ("gold.loss", "large"))):
        with pytest.raises(InvalidInputError, match="both metrics are the same"):
            pareto(pl.DataFrame({"point": [0]}), *metrics)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [0xFFFE, 0xFFFF, 0xFDD0, 0x1FFFE, 0x0B, 0x00, 0xD800])
def test_every_character_is_well_formed_in_xml(code: int) -> None:
    shown = printable(chr(code))
    assert shown != chr(code)
    assert ET.fromstring(f"<a>{shown}</a>").text == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\u2237error::x"),
        ("a\n  ::set-output name=x::y", "a\n  \u2237set-output name=x::y"),
        ("a ##[error]x", "a \uff03#[error]x"),
        ("##vso[task.x]", "\uff03#vso[task.x]"),
        ("a::b::c ## d", "a::b::c ## d"),
        ("::1", "::1"),
    ],
)
def test_no_text_is_a_command_in_a_log(text: str, shown: str) -> None:
    assert printable(text) == shown


# Names with a character that XML lacks, one that ends a text in C, and commands of two pipelines.
_NAME = "::error::a\ufffeb\x00c"
_STRANGE = f"""version 15.2
hostname r\ufffe
class-map match-any {_NAME}
 match dscp ef
policy-map p\ufffe
 class {_NAME}
  bandwidth 100
interface Serial0/0
 bandwidth 1000
 ip address 192.0.2.1 255.255.255.0
 service-policy output p\ufffe
::error::line\ufffe\x00
##[error]line
end
"""


def test_pictures_and_reports_of_tests_are_xml(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "r.cfg").write_text(_STRANGE)
    (tmp_path / "t.yaml").write_text(
        'perhop-tests: 1\ntests:\n  - { name: "::error::x", scenario: r.cfg, assert: [ "gone.loss < 1%" ] }\n'
    )
    assert perhop("draw", "r.cfg", "-o", "r.svg").code == 0
    assert perhop("test", "t.yaml", "--junit", "report.xml").code == 2
    for name in ("r.svg", "report.xml"):
        # Expat refuses characters that XML 1.0 forbids; a search of the text would not notice them.
        found = "".join(ET.parse(tmp_path / name).getroot().itertext())
        attributes = [
            value for element in ET.parse(tmp_path / name).iter() for value in element.attrib.values()
        ]
        text = "\n".join([found, *attributes])
        assert "error::a\ufffdb" in text, name
        assert not re.search(r"^\s*::error::", text, re.MULTILINE), name


@pytest.mark.parametrize("line", ["check r.cfg", "run r.cfg", "test t.yaml", "diff r.cfg old.cfg --markdown"])
def test_no_line_of_output_is_a_command_of_a_pipeline(line: str, tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "r.cfg").write_text(_STRANGE)
    (tmp_path / "old.cfg").write_text(_STRANGE.replace("bandwidth 100\n", "bandwidth 200\n"))
    (tmp_path / "t.yaml").write_text(
        'perhop-tests: 1\ntests:\n  - { name: "::error::x", scenario: r.cfg, assert: [ "gone.loss < 1%" ] }\n'
    )
    ended = perhop(*line.split())
    text = ended.out + ended.err
    assert "error::a" in text
    assert not re.search(r"^\s*(::|##(\[|vso))", text, re.MULTILINE), text


def test_an_immense_time_ends_with_the_run() -> None:
    scenario = Scenario.load(
        ROOT / "examples" / "first-steps.perhop.yaml", {"duration": "100ms", "measure.warmup": "0s"}
    )
    simulation = Simulation(Hub(), scenario, Pace(), seed=1, replications=1)
    question = {"ask": "packets", "port": 0, "from": 0, "until": 10**12, "enough": 10**12}
    whole = simulation.answer(question)
    assert whole["until"] <= 1.0
    assert whole["columns"] == simulation.answer(question | {"until": 0.1})["columns"]
    for wrong in ({"from": 10**12}, {"until": 10**400}, {"from": float("nan")}, {"port": 10**12}):
        with pytest.raises((InvalidInputError, OverflowError)):
            simulation.answer(question | wrong)


def _error_of(work: Callable[[], object]) -> str | None:
    """Return the error of a check or a run, `None` without an error; other exceptions fail the test."""
    try:
        work()
    except PerhopError as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(36))
def test_check_accepts_runnable_files(number: int, tmp_path: Path) -> None:
    draw = drawing(f"agreement/{number}")
    text = draw.choice(CONFIGURATIONS).read_text(encoding="utf-8", errors="replace")
    file = tmp_path / "mutated.cfg"
    if number % 2:
        file.write_bytes(mutated_text(text, draw))
    else:
        lines = text.splitlines(keepends=True)
        for _ in range(3):
            lines.insert(draw.randrange(len(lines)), draw.choice(lines))
            del lines[draw.randrange(len(lines))]
        file.write_text("".join(lines))
    short = {"duration": "10ms", "measure.warmup": "0s"}
    refused = _error_of(lambda: Scenario.load(file, short).run(threads=1))
    found = check_file(file)
    errors = [finding.message for finding in found.findings if finding.severity == "error"]
    assert not refused or errors, refused
    if refused and found.router is not None:
        assert any(message in refused for message in errors), (refused, errors)


def test_a_multicast_address_is_not_a_host_address(tmp_path: Path, perhop: Command) -> None:
    text = "version 15.2\ninterface Serial0/0\n bandwidth 1000\n ip address 224.0.0.1 255.255.255.0\n"
    (tmp_path / "a.cfg").write_text(f"{text} service-policy output p\npolicy-map p\n class class-default\n")
    for command in (["run", "--duration", "20ms"], ["check"]):
        assert perhop(*command, "a.cfg").code == 0


XR = "!! IOS XR Configuration 6.6.2\nhostname x\ninterface HundredGigE0/0/0/1\n shutdown\n!\n"
NX = "!Command: show running-config\nversion 9.2(3)\nfeature bgp\ninterface Ethernet1/1\n"


# DRR drops packets that no filter matches, and this filter matches packets that another program marks.
DRR = """tc qdisc add dev eth0 root handle 1: drr
tc class add dev eth0 parent 1: classid 1:1 drr
tc filter add dev eth0 parent 1: protocol ip prio 1 handle 7 fw flowid 1:1
"""


@pytest.mark.parametrize("text", ["hostname bare\n", XR, NX, DRR])
def test_check_and_run_refuse_in_the_same_words(text: str, tmp_path: Path, perhop: Command) -> None:
    name = "a.tc" if text == DRR else "a.cfg"
    (tmp_path / name).write_text(text)
    refused, checked = perhop("run", name), perhop("check", name)
    finds = Exit.INVALID_INPUT if text == NX else Exit.FINDINGS
    assert (refused.code, checked.code) == (Exit.INVALID_INPUT, finds)
    assert refused.err.splitlines()[0].removeprefix("error: ") in checked.out


def _started() -> Server:
    def answer(question: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"asked": question["ask"]}

    server = Server(Hub(), lambda nonce: "page", answer)
    server.start()
    return server


def _answered(server: Server, request: bytes) -> bytes:
    with socket.create_connection(server.address, timeout=20) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_malformed_requests_print_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    server = _started()
    token = server.link.partition("token=")[2]
    head = f"POST /ask?token={token} HTTP/1.1\r\nHost: {server.host}\r\nOrigin: {server.origin}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: "
    assert _answered(server, b"GET http://[ HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.0 403")
    assert _answered(server, b"GET /?token=%ED%A0%80 HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.0 403")
    for body in (b"[" * 4000, b'{"ask": ' + b'{"a":' * 700):
        assert b" 400 " in _answered(server, f"{head}{len(body)}\r\n\r\n".encode() + body)
    body = b'{"ask": "\\ud800"}'
    assert b" 200 " in _answered(server, f"{head}{len(body)}\r\n\r\n".encode() + body)
    server.close()
    assert capfd.readouterr() == ("", "")


def test_slow_strangers_do_not_keep_the_page_out() -> None:
    server = _started()
    strangers = [socket.create_connection(server.address, timeout=20) for _ in range(40)]
    for stranger in strangers[8:]:
        stranger.sendall(b"GET / HT")
    time.sleep(0.3)
    request = f"GET {server.link.removeprefix(server.origin)} HTTP/1.1\r\nHost: {server.host}\r\n\r\n"
    assert _answered(server, request.encode()).endswith(b"page")
    for stranger in strangers:
        stranger.close()
    server.close()


def test_the_browser_is_started_without_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    def open_page(address: str) -> bool:
        file = Path(address.removeprefix("file://"))
        modes = [path.stat().st_mode & 0o777 for path in (file, file.parent)]
        opened.append((address, modes, file.read_text()))
        return True

    monkeypatch.setattr(viewing.webbrowser, "open", open_page)
    monkeypatch.setattr(viewing, "script", lambda: "")
    monkeypatch.setenv("DISPLAY", ":0")
    with viewing.announced("sweep", Hub(), lambda question: question, opened=True) as server:
        token = server.link.partition("token=")[2]
    ((address, modes, text),) = opened
    assert token not in address and token in text
    assert modes == [0o600, 0o700]
    assert not Path(address.removeprefix("file://")).exists()
