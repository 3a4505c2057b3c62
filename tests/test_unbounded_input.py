"""Hostile files: pipes, devices and files beyond the limits are refused before they are read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conftest import ROOT, SCENARIO, Command
from perhop import manifest
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.inputs import (
    ASSERTIONS,
    CAPTURE,
    POLICY_TESTS,
    PUBLISHED,
    ROUTER,
    SAVED,
    SHEET,
    STUDY,
    TRAFFIC,
    Limits,
    parsed_json,
    read_input,
)
from perhop.inputs import (
    SCENARIO as SCENARIO_LIMITS,
)
from perhop.lessons.sheets import read_sheet
from perhop.sweeping import design_of

ALL = (ASSERTIONS, CAPTURE, POLICY_TESTS, PUBLISHED, ROUTER, SAVED, SCENARIO_LIMITS, SHEET, STUDY, TRAFFIC)
READING = (
    "check {}",
    "run {}",
    "draw {}",
    "trace edge.cfg --pcap {}",
    "run edge.cfg --traffic {}",
    "run overload.yaml --assert @{}",
)


@pytest.mark.parametrize("line", READING)
def test_pipes_and_devices_are_refused(line: str, tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "overload.yaml").write_text(SCENARIO)
    (tmp_path / "edge.cfg").write_text((ROOT / "examples" / "router.cfg").read_text())
    for name in ("pipe", "pipe.yaml", "pipe.cfg"):
        os.mkfifo(tmp_path / name)
        ended = perhop(*line.format(name).split())
        assert (ended.code, ended.out) == (2, "")
        assert f"cannot read `{name}`: it is a pipe, not a regular file" in ended.err
    ended = perhop(*line.format("/dev/zero").split())
    assert (ended.code, ended.out) == (2, "")
    assert "cannot read `/dev/zero`: it is a device, not a regular file" in ended.err


def test_limits_hold_on_both_sides(tmp_path: Path) -> None:
    file = tmp_path / "file"
    limits = Limits("a test", 100, 5, 20)
    for content in (b"x" * 20, b"x" * 20 + b"\n" + b"y" * 20, b"\n" * 5, (b"z" * 19 + b"\n") * 5):
        file.write_bytes(content)
        assert read_input(file, limits) == content
    for content, message in (
        (b"x" * 21, "more than 20 bytes in line 1"),
        (b"x\n" + b"x" * 21 + b"\nx", "more than 20 bytes in line 2"),
        (b"\n" * 6, "more than 5 lines"),
        (b"x\n" * 51, "more than 100 bytes"),
    ):
        file.write_bytes(content)
        with pytest.raises(UnreadableFileError, match=message) as raised:
            read_input(file, limits)
        assert raised.value.help is not None and "docs/check.md" in raised.value.help


def test_the_page_lists_the_limits_of_every_reader() -> None:
    page = (ROOT / "docs" / "check.md").read_text()
    for limits in ALL:
        cells = (limits.most_bytes, limits.most_lines, limits.longest_line)
        shown = " | ".join("" if cell is None else f"{cell:,}" for cell in cells).replace("|  |", "| |")
        assert f"| {limits.kind} | {shown}".rstrip() in page, limits.kind


def test_a_line_of_40_megabytes_is_refused(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "long.cfg").write_bytes(b"hostname a\n" + b"x" * 20_000_000)
    ended = perhop("check", "long.cfg")
    assert ended.code == 2
    assert "`long.cfg` has more than 4194304 bytes in line 2" in ended.err


def test_immense_sweeps_are_refused_before_memory_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    ranges = {"a": "1:100000:1", "b": "1:100000:1"}
    with pytest.raises(InvalidInputError, match="the sweep has 10000000000 points, more than 10000000"):
        design_of(ranges)
    with pytest.raises(InvalidInputError, match="the sweep has 1000000000000 points"):
        design_of({"a": "1:9"}, sample=10**12)
    # A sample of the largest accepted size lasts 13 s.
    monkeypatch.setattr("perhop.sampling.MOST_POINTS", 10**3)
    assert design_of({"a": "1:9"}, sample=10**3).count == 10**3
    with pytest.raises(InvalidInputError, match="the sweep has 1001 points, more than 1000"):
        design_of({"a": "1:9"}, sample=10**3 + 1)


#: The files that a scenario can name, and the words for them.
NAMED_BY_A_SCENARIO = {
    "configuration": (
        "routers: { router: {} }",
        "routers: {{ router: {{ configuration: {{ file: {} }} }} }}",
        "cannot read `{}`",
    ),
    "trace": (
        "{ cbr: { rate: 800kb/s, packet: { ip: 1000B } } }",
        "{{ trace: {{ file: {} }} }}",
        "cannot read the trace file `{}`",
    ),
    "capture": (
        "{ cbr: { rate: 800kb/s, packet: { ip: 1000B } } }",
        "{{ pcap: {{ file: {} }} }}",
        "cannot read the capture `{}`",
    ),
}


@pytest.mark.parametrize("kind", NAMED_BY_A_SCENARIO)
def test_files_that_a_scenario_names_are_regular(kind: str, tmp_path: Path, perhop: Command) -> None:
    old, new, message = NAMED_BY_A_SCENARIO[kind]
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "/dev/zero", "folder"):
        (tmp_path / "named.yaml").write_text(SCENARIO.replace(old, new.format(name)))
        reason = "it is a directory" if name == "folder" else "it is a pipe, a device or a socket"
        for command in ("check", "run"):
            ended = perhop(command, "named.yaml")
            assert ended.code == 2
            path = name if name.startswith("/") else f"./{name}"
            assert f"{message.format(path)}: {reason}" in ended.err


def test_files_that_a_scenario_names_are_limited(tmp_path: Path, perhop: Command) -> None:
    contents = {
        "configuration": (b"hostname a\n" + b"x" * 4_194_305, "more than 4194304 bytes in line 2", ROUTER),
        "trace": (b"time,size\n" + b"1" * 65_537, "more than 65536 bytes in line 2", TRAFFIC),
        "capture": (b"", "more than 536870912 bytes", CAPTURE),
    }
    for kind, (content, what, limits) in contents.items():
        old, new, message = NAMED_BY_A_SCENARIO[kind]
        (tmp_path / "named.yaml").write_text(SCENARIO.replace(old, new.format("large")))
        (tmp_path / "large").write_bytes(content)
        if kind == "capture":
            # A hole occupies no space on the disk.
            os.truncate(tmp_path / "large", CAPTURE.most_bytes + 1)
        ended = perhop("check", "named.yaml")
        assert ended.code == 2
        assert f"{message.format('./large')}: it has {what}, the limit of {limits.kind}" in ended.err


def _nested(levels: int) -> str:
    """Return JSON with a list in each other list, as a value of a mapping."""
    return '{"a": ' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


@pytest.mark.parametrize("levels", [65, 100, 2_500, 100_000])
def test_nested_json_is_refused_by_every_reader(levels: int, tmp_path: Path, perhop: Command) -> None:
    words = "lists and mappings are nested more than 64 levels deep"
    with pytest.raises(ValueError, match=words):
        parsed_json(_nested(levels))
    with pytest.raises(UnreadableFileError, match=words):
        manifest.parse(tmp_path / "manifest.json", _nested(levels).encode())
    (tmp_path / "sheet.json").write_text(_nested(levels))
    with pytest.raises(InvalidInputError, match=words):
        read_sheet(tmp_path / "sheet.json")
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "manifest.json").write_text(_nested(levels))
    (saved / "summary.json").write_text("{}")
    ended = perhop("report", "saved")
    assert (ended.code, ended.out, ended.err.count("error:")) == (2, "", 1)
    assert words in ended.err


def test_json_within_the_limit_is_read() -> None:
    assert json.dumps(parsed_json(_nested(64))) == _nested(64)


@pytest.mark.parametrize("levels", [100, 2_500, 100_000])
@pytest.mark.parametrize("command", ["check", "run", "draw", "bounds", "convert --to ios", "diff old.yaml"])
def test_nested_scenarios_are_one_error(levels: int, command: str, tmp_path: Path, perhop: Command) -> None:
    children = '{"classes": [{"name": "a", "queueing":\n' * levels + "{}" + "}]}" * levels
    text = f'{{"perhop": 1, "policies": {{"p": {{"queueing": {children}}}}}}}'
    for name in ("old.yaml", "deep.yaml"):
        (tmp_path / name).write_text(text)
    ended = perhop(*command.split(), "deep.yaml")
    assert (ended.code, ended.out if command != "check" else "", ended.err.count("error:")) == (2, "", 1)
    assert "lists and mappings are nested more than 64 levels deep" in ended.err


@pytest.mark.parametrize("levels", [64, 100, 2_500, 30_000])
@pytest.mark.parametrize("notation", ["lists", "tables"])
def test_nested_studies_are_one_error(levels: int, notation: str, tmp_path: Path, perhop: Command) -> None:
    text = f"[{'a.' * levels}b]" if notation == "tables" else "deep = " + "[" * levels + "]" * levels
    (tmp_path / "study.toml").write_text(f"{text}\n")
    ended = perhop("study", "show", ".")
    assert (ended.code, ended.out, ended.err.count("error:")) == (2, "", 1)
    assert "lists and mappings are nested more than 64 levels deep" in ended.err


@pytest.mark.parametrize("levels", [31, 64])
def test_check_and_run_accept_the_same_nested_disciplines(
    levels: int, tmp_path: Path, perhop: Command
) -> None:
    lines = ["tc qdisc add dev eth0 root handle 1: prio"]
    lines += [f"tc qdisc add dev eth0 parent {n:x}:1 handle {n + 1:x}: prio" for n in range(1, levels)]
    (tmp_path / "nested.tc").write_text("\n".join(lines) + "\n")
    checked = perhop("check", "nested.tc")
    assert checked.code == 0
    assert ("are nested more than 31 levels deep" in checked.out) == (levels > 31)
    ran = perhop("run", "nested.tc", "--duration", "1s", "--replications", "1", "-q")
    assert ran.code == 0, ran.err
