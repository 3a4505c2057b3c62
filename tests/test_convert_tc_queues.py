"""`perhop convert --to tc`: queue managers become qdiscs of Linux, with the words and units of tc."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perhop import convert


@pytest.mark.parametrize(
    ("buffer", "expected", "said"),
    [
        ({"codel": {"law": "linux"}}, "codel limit 1000 target 5000us interval 100000us noecn", []),
        (
            {"codel": {"limit": "30kB", "ecn": "mark", "ce-threshold": {"wait": "1ms", "of": "ect1"}}},
            "codel limit 30 target 5000us interval 100000us ecn ce_threshold 1000us",
            ["limit of 30000 bytes", "CoDel of RFC 8289", "ce-threshold of ECT(1)"],
        ),
        (
            {
                "fq-codel": {
                    "law": "linux",
                    "flows": 64,
                    "drop-batch": 8,
                    "target": "2.5ms",
                    "interval": "50ms",
                }
            },
            "fq_codel limit 10240 flows 64 quantum 1514 drop_batch 8 target 2500us interval 50000us ecn",
            [],
        ),
        (
            {"fq-codel": {"law": "linux", "ce-threshold": {"wait": "1ms", "of": "ect1"}, "mtu": "9kB"}},
            "fq_codel limit 10240 flows 1024 quantum 1514 target 5000us interval 100000us ecn"
            " ce_threshold 1000us ce_threshold_selector 0x1/0x3",
            ["mtu: 9kB"],
        ),
        (
            {"fq-pie": {"law": "linux", "flows": 64, "ecn": "mark", "mark-up-to": 0.2}},
            "fq_pie limit 10240 target 15000us tupdate 15000us alpha 2 beta 20 ecn"
            " flows 64 quantum 1514 ecn_prob 20",
            [],
        ),
        (
            {"fq-pie": {"quantum": "300B"}},
            "fq_pie limit 10240 target 15000us tupdate 15000us alpha 2 beta 20 noecn"
            " flows 1024 quantum 300 ecn_prob 10",
            ["law: rfc"],
        ),
    ],
)
def test_delay_controllers_are_written_for_linux(
    buffer: dict[str, Any], expected: str, said: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "policy.yaml"
    queueing = {"classes": [{"name": "all", "buffer": buffer}]}
    file.write_text(json.dumps({"policies": {"one": {"overhead": 14, "queueing": queueing}}}))
    converted = convert.convert(file, to="tc", rate="1Mb/s")
    assert f"parent 1:2 handle 102: {expected}\n" in converted.text, converted.text
    assert [remark.construct for remark in converted.remarks] == said


def test_pie_matches_linux(tmp_path: Path) -> None:
    for pie, command, differences in (
        (
            {"law": "linux", "target": "20ms", "ecn": "mark"},
            "pie limit 1000 target 20000us tupdate 15000us alpha 2 beta 20 ecn",
            0,
        ),
        (
            {"alpha": 0.25, "update-interval": "30ms", "limit": "9kB"},
            "pie limit 9 target 15000us tupdate 30000us alpha 4 beta 20 noecn",
            2,
        ),
    ):
        queueing = {"classes": [{"name": "all", "buffer": {"pie": pie}}]}
        file = tmp_path / "policy.yaml"
        file.write_text(json.dumps({"policies": {"one": {"queueing": queueing}}}))
        converted = convert.convert(file, to="tc", rate="10Mb/s")
        assert command in converted.text, converted.text
        assert len([remark for remark in converted.remarks if "pie" in str(remark)]) == differences


def test_dualpi2_matches_linux(tmp_path: Path) -> None:
    for dual, command, differences in (
        ({"law": "linux"}, "dualpi2 limit 10000 target 15000us tupdate 16000us coupling_factor 2", 1),
        (
            {"native": {"step": "2ms"}},
            "dualpi2 limit 312 target 15000us tupdate 16000us coupling_factor 2 step_thresh 2000us",
            3,
        ),
        (
            {"law": "linux", "queues": "one", "min-qlen-step": 2},
            "dualpi2 limit 10000 target 15000us tupdate 16000us coupling_factor 2 min_qlen_step 2",
            2,
        ),
    ):
        queueing = {"classes": [{"name": "all", "buffer": {"dualpi2": dual}}]}
        file = tmp_path / "policy.yaml"
        file.write_text(json.dumps({"policies": {"one": {"queueing": queueing}}}))
        converted = convert.convert(file, to="tc", rate="10Mb/s")
        assert command in converted.text, converted.text
        assert len(converted.remarks) == differences, converted.remarks


def test_cake_is_the_root_of_its_interface(tmp_path: Path) -> None:
    for cake, command, differences in (
        ({}, "cake unlimited diffserv3 triple-isolate rtt 100000us noatm nowash egress no-ack-filter", 0),
        (
            {
                "bandwidth": "19Mb/s", "tins": "diffserv4", "isolation": "dual-srchost", "rtt": "30ms",
                "overhead": -4, "mpu": 64, "cells": "ptm", "memory-limit": "4MiB",
                "wash": True, "ingress": True,
            },
            "cake bandwidth 19000000bit diffserv4 dual-srchost rtt 30000us overhead -4 mpu 64 ptm "
            "memlimit 4194304 wash ingress no-ack-filter",
            1,
        ),
    ):  # fmt: skip
        queueing = {"classes": [{"name": "all", "buffer": {"cake": cake}}]}
        file = tmp_path / "policy.yaml"
        file.write_text(json.dumps({"policies": {"one": {"queueing": queueing}}}))
        converted = convert.convert(file, to="tc", rate="20Mb/s")
        assert f"root handle 1: {command}\n" in converted.text, converted.text
        assert "htb" not in converted.text
        assert len(converted.remarks) == differences, converted.remarks


@pytest.mark.parametrize(
    ("more", "words", "remarks"),
    [
        ({"ecn": "mark"}, "ecn harddrop", []),
        ({"ecn": "mark-all"}, "ecn", []),
        ({"averaging": {"weight": 0.0625}}, "burst 17 ", []),
        ({"averaging": {"weight": 0.06}}, "burst 17 ", ["averaging weight 0.06"]),
    ],
)
def test_red_marks_and_averages_as_documented(
    tmp_path: Path, more: dict[str, object], words: str, remarks: list[str]
) -> None:
    """tc-red(8): `ecn` alone marks above the maximum; weights are powers of two.

    For a burst of 17 the packets ahead are 17 + 1 - 10 = 8: less than 16 (1 - (15/16)^17) = 10.7, more than
    8 (1 - (7/8)^17) = 7.2; for 16 they are 7, less than 7.1. So 17 is the least burst for the weight 1/16.
    """
    row = {"min": "10kB", "max": "30kB", "max-probability": 0.1}
    queueing = {"classes": [{"name": "all", "buffer": {"red": {"precedences": [row], **more}}}]}
    file = tmp_path / "policy.yaml"
    file.write_text(json.dumps({"policies": {"one": {"queueing": queueing}}}))
    converted = convert.convert(file, to="tc", rate="10Mb/s")
    (line,) = [line for line in converted.text.splitlines() if " red " in line and line.startswith("tc")]
    assert line.endswith(words) if "ecn" in more else words in line
    assert [remark.construct for remark in converted.remarks] == remarks
