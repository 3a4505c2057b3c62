"""`linux-6` through qdiscs of Linux, compared with Linux, as in the study linux-aqm.

Four bulk flows, alone or with a call, cross a queue at 10 Mb/s. Replications differ in the start times of the
flows, in the phases of the hosts' clocks, in the hashes of FQ-CoDel and CAKE, and in the draws of PIE and
CAKE. The runs of the kernel differ in the same way. The constant-rate sender of the study is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from fidelity.comparison import Comparison, Rule, Value, estimate
from fidelity.document import Part
from fidelity.linux_tcp import EXTRAS
from fidelity.reasons import Reason, reason
from fidelity.simulating import Effort, simulate
from perhop import study
from perhop.study.definition import Published

PEER = "linux-aqm"
STUDY = "linux-aqm"
TABLES = ("four-flows", "fq_pie", "call")
QUANTITIES = {
    "goodput_mbps": "goodput",
    "loss_percent": "loss",
    "wait_p50_ms": "wait, median",
    "wait_p99_ms": "wait, 99th percentile",
    "call_loss_percent": "loss of the call",
    "call_p50_ms": "wait of the call, median",
    "call_p99_ms": "wait of the call, 99th percentile",
}


@dataclass(frozen=True)
class Case:
    """The measurements of one qdisc under one load: a figure for each quantity."""

    #: The name of the case in the study.
    id: str
    table: str
    figures: tuple[Published, ...]

    @property
    def values(self) -> dict[str, str]:
        """The flows, their round trip and the qdisc."""
        return self.figures[0].case

    @property
    def name(self) -> str:
        """The description of the load."""
        control, extras = self.values["flows"].split("-")
        flows = "Reno" if control == "reno" else "CUBIC"
        if self.table == "call":
            return f"{self.values['rtt_ms']} ms, a call beside four {flows} flows"
        return f"{self.values['rtt_ms']} ms, four {flows} flows {EXTRAS[extras]}"

    def figure(self, metric: str) -> Published:
        """Return the figure of a metric."""
        return next(figure for figure in self.figures if figure.metric == metric)


@cache
def found() -> study.Study:
    """Return the study that contains the readings, the scenarios and the rules."""
    return study.find(STUDY)


def cases() -> list[Case]:
    """Return the measured cases."""
    return [
        Case(case.name, table.id, tuple(found().figures_of(table, case)))
        for table in found().tables
        if table.id in TABLES
        for case in table.cases
    ]


def rule(unit: str, relative: float, absolute: float, reference: float) -> Rule:
    """Return the allowed difference: the larger of a fraction of the reference and an absolute value."""
    if relative * reference >= absolute:
        return Rule(relative=relative)
    return Rule(absolute=absolute, what=f"{absolute:g} {'points' if unit == '%' else unit}")


def known(values: Mapping[str, str]) -> Reason | None:
    """Return the known reason for the differences of a case.

    For these cases, the kernel was also run without the check in question. Its figures then agree with
    perhop's.
    """
    disciplines = {"codel", "cake-besteffort", "cake-diffserv4"}
    if (values["flows"], values["rtt_ms"]) == ("cubic-plain", "20") and values["discipline"] in disciplines:
        return reason("tcp", "tcp_xmit_retransmit_queue")
    return None


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons of all cases."""
    for case in cases():
        runs_here = replace(effort, replications=min(effort.replications, found().replications))
        results = simulate(found().scenario(case.id), runs_here)
        for figure in case.figures:
            near = found().metrics[figure.metric]
            yield Comparison(
                PEER,
                case.values["discipline"],
                case.name,
                QUANTITIES[figure.metric],
                figure.unit,
                Value(figure.value, estimate(figure.runs).half),
                "Linux 6.1, virtual time",
                estimate(getattr(found().measures, figure.metric)(results, figure.case)),
                rule(figure.unit, near.relative or 0.0, near.absolute or 0.0, figure.value),
                known(case.values),
            )


def part(effort: Effort) -> Part:
    """Return the comparisons with Linux's qdiscs as a part of the page."""
    about = (
        "perhop sends four flows of `linux-6` through a queue of Linux at 10 Mb/s for 300 s. The peer is\n"
        "four flows of Linux 6.1.192 in a kernel with virtual time ([the study\n"
        "linux-aqm](study-linux-aqm.md)). Both count from 20 s on. There are three runs of the kernel\n"
        "(one for the FIFO) and four of perhop. Intervals are not part of the rules, so a 99th percentile\n"
        "of few losses may also be missed by chance. The study describes each miss."
    )
    return Part(PEER, "Linux's queues and TCP", about, list(compare(effort)))
