"""perhop compared with theory: queues, priorities, shares, buckets, and RED's drop rates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from fidelity.comparison import BY_CHANCE, Comparison, Rule, Value, estimate
from fidelity.document import Part
from fidelity.simulating import Effort, by_replication, mean_of, of_class, one_link, simulate

PEER = "analytic"
# Packets of 1000 IP bytes on average at 10 Mb/s.
LINK, MU = 10e6, 1250.0
UNLIMITED = {"tail-drop": {"limit": "1000000 packets"}}
WARMUP_S, SECONDS = 20, 400
# Weights of three classes that always wait, and their packets, IP bytes.
WEIGHTS, PACKETS = (1, 2, 5), (300, 700, 1500)
# The bytes of a run may differ by one of the longest packets.
SHARE = Rule(absolute=0.1, what="0.1 points")
# The offered rate divided by the rate of the link. RED must drop the excess.
OVERLOAD = 1.05


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons with theory."""
    yield from _single_server(effort)
    yield from _loss(effort)
    yield from _priority(effort)
    yield from _shares(effort)
    yield from _buckets(effort)
    yield from _red(effort)


def _poisson(load: float, sizes: str) -> dict[str, Any]:
    rate = f"{round(load * LINK)}b/s"
    return {"source": {"poisson": {"rate": rate, "packet": {"ip": "1000B"}, "sizes": sizes}}}


def _timed(scenario: dict[str, Any], effort: Effort, warmup: float = WARMUP_S) -> dict[str, Any]:
    measured = float(effort.seconds(SECONDS).removesuffix("s"))
    return scenario | {"duration": f"{measured + warmup:g}s", "measure": {"warmup": f"{warmup:g}s"}}


def _single_server(effort: Effort) -> Iterator[Comparison]:
    fifo = {"classes": [{"name": "all", "buffer": UNLIMITED}]}
    for load, sizes in ((0.5, "exponential"), (0.8, "exponential"), (0.5, "fixed"), (0.9, "fixed")):
        name = "M/M/1" if sizes == "exponential" else "M/D/1"
        scenario = one_link(name, "10Mb/s", fifo, [{"name": "all", **_poisson(load, sizes)}])
        results = simulate(_timed(scenario, effort), effort)
        mean = estimate([1e3 * value for value in of_class(results, "all", "delay_mean_s")])
        if sizes == "exponential":
            wanted, source = 1e3 / (MU * (1 - load)), "W = 1 / (µ - λ)"
        else:
            wanted = 1e3 * (1 / MU + load / (2 * MU * (1 - load)))
            source = "Pollaczek and Khinchine: W = 1/µ + load / (2µ (1 - load))"
        yield _comparison_by_chance(
            name, f"load {load}", ("time in the system", "ms"), (wanted, source), mean
        )
        if sizes == "exponential":
            tail = estimate([1e3 * value for value in of_class(results, "all", "delay_p99_s")])
            source = "P(W > t) = exp(-(µ - λ) t)"
            yield _comparison_by_chance(
                name, f"load {load}", ("its 99th percentile", "ms"), (math.log(100) * wanted, source), tail
            )


def _loss(effort: Effort) -> Iterator[Comparison]:
    for load, places in ((0.8, 5), (1.2, 10)):
        # The packet in service has a place; the queue's limit does not count it.
        buffer = {"tail-drop": {"limit": f"{places - 1} packets"}}
        scenario = one_link(
            "M/M/1/K",
            "10Mb/s",
            {"classes": [{"name": "all", "buffer": buffer}]},
            [{"name": "all", **_poisson(load, "exponential")}],
        )
        lost = estimate(of_class(simulate(_timed(scenario, effort), effort), "all", "dropped_percent"))
        full = load**places
        wanted = 100 * (1 - load) * full / (1 - load * full)
        source = "P = (1 - load) load^K / (1 - load^(K+1))"
        yield _comparison_by_chance(
            "M/M/1/K", f"load {load}, K = {places}", ("lost", "%"), (wanted, source), lost
        )


def _priority(effort: Effort) -> Iterator[Comparison]:
    loads, codepoints = (0.3, 0.3, 0.2), ("ef", "af11", "default")
    classes = [
        {
            "name": f"level {level}",
            "match": {"dscp": [codepoint]},
            "share": {"level": level},
            "buffer": UNLIMITED,
        }
        for level, codepoint in enumerate(codepoints)
    ]
    traffic = [
        {"name": f"level {level}", "dscp": codepoint, **_poisson(load, "exponential")}
        for level, (load, codepoint) in enumerate(zip(loads, codepoints, strict=True))
    ]
    scenario = one_link("Cobham", "10Mb/s", {"scheduler": "priority", "classes": classes}, traffic)
    results = simulate(_timed(scenario, effort), effort)
    residual, before = sum(loads) / MU, 0.0
    for level, load in enumerate(loads):
        after = before + load
        wanted = 1e3 * (residual / ((1 - before) * (1 - after)) + 1 / MU)
        mean = estimate([1e3 * value for value in of_class(results, f"level {level}", "delay_mean_s")])
        source = "Cobham 1954: Wq = W0 / ((1 - s(k-1)) (1 - s(k)))"
        yield _comparison_by_chance(
            "strict priority",
            f"level {level}, loads {loads}",
            ("time in the system", "ms"),
            (wanted, source),
            mean,
        )
        before = after


def _shares(effort: Effort) -> Iterator[Comparison]:
    for scheduler in ("wrr", "drr", "scfq", "wfq", "wf2q-plus"):
        # Round-robin by packets shares bytes only among packets of equal size.
        sizes = (1000, 1000, 1000) if scheduler == "wrr" else PACKETS
        packets = f"packets of {'/'.join(map(str, sizes))} B"
        demands = [LINK, LINK, LINK]
        yield from _sharing(scheduler, f"all wait, {packets}", sizes, demands, effort)
        yield from _sharing(
            scheduler, f"the heaviest sends 0.5 Mb/s, {packets}", sizes, [LINK, LINK, 0.5e6], effort
        )


def _sharing(
    scheduler: str, case: str, sizes: tuple[int, ...], demands: list[float], effort: Effort
) -> Iterator[Comparison]:
    codepoints = ("af11", "af21", "af31")
    parts = zip(WEIGHTS, codepoints, strict=True)
    classes = [
        {
            "name": codepoint,
            "match": {"dscp": [codepoint]},
            "share": {"quantum": f"{1500 * weight}B"} if scheduler == "drr" else {"weight": weight},
            "buffer": {"tail-drop": {"limit": "100 packets"}},
        }
        for weight, codepoint in parts
    ]
    traffic = [
        {
            "name": name,
            "dscp": name,
            "source": {"cbr": {"rate": f"{rate:.0f}b/s", "packet": {"ip": f"{size}B"}}},
        }
        for name, rate, size in zip(codepoints, demands, sizes, strict=True)
    ]
    scenario = one_link(scheduler, "10Mb/s", {"scheduler": scheduler, "classes": classes}, traffic)
    timed = scenario | {"duration": "60s", "measure": {"warmup": "5s"}}
    results = simulate(timed, Effort(1, effort.scale))
    got = [of_class(results, name, "throughput_bps")[0] for name in codepoints]
    wanted = _filled(demands)
    for weight, obtained, rate in zip(WEIGHTS, got, wanted, strict=True):
        measured, reference = Value(100 * obtained / sum(got)), Value(100 * rate / sum(wanted))
        source = "GPS: min(demand, part of what is left by weight)"
        yield Comparison(
            PEER, scheduler, case, f"share of weight {weight}", "%", reference, source, measured, SHARE
        )


def _filled(demands: list[float]) -> list[float]:
    """Return the rates that generalized processor sharing gives classes with these demands, b/s."""
    got, waiting, left = dict.fromkeys(range(len(demands)), 0.0), set(range(len(demands))), LINK
    while waiting:
        level = left / sum(WEIGHTS[index] for index in waiting)
        content = {index for index in waiting if demands[index] <= level * WEIGHTS[index]}
        for index in content or waiting:
            got[index] = demands[index] if content else level * WEIGHTS[index]
        if not content:
            break
        left -= sum(demands[index] for index in content)
        waiting -= content
    return [got[index] for index in range(len(demands))]


def _buckets(effort: Effort) -> Iterator[Comparison]:
    """Compare the bytes that pass a meter with its rate and burst, if the arrivals exceed its rate."""
    length, seconds = 500, 60
    meters = {
        "token bucket": {"token-bucket": {"rate": "1Mb/s", "burst": "15000B"}},
        "srTCM": {"single-rate-tcm": {"cir": "1Mb/s", "cbs": "15000B", "ebs": "30000B"}},
        "trTCM": {"two-rate-tcm": {"cir": "1Mb/s", "cbs": "15000B", "pir": "2Mb/s", "pbs": "40000B"}},
    }
    # Rate (b/s), burst (bytes) and colors of the packets that a profile lets through.
    profiles: dict[str, list[tuple[str, float, int, tuple[str, ...]]]] = {
        "token bucket": [("green", 1e6, 15_000, ("green",))],
        "srTCM": [("green", 1e6, 15_000, ("green",)), ("yellow", 0.0, 30_000, ("yellow",))],
        "trTCM": [("green", 1e6, 15_000, ("green",)), ("green and yellow", 2e6, 40_000, ("green", "yellow"))],
    }
    marks = {"green": "af11", "yellow": "af12", "red": "af13"}
    for name, meter in meters.items():
        colors = ("green", "red") if name == "token bucket" else tuple(marks)
        conditioner = {"meter": meter} | {color: [{"mark": marks[color]}] for color in colors}
        scenario = one_link(
            name,
            "100Mb/s",
            {"classes": [{"name": "af1", "buffer": UNLIMITED}]},
            [{"name": "all", "source": {"cbr": {"rate": "4Mb/s", "packet": {"ip": f"{length}B"}}}}],
        )
        scenario["policies"]["queue"]["conditioners"] = [conditioner]
        results = simulate(scenario | {"duration": f"{seconds}s"}, Effort(1, effort.scale))
        counted: dict[str, int] = {}
        for color, packets in results.colors.select("color", "delivered_packets").iter_rows():
            counted[color] = counted.get(color, 0) + packets
        for what, rate, burst, passing in profiles[name]:
            passed = length * sum(counted.get(color, 0) for color in passing)
            beyond = passed - rate / 8 * seconds
            yield Comparison(
                PEER,
                name,
                "4 Mb/s in packets of 500 B for 60 s",
                f"{what} beyond rate times time",
                "B",
                Value(float(burst)),
                "A(t) ≤ r t + b, reached under overload",
                Value(beyond),
                # The last packet, and the tokens that arrive until the next packet.
                Rule(absolute=length + rate / 8 * 1e-3, what="a packet"),
            )


def _red(effort: Effort) -> Iterator[Comparison]:
    """Compare the drop rate divided by p_b. Overload keeps the average where drops equal the excess."""
    # In a wide range, the random changes of the average are relatively small, so that p hardly changes.
    least, most, top, warmup = 10, 2010, 0.1, 150
    sources = {
        "uniform": "Floyd and Jacobson 1993: gaps uniform on 1 … 1/p, about 2",
        "geometric": "gaps without memory: 1",
        "wait": "ns-2's wait: gaps uniform on 1/p … 2/p - 1, about 2/3",
    }
    for spacing, source in sources.items():
        buffer = {
            "red": {
                "precedences": [
                    {"min": f"{least} packets", "max": f"{most} packets", "max-probability": top}
                ],
                "drop-spacing": spacing,
                "limit": "4000 packets",
            }
        }
        scenario = one_link(
            "RED",
            "10Mb/s",
            {"classes": [{"name": "all", "buffer": buffer}]},
            [
                {
                    "name": "all",
                    "source": {"cbr": {"rate": f"{OVERLOAD * LINK:.0f}b/s", "packet": {"ip": "1000B"}}},
                }
            ],
        )
        timed = _timed(scenario, effort, warmup)
        timed["measure"]["queues"] = [{"from": "a", "to": "b", "every": "20ms"}]
        results = simulate(timed, effort)
        # The counters of the port also count the warm-up. The counters of the classes do not.
        lost = [value / 100 for value in of_class(results, "all", "dropped_percent")]
        late = results.queues.filter(pl.col("time_s") > warmup)
        average = by_replication(late, lambda rows: mean_of(rows, "average"))
        chances = [top * (mean - least) / (most - least) for mean in average]
        measured = estimate([drops / p for drops, p in zip(lost, chances, strict=True)])
        p = sum(chances) / len(chances)
        case = f"{spacing}, overload of 5 %"
        yield _comparison_by_chance(
            "RED", case, ("drop rate over p_b", "1"), (1 / (p * _mean_gap(spacing, p)), source), measured
        )


def _mean_gap(spacing: str, p: float) -> float:
    """Return the mean distance between drops at a constant p_b, summed over the packets after a drop.

    The sum also applies if 1/p is not a whole number, unlike the closed forms of the gaps.
    """
    mean, kept, packet = 0.0, 1.0, 0
    while kept > 1e-12:
        mean += kept
        packet += 1
        match spacing:
            case "uniform":
                hazard = p / max(p, 1 - (packet - 1) * p)
            case "wait":
                hazard = 0.0 if packet * p < 1 else p / max(p, 2 - packet * p)
            case _:
                hazard = p
        kept *= 1 - hazard
    return mean


def _comparison_by_chance(
    name: str, case: str, quantity: tuple[str, str], theory: tuple[float, str], measured: Value
) -> Comparison:
    """Return a comparison by chance. `quantity` has a unit, and `theory` has a source."""
    wanted, source = theory
    return Comparison(PEER, name, case, *quantity, Value(wanted), source, measured, BY_CHANCE)


def part(effort: Effort) -> Part:
    """Return the comparisons with theory as a part of the page."""
    about = "The peer is formulas that use no value of perhop. Shares and buckets are not random."
    return Part(PEER, "Theory", about, list(compare(effort)))
