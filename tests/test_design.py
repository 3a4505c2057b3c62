"""`perhop.design` and `perhop design`: advice, compared with the papers' formulas, computed by hand."""

from __future__ import annotations

import math

import pytest

from conftest import Command
from perhop import design
from perhop.design.star import Ring
from perhop.errors import InvalidInputError


def test_wred_by_hand() -> None:
    # 3 Mb/s are 250 packets of 1500 bytes a second: 25 packets in 100 ms, a third of which is 8; 10 / 250 =
    # 0.04 is nearest to 2^-5.
    advice = design.wred("3Mb/s", "100ms")
    assert [advice[name] for name in ("U", "max_th", "min_th", "n", "W_q")] == [250, 25, 8, 5, 1 / 32]
    assert advice.ios.splitlines()[2:6] == [
        "  bandwidth 3000",
        "  random-detect",
        "  random-detect exponential-weighting-constant 5",
        "  random-detect precedence 3 8 25 2",
    ]
    assert design.wred(3e6, 0.1) == advice


@pytest.mark.parametrize(
    ("bandwidth", "exponent"), [("45Mb/s", 9), ("155Mb/s", 10), ("622Mb/s", 12), ("64kb/s", 1)]
)
def test_wred_weight_follows_the_bandwidth(bandwidth: str, exponent: int) -> None:
    # DS3, OC3 and OC12 as in Cisco's own examples of the rule.
    advice = design.wred(bandwidth, "1s" if bandwidth == "64kb/s" else "50ms")
    assert advice["n"] == exponent


def test_wred_uses_the_given_denominators() -> None:
    ios = design.wred("2Mb/s", "100ms", denominators={1: 20, 0: 10}).ios
    assert ios.splitlines()[-2:] == [
        "  random-detect precedence 0 6 17 10",
        "  random-detect precedence 1 6 17 20",
    ]


def test_star_of_the_paper() -> None:
    # 1500 bytes at 300 kb/s: the paper's bound of 40 ms. Five particles contain two packets of 22 cells,
    # 4.664 ms each, behind the one that is sent.
    advice = design.star("300kb/s", "40ms", link="2Mb/s", best_effort="1028B", ring=Ring(5))
    assert (advice["G"], advice["STAR"]) == (300_000, 1)
    assert math.isclose(advice["bound"], 0.040)
    assert math.isclose(advice["ring"], 3 * 4.664e-3)
    assert any("irregular" in note for note in advice.notes)


@pytest.mark.parametrize(
    ("delay", "packet", "ratio", "rate"),
    [("20ms", "1500B", 1.0, 600_000), ("20ms", "64B", 1.5, 450_000), ("7ms", "1000B", 1.0, 1_143_000)],
)
def test_star_uses_the_larger_of_delay_and_ratio(delay: str, packet: str, ratio: float, rate: float) -> None:
    advice = design.star("300kb/s", delay, link="2Mb/s", packet=packet, ratio=ratio)
    assert advice["G"] == rate
    assert advice["STAR"] == rate / 300_000
    assert f"bandwidth {rate // 1000:.0f}" in advice.ios


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ("bandwidth", lambda: design.wred("2Mbit", "100ms")),
        ("not above 0", lambda: design.wred(0, "100ms")),
        ("packets of 1500 B", lambda: design.wred("64kb/s", "100ms")),
        ("threshold of 83333", lambda: design.wred("10Gb/s", "100ms")),
        ("precedence 8", lambda: design.wred("2Mb/s", "100ms", denominators={8: 1})),
        ("ratio", lambda: design.star("300kb/s", "20ms", link="2Mb/s", ratio=0.5)),
        ("75 %", lambda: design.star("300kb/s", "5ms", link="2Mb/s")),
        ("not a whole number", lambda: design.star("300kb/s", "20ms", link="2Mb/s", packet=1.5)),
    ],
)
def test_impossible_values_are_refused_with_a_remedy(found: str, wrong: object) -> None:
    with pytest.raises(InvalidInputError, match=found) as refused:
        wrong()  # type: ignore[operator]
    assert refused.value.help


def test_the_command_prints_formula_numbers_and_configuration(perhop: Command) -> None:
    ended = perhop("design", "wred", "--bandwidth", "3Mb/s", "--delay", "100ms", "--precedence", "5=10")
    assert ended.code == 0
    for text in (
        "U = bandwidth / (8 · MTU) = 250 packets/s",
        "min_th = max_th / 3 = 8",
        "precedence 5 8 25 10",
    ):
        assert text in ended.out
    document = perhop(
        "design", "star", "--arrival", "300kb/s", "--delay", "20ms", "--link", "2Mb/s", "--json"
    ).json()
    assert document["schema_version"] == 1
    assert {step["name"]: step["value"] for step in document["steps"]}["G"] == 600_000
    assert "bandwidth 600" in document["ios"]


def test_the_command_refuses(perhop: Command) -> None:
    ended = perhop(
        "design", "wred", "--bandwidth", "2Mb/s", "--delay", "100ms", "--precedence", "5=x", "--json"
    )
    assert ended.code == 2
    assert "whole number" in ended.json()["error"]["message"]
    ended = perhop(
        "design", "star", "--arrival", "3kb/s", "--delay", "20ms", "--link", "2Mb/s", "--ring", "5"
    )
    assert (ended.code, "--best-effort" in ended.err) == (2, True)
