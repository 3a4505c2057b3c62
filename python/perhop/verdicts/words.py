"""Verdicts as text, and as rows of tables and documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perhop import _core
from perhop.quantity import number
from perhop.verdicts.figures import Figure, rate_of
from perhop.verdicts.fitness import ROLES
from perhop.verdicts.places import CAUSES
from perhop.verdicts.verdict import Verdict

# The text mentions packets still in the network from this percentage on.
_UNSEEN_PERCENT = 10.0
# A cause with more than this percentage counts as the only cause.
_ALL_PERCENT = 99.5
_OF_CALLS = (("r", ""), ("mos", ""), ("mouth_to_ear", "_s"), ("late", "_percent"))

#: The columns of the table of verdicts, and their types.
COLUMNS: dict[str, type] = {
    "class": str,
    "state": str,
    "role": str,
    "role_from": str,
    "verdict": str,
    "r": float,
    "r_low": float,
    "r_high": float,
    "mos": float,
    "mos_low": float,
    "mos_high": float,
    "mouth_to_ear_s": float,
    "late_percent": float,
    "y1541": int,
    "loss_percent": float,
    "served_percent": float,
    "cause": str,
    "cause_percent": float,
    "port": str,
    "holder": str,
    "holder_percent": float,
    "pool_holder": str,
    "pool_holder_percent": float,
    "text": str,
}


def line(verdict: Verdict) -> str:
    """Return a verdict as a line, without the name of the class."""
    if verdict.state == "idle":
        return "idle: no packet was sent in the measured time"
    if verdict.state == "waiting":
        sent = number(verdict.traffic.offered_packets)
        return f"nothing arrived: all {sent} packets are queued or in transit at the end"
    return "; ".join([*_service(verdict), *_losses(verdict), *_unseen(verdict), *_fitness(verdict)])


def document(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain data, for JSON."""
    calls = {name: getattr(verdict.call, name) for name, _ in _OF_CALLS}
    return {
        "class": verdict.name,
        "state": verdict.state,
        **_role(verdict),
        **{name: figure and figure.to_json() for name, figure in calls.items()},
        **_rest(verdict),
    }


def row(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a row of a table: means and the ends of intervals."""
    found: dict[str, Any] = {"class": verdict.name, "state": verdict.state, **_role(verdict)}
    for name, unit in _OF_CALLS:
        figure: Figure | None = getattr(verdict.call, name)
        found[f"{name}{unit}"] = figure.mean if figure else None
        if not unit:
            found[f"{name}_low"], found[f"{name}_high"] = (figure and figure.ci95) or (None, None)
    return {**found, **_rest(verdict)}


def _role(verdict: Verdict) -> dict[str, Any]:
    fit = verdict.fitness
    return {"role": fit.role, "role_from": fit.origin, "verdict": fit.answer}


def _rest(verdict: Verdict) -> dict[str, Any]:
    served = verdict.traffic.served
    return {
        "y1541": verdict.y1541,
        "loss_percent": verdict.traffic.loss_percent,
        "served_percent": None if served is None else 100.0 * served,
        "cause": verdict.cause,
        "cause_percent": verdict.cause_percent,
        "port": verdict.port,
        "holder": verdict.holder and verdict.holder.name,
        "holder_percent": verdict.holder and verdict.holder.percent,
        "pool_holder": verdict.pool_holder and verdict.pool_holder.port,
        "pool_holder_percent": verdict.pool_holder and verdict.pool_holder.percent,
        "text": line(verdict),
    }


def _service(verdict: Verdict) -> Iterator[str]:
    """Generate text about a starved class, and the class that obtains most of the link."""
    if verdict.state != "starved":
        return
    traffic, queue = verdict.traffic, verdict.queue
    gets = f"starved: {rate_of(traffic.obtained_bps)} of {rate_of(traffic.offered_bps)} get through"
    if queue is not None and queue.guaranteed_bps is not None:
        gets += f", {rate_of(queue.guaranteed_bps)} guaranteed"
    yield gets
    yield from _holder(verdict)


def _losses(verdict: Verdict) -> Iterator[str]:
    """Generate text about the losses of a class and their cause."""
    if verdict.cause is None or verdict.cause_percent is None:
        if verdict.state != "starved":
            yield "no losses"
        return
    who = CAUSES[verdict.cause]
    who += f" above {rate_of(verdict.limit_bps)}" if verdict.limit_bps is not None else ""
    who += f" at {verdict.port}" if verdict.port else ""
    part = "" if verdict.cause_percent > _ALL_PERCENT else f", {number(verdict.cause_percent, 2)} % of it"
    word = "policed: " if verdict.state == "policed" else ""
    yield f"{word}{number(verdict.traffic.loss_percent, 3)} % lost{part} by {who}"
    yield from _pool(verdict)
    yield from _load(verdict)


def _pool(verdict: Verdict) -> Iterator[str]:
    """Generate text about the port that used most of the shared memory at the first drop."""
    held = verdict.pool_holder
    if held is not None:
        port = "that port" if held.port == verdict.port else held.port
        yield f"{port} held {number(held.percent, 3)} % of that memory at the first drop"


def _load(verdict: Verdict) -> Iterator[str]:
    """Generate text about a congested class that exceeds its guarantee, or the class that uses its rate."""
    queue = verdict.queue
    if verdict.state != "congested" or queue is None or queue.guaranteed_bps is None:
        return
    sure = rate_of(queue.guaranteed_bps)
    offered_bps = queue.counted * verdict.traffic.offered_bps
    if verdict.holder is not None:
        yield f"its queue gets {rate_of(queue.obtained_bps)} of {sure} guaranteed"
        yield from _holder(verdict)
    elif offered_bps > queue.guaranteed_bps:
        yield f"its own load: {rate_of(offered_bps)}, of which {sure} are guaranteed"


def _holder(verdict: Verdict) -> Iterator[str]:
    held = verdict.holder
    if held is not None:
        yield f"{held.name} holds {number(held.percent, 3)} % of {held.port}"


def _unseen(verdict: Verdict) -> Iterator[str]:
    """Generate text about the share of packets in the network at the end of the run."""
    part = verdict.traffic.unseen_percent
    if part >= _UNSEEN_PERCENT:
        yield f"{number(part, 2)} % queued or in transit at the end"


def _fitness(verdict: Verdict) -> Iterator[str]:
    """Generate text about the fitness of a class for its role, with the reasons."""
    fit = verdict.fitness
    if fit.role is None:
        return
    role = ROLES[fit.role]
    if fit.answer is None:
        yield f"{role}: not known, {verdict.call.remark or 'too few packets arrived'}"
        return
    reasons = [] if fit.answer == "fit" else fit.reasons()
    if fit.role == "voice" and fit.answer != "undecided":
        reasons = _rating(verdict)
    why = f" ({', '.join(reasons)})" if reasons else ""
    yield f"{role}: undecided{why}" if fit.answer == "undecided" else f"{fit.answer} for {role}{why}"


def _rating(verdict: Verdict) -> list[str]:
    """Return the rating of calls as text."""
    r, mos = verdict.call.r, verdict.call.mos
    if r is None or mos is None:
        return []
    return [f"R {_rounded(r, 1)}, MOS {_rounded(mos, 2)}: {_core.speech_category(r.mean)}"]


def _rounded(figure: Figure, digits: int) -> str:
    half = (figure.ci95[1] - figure.ci95[0]) / 2 if figure.ci95 else 0.0
    # An interval below the last digit shown would suggest more precision than the mean has.
    shown = f" ± {half:.{digits}f}" if half >= 0.5 * 10.0**-digits else ""
    return f"{figure.mean:.{digits}f}{shown}"
