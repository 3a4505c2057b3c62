"""The comparisons of `make fidelity`: theory in short runs, and the generated page."""

from __future__ import annotations

import math
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))
from fidelity import __main__ as command
from fidelity import analytic, kernel, l4s, linux_aqm, linux_gred, linux_tcp, live_tcp, ns2, router, switch
from fidelity import record as recording
from fidelity.comparison import BY_CHANCE, Comparison, Rule, Value, estimate
from fidelity.document import Part, page, render
from fidelity.linux_tcp import EXTRAS
from fidelity.reasons import reason
from fidelity.record import Record, Row, plain, record
from fidelity.simulating import QUICK, WHOLE

from tiers import touched

PAGE = ROOT / "docs" / "fidelity.md"


def compared(reference: Value, measured: Value, rule: Rule) -> Comparison:
    return Comparison("analytic", "a queue", "a load", "delay", "ms", reference, "theory", measured, rule)


def test_two_values_agree_within_chance_and_the_tolerance() -> None:
    # Half-widths of 3 and 4 allow 5, and a hundredth of the reference allows 1 more.
    reference, rule = Value(100.0, 3.0), BY_CHANCE
    assert compared(reference, Value(105.9, 4.0), rule).met
    missed = compared(reference, Value(112.0, 4.0), rule)
    assert not missed.met and missed.times_allowed == pytest.approx(2)
    assert not compared(reference, Value(math.nan), rule).met
    assert compared(Value(5.0), Value(5.0), Rule()).met
    assert compared(Value(5.0), Value(5.1), Rule()).times_allowed == math.inf
    at_most = Rule(absolute=1.0, bound="at most")
    assert compared(Value(10.0), Value(2.0), at_most).met
    assert not compared(Value(10.0), Value(11.5), at_most).met
    assert str(rule) == "chance + 1 %" and str(Rule()) == "equal"
    # Student's t of 2 degrees of freedom: 4.303 · 1 / √3.
    assert estimate([1.0, 2.0, 3.0]).half == pytest.approx(2.484, abs=1e-3)


@pytest.fixture(scope="module")
def theory() -> list[Comparison]:
    return list(analytic.compare(QUICK))


def test_theory_holds_in_short_runs(theory: list[Comparison]) -> None:
    """One in twenty random rows may be outside its tolerance, and none far outside."""
    missed = [row for row in theory if not row.met]
    assert len(missed) <= len(theory) / 20, missed
    assert all(row.times_allowed < 2 for row in missed), missed
    exact = [row for row in theory if not row.rule.chance]
    assert len(exact) > 30 and all(row.met for row in exact)
    assert {row.name for row in theory} >= {"M/M/1", "M/D/1", "M/M/1/K", "strict priority", "RED", "srTCM"}


def test_another_law_would_be_missed(theory: list[Comparison]) -> None:
    """Drops per p_b of the three laws, and of other rules, differ by much more than the tolerance."""
    red = [row for row in theory if row.name == "RED"]
    assert [round(row.reference.mean, 1) for row in red] == [2.0, 1.0, 0.7]
    for row in red:
        for other in red:
            assert row is other or abs(row.measured.mean - other.reference.mean) > 4 * row.allowed
    queue = next(row for row in theory if row.name == "M/D/1" and row.case == "load 0.9")
    # With exponential sizes the packets would wait twice as long.
    assert abs(queue.measured.mean - 8.0) > 4 * queue.allowed


def small_parts() -> list[Part]:
    known = reason("tcp", "ns-2.35 tcp/tcp.cc, slowdown")
    met, near, far = (compared(Value(10.0), Value(value), Rule(absolute=1.0)) for value in (10.5, 12.0, 30.0))
    far = Comparison(**vars(far) | {"name": "far", "reason": known})
    exact = Comparison(**vars(compared(Value(1.0), Value(2.0, 0.25), Rule())) | {"name": "a|b"})
    theory = Part("analytic", "Theory", "About theory.", [met, near, far, exact])
    return [theory, Part("ns-2", "ns-2", "About ns-2.", skipped={"RED": "there is no program `ns`"})]


def test_the_page_has_counts_misses_by_reason_and_what_is_missing() -> None:
    known = reason("tcp", "ns-2.35 tcp/tcp.cc, slowdown")
    text = page(small_parts())
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert headings == ["Misses", "Not compared", "Theory", "Repeating the comparisons"]
    assert "| Theory | `analytic` | 4 | 1 | 3 |  |" in text
    assert "| ns-2 | `ns-2` | 0 | 0 | 0 | 1 |" in text
    assert "| **all** |  | 4 | 1 | 3 | 1 |" in text
    unknown, named = [line for line in text.splitlines() if line.startswith("| Theory | ")][1:]
    assert unknown == "| Theory | a queue; a\\|b | a load | delay (2) | 2 | 2 | unknown |"
    assert named.startswith("| Theory | far | a load | delay | 1 | 20 | ")
    assert known.sentence in named and known.source in named
    assert "4 comparisons: a queue (2); far; a|b. Rules: 1 (3); equal (1)." in text
    assert "- ns-2: RED: there is no program `ns`." in text


def test_recorded_values_are_the_compared_values(tmp_path: Path) -> None:
    kept = record(small_parts())
    recording.write(kept, tmp_path)
    assert recording.read(tmp_path) == kept
    assert render(recording.read(tmp_path)) == page(small_parts())
    rows = kept.rows_of(kept.peers[0])
    assert [(row.perhop, row.verdict, row.times_allowed) for row in rows] == [
        ("10.5", "met", ""),
        ("12", "missed", "2"),
        ("30", "missed", "20"),
        ("2", "missed", ""),
    ]
    assert [row.reason for row in rows[:2]] == ["", "unknown"] and rows[3].perhop_half == "0.25"
    (tmp_path / "results.csv").write_text("peer,verdict\nanalytic,met\n")
    with pytest.raises(ValueError, match="other columns"):
        recording.read(tmp_path)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1230862.0, "1230862"), (1 / 3, "0.333333"), (0.0006, "0.0006"), (1234567.8, "1234568")],
)
def test_recorded_numbers_have_six_digits_and_no_exponent(value: float, text: str) -> None:
    assert plain(value) == text


def test_every_reason_is_a_named_deviation() -> None:
    with pytest.raises(LookupError):
        reason("rio", "a book")
    assert reason("tcp", "ns-2.35 tcp/tcp.cc, slowdown").sentence.endswith(".")


def test_missed_router_readings_have_a_reason() -> None:
    shown = list(router.compare_shown())
    assert len(shown) > 90
    assert [reading for reading in shown if not reading.met and reading.reason is None] == []
    assert [reading for reading in shown if reading.met and reading.reason is not None] == []


def test_missed_switch_readings_have_a_reason() -> None:
    shown = list(switch.compare())
    assert len(shown) >= 40
    assert [reading for reading in shown if not reading.met and reading.reason is None] == []
    assert [reading for reading in shown if reading.met and reading.reason is not None] == []


@pytest.mark.skipif(shutil.which("ns") is None, reason="there is no program `ns` (Debian's package ns2)")
def test_red_agrees_with_ns2() -> None:
    sent, dropped, queue = ns2._red(QUICK)
    assert [row.unit for row in (sent, dropped, queue)] == ["packets/s", "%", "packets"]
    for row in (sent, dropped, queue):
        assert row.met and row.reference.half > 0 and row.measured.half > 0, row


@pytest.mark.skipif(kernel.missing() is not None, reason=str(kernel.missing()))
def test_a_fifo_of_the_kernel_drops_as_perhop_does() -> None:
    lacks = kernel.lacking()
    assert set(lacks) < set(kernel.WANTED)
    case = next(candidate for candidate in kernel.CASES if candidate.name == "tbf")
    if set(case.needs) & set(lacks):
        pytest.skip("this kernel has no tbf")
    try:
        there = kernel._by_kernel(case, 1.0)
    except kernel.BusyMachineError as busy:
        pytest.skip(str(busy))
    here = kernel._by_perhop(case, 1.0, QUICK)
    assert set(there) == set(here) == {"rate", "loss", "queue"}
    # Half of the arrivals are lost. A sender that is 50 ms late moves arrivals out of the second, so the
    # tolerance is 5 points.
    assert there["loss"] == pytest.approx(50, abs=5)
    assert estimate(here["loss"]).mean == pytest.approx(50, abs=1)


def test_windows_of_linux_6_match_linux() -> None:
    rows = linux_tcp.part(QUICK).comparisons
    assert len(rows) == 16
    assert [row for row in rows if not row.met] == []


CAKES = ("cake-besteffort", "cake-diffserv4")


@pytest.mark.touched
def test_queues_of_linux_treat_four_flows_as_linux_does() -> None:
    """Goodput, losses and waits of 60 cases; values that differ between two kernel runs may differ more."""
    rows = linux_aqm.part(QUICK).comparisons
    assert len(rows) == 50 * 4 + 10 * 7
    missed = [row for row in rows if not row.met]
    assert len(missed) <= len(rows) / 20, missed
    # Flows without SACK, for which the kernel's own runs differ by a fifth: docs/algorithms/tcp.md and
    # cake.md.
    plain = [row for row in missed if EXTRAS["plain"] in row.case]
    assert plain == missed and {row.name for row in missed} <= {"codel", "pie", *CAKES}, missed
    # Losses that are far from zero are within a tenth of Linux's, not only within 0.3 points.
    losses = [row for row in rows if row.quantity == "loss" and row.reference.mean > 1]
    far = [row for row in losses if row.distance > 0.1 * row.reference.mean]
    assert len(losses) > 20 and len([row for row in far if row.name not in CAKES]) <= 1, far


# Pairs at 50 Mb/s last five times as long as those at 10 Mb/s.
PAIRS = {
    "10": [("cubic", "20", "prague", "20"), ("prague", "20", "prague", "20"), ("cubic", "20", "cubic", "20")],
    "50": [("prague", "20", "cubic", "20"), ("prague", "80", "prague", "20")],
}


@pytest.mark.parametrize("mbps", touched(PAIRS, but=["10"]))
def test_prague_and_cubic_share_as_in_the_l4s_teams_kernel(mbps: str) -> None:
    """`make check` runs three of the 48 pairs, `make touched` two more."""
    assert len(l4s.cases()) == 48
    chosen = [(mbps, *pair) for pair in PAIRS[mbps]]
    keys = ("rate_mbps", "first", "first_rtt_ms", "second", "second_rtt_ms")
    pairs = [case for case in l4s.cases() if tuple(case[key] for key in keys) in chosen]
    rows = list(l4s.compare(replace(QUICK, replications=2), pairs))
    assert len(rows) == len(chosen) and [row for row in rows if not row.met] == []


@pytest.mark.touched
def test_tcp_through_gred_of_linux_has_linux_rates() -> None:
    """Rates within 2 %, or chance; drops by the rule of all comparisons with Linux."""
    rows = list(linux_gred.compare(replace(WHOLE, replications=4)))
    assert len(rows) == 3 * 4
    assert [row for row in rows if not row.met] == []
    # A single average treats green packets very differently from RIO-C, so neither can be mistaken for the
    # other.
    rates = {row.name: row for row in rows if row.quantity == "TCP"}
    assert rates["RIO-C"].measured.mean > 4 * rates["WRED"].reference.mean
    # Only wide intervals, which are listed, replace the 2 %.
    assert linux_gred.near(Value(100.0, 1.0), Value(100.0, 1.0)).relative == 0.02
    assert linux_gred.near(Value(100.0, 2.0), Value(100.0, 1.0)).chance


def test_another_discipline_would_be_missed() -> None:
    """The median waits of the disciplines differ by much more than the allowed difference."""
    loads = {"flows": "cubic-on", "rtt_ms": "20"}.items()
    cases = [
        case for case in linux_aqm.cases() if loads <= case.values.items() and case.table == "four-flows"
    ]
    waits = {case.values["discipline"]: case.figure("wait_p50_ms").runs[0] for case in cases}
    assert waits["pfifo"] > 100 and 14 < waits["pie"] < 16 and 9 < waits["codel"] < 11
    assert linux_aqm.rule("ms", 0.1, 1.0, 5.0).absolute == 1.0
    assert linux_aqm.rule("ms", 0.1, 1.0, 50.0).relative == 0.1


def test_a_peer_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(live_tcp, "offered_congestion_controls", lambda: ["reno"])
    for made in (ns2.part(QUICK), kernel.part(QUICK), live_tcp.part(QUICK)):
        assert made.comparisons == () and len(made.skipped) == 1


@pytest.fixture(scope="module")
def kept() -> Record:
    return recording.read()


def test_the_page_in_the_documentation_is_made_from_the_data(kept: Record) -> None:
    assert PAGE.read_text(encoding="utf-8") == render(kept), "run: .venv/bin/python -m fidelity --render"
    assert [peer.peer for peer in kept.peers] == list(command.PEERS)
    assert {row.peer for row in kept.rows} <= set(command.PEERS)
    assert len(PAGE.read_text(encoding="utf-8").split()) <= 2500
    assert "fidelity" in (ROOT / "docs" / "index.md").read_text().splitlines()
    for file in ("README.md", "CONTRIBUTING.md"):
        assert "docs/fidelity.md" in (ROOT / file).read_text(), file


def test_recorded_verdicts_follow_from_the_recorded_numbers(kept: Record) -> None:
    """Values have at least four digits, and tolerances two, so that rounding does not decide a verdict."""
    assert len(kept.rows) > 600
    for row in kept.rows:
        assert row.verdict in ("met", "missed")
        assert (row.reason != "") == (row.verdict == "missed"), row
        distance = _distance(row)
        edge = 0.05 * float(row.allowed) + 5e-4 * (abs(float(row.reference)) + abs(float(row.perhop)))
        if row.verdict == "met":
            assert distance <= float(row.allowed) + edge, row
        else:
            assert distance >= float(row.allowed) - edge and distance > 0, row


def test_reasons_of_recorded_misses_are_named_deviations(kept: Record) -> None:
    text = " ".join((ROOT / "docs" / "deviations.toml").read_text(encoding="utf-8").split())
    named = {row.reason for row in kept.rows if row.reason not in ("", "unknown")}
    assert len(named) >= 5
    for cause in named:
        assert cause.partition(". (")[0] in text, cause


def _distance(row: Row) -> float:
    difference = float(row.perhop) - float(row.reference)
    if row.rule.startswith("at most"):
        return max(0.0, difference)
    return max(0.0, -difference) if row.rule.startswith("at least") else abs(difference)
