"""Lines of `show policy-map interface` that depend on hardware or on features that are rare."""

from __future__ import annotations

from typing import Any, cast

import pytest

import genie_parser
from perhop.core_types import ResolvedClass, ResolvedPolicy, RouterPort
from perhop.show.counters import Counters, PrecedenceCounts, Traffic
from perhop.show.document import interface_document
from perhop.show.printing import StyleName, interface_text, limit_words, thousands
from perhop.show.rates import averaged, interval_words
from perhop.show.routers import Interface, InterfaceState
from perhop.show.state import Place, policy_state

PORT = "r->next"


def one_class(name: str = "class-default", **features: Any) -> ResolvedClass:
    nothing = dict.fromkeys(
        (
            "queue",
            "conditioner",
            "bandwidth",
            "priority",
            "police",
            "shape",
            "queue_limit",
            "fair_queue",
            "random_detect",
            "policy",
        )
    )
    whole = {"name": name, "line": 1, "combination": "match-any", "matches": ["any"], "marks": []}
    return cast(ResolvedClass, {**whole, **nothing, **features})


def policy(*classes: ResolvedClass, priority_limits: list[Any] | None = None) -> ResolvedPolicy:
    return {
        "name": "P",
        "line": 1,
        "rate_bps": 1_000_000,
        "classes": list(classes),
        "priority_limits": priority_limits or [],
    }


class Counted(Counters):
    """Counters without a run: by queue and drop precedence, and by conditioner and color."""

    def __init__(
        self,
        queues: dict[str, dict[int, PrecedenceCounts]] | None = None,
        stages: dict[str, dict[str, Traffic]] | None = None,
    ) -> None:
        self.seconds = 10.0
        self._queues = {(PORT, name): counts for name, counts in (queues or {}).items()}
        self._stages = {("r", "next", "output", name): colors for name, colors in (stages or {}).items()}
        self._samples = {}


def shown(
    what: ResolvedPolicy,
    counters: Counters,
    *,
    style: StyleName = "ios-xe",
    counted: tuple[int, int] = (0, 0),
    sources: dict[str, Any] | None = None,
    seen: frozenset[str] = frozenset(),
) -> tuple[str, dict[str, Any]]:
    classes, queues = counted
    bytes_of = {"classes": classes, "queues": queues}
    place = Place("r", "next", "output", bytes_of, 300, None, seen, sources or {})
    port = cast(RouterPort, {"name": "GigabitEthernet0/0/0"})
    state = InterfaceState(Interface(port, "next", 300), {"output": policy_state(what, place, counters)})
    return interface_text(state, style), interface_document(state)["policies"]["output"]


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


QUEUE = {
    "q": {
        0: PrecedenceCounts(Traffic(1000, 500_000), Traffic(800, 400_000), 0, {"queue_full": 190}),
    }
}


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"unit": "packets", "value": 64}, "64 packets"),
        ({"unit": "bytes", "value": 62_500, "bytes": 62_500}, "62500 bytes"),
        ({"unit": "us", "value": 393, "bytes": 49_152}, "393 us/ 49152 bytes"),
        ({"unit": "ms", "value": 50, "bytes": 6250}, "50 ms/ 6250 bytes"),
    ],
)
def test_limits_have_their_units(limit: Any, words: str) -> None:
    assert limit_words(limit) == words
    text, _ = shown(policy(one_class(queue="q", queue_limit=limit)), Counted(QUEUE))
    assert f"queue limit {words}" in lines_of(text)


def test_layer_two_is_counted_where_the_platform_does() -> None:
    """14 bytes on each packet of what came and in the rates; on a tunnel more where packets wait."""
    _, plain = shown(policy(one_class(queue="q")), Counted(QUEUE))
    _, whole = shown(policy(one_class(queue="q")), Counted(QUEUE), counted=(14, 28))
    [before], [after] = ([one["counters"] for one in found["classes"]] for found in (plain, whole))
    assert before["classified"] == {"packets": 1000, "bytes": 500_000}
    assert after["classified"] == {"packets": 1000, "bytes": 514_000}
    assert after["queue"]["output"] == {"packets": 800, "bytes": 422_400}
    assert after["offered_bps"] == pytest.approx(514_000 * 8 / 10)
    assert after["drop_bps"] == pytest.approx(190 * 514 * 8 / 10)


def test_the_depth_is_what_came_and_did_not_leave() -> None:
    text, _ = shown(policy(one_class(queue="q")), Counted(QUEUE))
    assert "(queue depth/total drops/no-buffer drops) 10/190/0" in lines_of(text)


def test_a_class_without_a_queue_waits_in_that_of_class_default() -> None:
    """What a policed class let through is in the default queue, but was not classified into it."""
    police = {
        "kind": "bps",
        "value": 80_000,
        "cir_bps": 80_000,
        "bc_bytes": 2500,
        "pir_bps": None,
        "be_bytes": None,
        "colors": 2,
        "conform": ["transmit"],
        "exceed": ["drop"],
        "violate": [],
    }
    guest = one_class("GUEST", conditioner="GUEST", police=police, matches=["access-group 101"])
    stages = {"GUEST": {"green": Traffic(200, 100_000), "red": Traffic(50, 25_000)}}
    text, found = shown(policy(guest, one_class(queue="q")), Counted(QUEUE, stages))
    [guest_counters, default] = [one["counters"] for one in found["classes"]]
    assert guest_counters["classified"]["packets"] == 250
    assert guest_counters["drop_bps"] == 25_000 * 8 / 10
    assert default["classified"] == {"packets": 800, "bytes": 400_000}
    assert default["offered_bps"] == 400_000 * 8 / 10
    assert "exceeded 50 packets, 25000 bytes; actions:" in lines_of(text)


def test_a_class_that_the_run_does_not_count_says_nothing() -> None:
    text, found = shown(policy(one_class("IDLE"), one_class(queue="q")), Counted(QUEUE))
    assert found["classes"][0]["counters"]["classified"] is None
    [classes] = genie_parser.parse(text)["GigabitEthernet0/0/0"]["service_policy"]["output"][
        "policy_name"
    ].values()
    assert classes["class_map"]["IDLE"] == {"match_evaluation": "match-any", "match": ["any"]}


def detect(**changes: Any) -> dict[str, Any]:
    rows = [
        {"value": str(number), "min": 20 + 2 * number, "max": 40, "unit": "packets", "mark_denominator": 10}
        for number in range(8)
    ]
    return {"basis": "precedence", "exponent": 9, "ecn": False, "rows": rows, **changes}


def test_thresholds_in_bytes_say_so_below_the_heads() -> None:
    in_bytes = [{**row, "unit": "bytes", "min": 15_625, "max": 31_250} for row in detect()["rows"]]
    config = one_class(queue="q", random_detect=detect(rows=in_bytes))
    text, _ = shown(policy(config), Counted(QUEUE))
    [units] = [line.split() for line in lines_of(text) if line.startswith("bytes")]
    assert units == ["bytes", "bytes"]
    [row] = [line for line in lines_of(text) if line.startswith("3 ")]
    assert row.split()[4:] == ["15625", "31250", "1/10"]


def test_ecn_has_a_table_of_marks() -> None:
    counts = {"q": {2: PrecedenceCounts(Traffic(100, 50_000), Traffic(100, 50_000), 7, {})}}
    config = one_class(queue="q", random_detect=detect(ecn=True))
    text, found = shown(policy(config), Counted(counts))
    assert "explicit congestion notification" in lines_of(text)
    marks = text.partition("ECN Mark")[2]
    [row] = [line.split() for line in marks.splitlines() if line.strip().startswith("2 ")]
    assert row == ["2", "7/3500"]
    assert found["classes"][0]["counters"]["random_detect"]["rows"][2]["marked"]["packets"] == 7


@pytest.mark.parametrize("basis", ["cos", "discard-class"])
def test_wred_by_marks_of_the_router_has_a_row_for_each(basis: str) -> None:
    counts = {"q": {2: PrecedenceCounts(Traffic(9, 900), Traffic(6, 600), 0, {"early_random": 3})}}
    config = one_class(queue="q", random_detect=detect(basis=basis, ecn=True))
    text, _ = shown(policy(config), Counted(counts), sources={"q": "color"})
    heads = [line.split()[:2] for line in lines_of(text) if line.startswith(basis)]
    assert heads == [[basis, "Transmitted"], [basis, "ECN"]]
    rows = [line.split() for line in lines_of(text) if line.endswith("1/10")]
    assert [row[0] for row in rows] == [str(number) for number in range(8)]
    assert rows[2][1:3] == ["6/600", "3/300"]


def test_codepoints_with_equal_thresholds_share_what_was_counted() -> None:
    """The queue counts by drop precedence; the codepoint that the run has packets of gets it."""
    rows = [
        {"value": value, "min": least, "max": 40, "unit": "packets", "mark_denominator": 10}
        for value, least in (("af21", 32), ("af31", 32), ("af22", 28), ("ef", 36))
    ]
    config = one_class(queue="q", random_detect=detect(basis="dscp", rows=rows))
    sources = {"q": {"by-dscp": ["af22", ["ef"], "af21"]}}
    counts = {
        "q": {
            0: PrecedenceCounts(Traffic(5, 500), Traffic(5, 500), 0, {}),
            2: PrecedenceCounts(Traffic(9, 900), Traffic(6, 600), 0, {"early_random": 2, "queue_full": 1}),
        }
    }
    text, found = shown(policy(config), Counted(counts), sources=sources, seen=frozenset({"af31", "af22"}))
    counted = found["classes"][0]["counters"]["random_detect"]["rows"]
    assert [row["value"] for row in counted] == ["af31", "af22"], "ef and af21 were not seen"
    assert counted[0]["transmitted"] == {"packets": 6, "bytes": 600}
    assert counted[0]["random"] == {"packets": 2, "bytes": 200}
    assert counted[0]["tail"] == {"packets": 1, "bytes": 100}
    assert [line.split()[0] for line in lines_of(text) if line.startswith("af")] == ["af31", "af22"]


def test_packets_a_second_and_classes_that_drop() -> None:
    police = {
        "kind": "pps",
        "value": 100,
        "cir_bps": 100,
        "bc_bytes": 24,
        "pir_bps": None,
        "be_bytes": None,
        "colors": 2,
        "conform": ["transmit"],
        "exceed": ["drop"],
        "violate": [],
    }
    classes = one_class("A", conditioner="A", police=police), one_class("B", conditioner="B", drop=True)
    stages = {"A": {"green": Traffic(100, 6400)}, "B": {"green": Traffic(30, 3000)}}
    text, found = shown(policy(*classes), Counted({}, stages))
    assert "rate 100 pps, burst 24 packets" in lines_of(text)
    assert "drop" in lines_of(text)
    assert found["classes"][1]["counters"]["drop_bps"] == 3000 * 8 / 10


def test_the_limit_of_a_flow_is_shown_beside_wred() -> None:
    """WRED counts all flows together and lifts the limit of each; routers print a quarter of the class's."""
    features: dict[str, Any] = {
        "queue": "q",
        "queue_limit": {"unit": "packets", "value": 64},
        "fair_queue": {"flow_limit_packets": 1_000_000, "queues": 256},
    }
    text, _ = shown(policy(one_class(**features, random_detect=detect())), Counted(QUEUE))
    assert "Fair-queue: per-flow queue limit 16 packets" in lines_of(text)
    assert "Tail/Flow drop" in text


def test_an_inner_class_default_has_what_its_siblings_leave() -> None:
    inside = policy(one_class("MARKED", conditioner="outer.MARKED", marks=["dscp cs6"]))
    stages = {"outer.MARKED": {"green": Traffic(400, 200_000)}}
    _, found = shown(policy(one_class("outer", queue="q", policy=inside)), Counted(QUEUE, stages))
    [outer, _] = found["classes"]
    packets = {one["name"]: one["counters"]["classified"]["packets"] for one in outer["policy"]["classes"]}
    assert packets == {"MARKED": 400, "class-default": 600}
    assert outer["counters"]["classified"]["packets"] == 1000


def test_queues_of_a_level_of_priority_add_up() -> None:
    priority = {"level": 1, "kind": "kbps", "value": 64, "rate_bps": 64_000, "burst_bytes": 1600}
    classes = [one_class(name, queue="q", priority=priority) for name in ("A", "B")]
    limits = [{"level": 1, "unit": "packets", "value": 512}]
    text, found = shown(policy(*classes, priority_limits=limits), Counted(QUEUE))
    assert found["priority_limits"][0]["counters"]["output"] == {"packets": 1600, "bytes": 800_000}
    assert lines_of(text).count("Priority: 64 kbps, burst bytes 1600, b/w exceed drops: 0") == 2
    assert "priority level 1" not in lines_of(text)


def test_rates_are_whole_kilobits() -> None:
    assert [thousands(bps) for bps in (0, 499, 500.1, 1_499_000)] == ["0000", "0000", "1000", "1499000"]


def test_the_average_of_a_steady_rate() -> None:
    # Five minutes after the start 1 - 1/e, and after four time constants 2 % below.
    assert averaged(1e6, 300, 300) == pytest.approx(632_121, abs=1)
    assert averaged(1e6, 30, 120) == pytest.approx(981_684, abs=1)
    assert averaged(1e6, 300, 9.9) == averaged(1e6, 300, 5.0)
    assert averaged(1e6, 300, None) == 1e6
    assert [interval_words(seconds) for seconds in (30, 60, 90, 300)] == [
        "30 second",
        "1 minute",
        "90 second",
        "5 minute",
    ]
