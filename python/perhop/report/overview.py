"""The overview of a report: a card for each study, run or other result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from perhop.plot.chart import Chart
from perhop.plot.overlay import numbered_names, overlaid
from perhop.quantity import counted, number, scale
from perhop.report import glance
from perhop.report.comparison import Compared
from perhop.report.run import Run
from perhop.report.study import Study
from perhop.report.sweep import Swept
from perhop.report.tuning import Tuned

# The maximum loss of a run with a good verdict, percent: the tolerance of interactive video.
_LITTLE_LOSS = 1.0


# The kinds of plots with several runs in one chart, and the maximum number of runs in a legible chart.
_OVERLAID = ("delay-cdf", "throughput")
_MOST_OVERLAID = 6


@dataclass(frozen=True)
class Card:
    """The summary of a result at the top of the page."""

    kicker: str
    anchor: str
    title: str
    #: The verdict as text, and its tone: `good`, `fair`, `bad` or none.
    verdict: str
    tone: str
    picture: Markup | None
    #: Three numbers, each with its meaning.
    numbers: list[tuple[str, str]]


def card(section: Study | Run | Tuned | Swept) -> Card:
    """Return the card of a section of the report."""
    if isinstance(section, Study):
        return _study(section)
    if isinstance(section, Run):
        return _run(section)
    if isinstance(section, Tuned):
        return _tuning(section)
    picture = next(filter(None, map(glance.sketch, section.charts)), None)
    sweep = section.sweep
    numbers = [
        (f"{sweep.points.height:,}", "points"),
        (f"{len(sweep.parameters)}", "parameter" if len(sweep.parameters) == 1 else "parameters"),
        (f"{len(sweep.plan.scenario['traffic'])}", "entries of traffic"),
    ]
    verdict = "complete" if sweep.complete else "not complete"
    tone = "good" if sweep.complete else "fair"
    return Card("Sweep", section.anchor, section.title, verdict, tone, picture, numbers)


def _tuning(tuning: Tuned) -> Card:
    found = tuning.found
    picture = next(filter(None, map(glance.sketch, tuning.charts)), None)
    met = sum(goal["met"] is not False for goal in found["best"]["goals"])
    numbers = [
        (f"{met} / {len(found['best']['goals'])}", "goals met"),
        (f"{found['trials']:,}", "trials"),
        (f"{found['runs']:,}", "runs"),
    ]
    verdict, tone = ("meets its goals", "good") if found["met"] else ("does not meet every condition", "bad")
    return Card("Tuning", tuning.anchor, tuning.title, verdict, tone, picture, numbers)


def _study(study: Study) -> Card:
    claims = study.data["claims"]
    missed = sum(claim["verdict"] == "differs" for claim in claims)
    words = [f"{study.claims_met} of {counted(len(claims), 'claim')} hold"]
    words += [f"{study.claims_partly} in part"] if study.claims_partly else []
    words += [f"{missed} not"] if missed else []
    tone = "bad" if missed else "fair" if study.claims_partly else "good"
    agree, differ = study.counted("agrees"), study.counted("differs")
    # A study of guidelines, which publish no figures, has only claims.
    numbers = [(f"{agree} / {agree + differ}", "figures agree")] if agree + differ else []
    errors = study.data.get("errors") or []
    if errors and errors[-1]["median_percent"] is not None:
        numbers.append((f"{number(errors[-1]['median_percent'], 2)} %", "median error"))
    experiments = sum(len(table["cases"]) for table in study.data["tables"])
    numbers.append((f"{experiments:,}", "experiments"))
    picture = glance.ratios(study.data["figures"])
    return Card("Study", study.anchor, study.title, ", ".join(words), tone, picture, numbers)


def _run(run: Run) -> Card:
    rows = run.results.summary["classes"]
    worst = max(rows, key=lambda row: row["dropped_percent"]["mean"] or 0.0, default=None)
    lost = (worst["dropped_percent"]["mean"] or 0.0) if worst else 0.0
    verdict = f"{worst['class']} loses {number(lost, 3)} %" if worst and lost else "no losses"
    tone = "bad" if lost > _LITTLE_LOSS else "fair" if lost else "good"
    throughput = sum(
        row["throughput_bps"]["mean"] or 0.0 for row in rows if not row["class"].endswith(" (back)")
    )
    divisor, unit = scale("b/s", throughput)
    numbers = [(f"{number(throughput / divisor, 3)} {unit}", "delivered")]
    delays = [(row["delay_p99_s"]["mean"], row["class"]) for row in rows if row["delay_p99_s"]["mean"]]
    if delays:
        for longest, words in ((max(delays), "longest"), (min(delays), "shortest")):
            divisor, unit = scale("s", longest[0])
            numbers.append(
                (f"{number(longest[0] / divisor, 3)} {unit}", f"{words} p99 of delay: {longest[1]}")
            )
    kind = "Comparison" if isinstance(run, Compared) else "Run"
    return Card(kind, run.anchor, run.title, verdict, tone, glance.classes(rows), numbers)


def overlays(runs: Sequence[Run]) -> list[Chart]:
    """Return the plots of several runs: one plot for each kind that all runs have."""
    if not 1 < len(runs) <= _MOST_OVERLAID:
        return []
    names = numbered_names([run.name for run in runs])
    by_kind = [{chart.kind: chart for chart in reversed(run.charts)} for run in runs]
    common = [kind for kind in _OVERLAID if all(kind in charts for charts in by_kind)]
    return [overlaid([charts[kind] for charts in by_kind], names) for kind in common]
