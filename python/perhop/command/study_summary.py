"""The end of several studies on one screen: a line for each study, the files, and the next steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from perhop.command.screen import Screen, styled
from perhop.command.terminal import console
from perhop.quantity import NOTHING, number
from perhop.study.outcome import Judgment
from perhop.study.report import Report

_CLAIMS: tuple[tuple[Judgment, str], ...] = (
    ("agrees", "claims met"),
    ("partly", "in part"),
    ("differs", "not met"),
    ("not-comparable", "unjudged"),
)


def show_summary(reports: Sequence[Report], tables: Path | None, page: Path | None) -> None:
    """Print a line for each study and a total, the paths of written files, and the next step."""
    out = console()
    out.print(_table(reports))
    out.print()
    if not all(report.claims_met for report in reports):
        _line(
            out,
            "exit 4",
            "some claims are not met, or only in part; that is a result",
        )
    if tables is not None:
        _line(out, "tables", str(tables))
    if page is not None:
        _line(out, "report", str(page))
    _line(out, "next", _next(tables, page))


def _next(tables: Path | None, page: Path | None) -> str:
    if page is not None:
        return "open the report in a browser; it shows the evidence for each verdict"
    if tables is not None:
        return f"perhop report {tables.parent} writes a page with plots"
    return "-o results keeps tables, data and a page with plots; --tables prints the tables"


def _line(out: Screen, head: str, text: str) -> None:
    # Without line breaks, so that a long path can be copied.
    out.print(styled((f"{head:<8}", "bold"), text), soft_wrap=True)


def _table(reports: Sequence[Report]) -> Table:
    heads = [(answer, words) for answer, words in _CLAIMS if answer != "not-comparable" or _unjudged(reports)]
    # Narrow enough for a terminal of 80 columns.
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("study")
    for words in ("figures agree", *(words for _, words in heads), "seconds"):
        table.add_column(words, justify="right")
    answers = [answer for answer, _ in heads]
    for report in reports:
        table.add_row(report.study.id, *_cells([report], answers))
    if len(reports) > 1:
        table.add_section()
        table.add_row("all", *_cells(reports, answers), style="bold")
    return table


def _unjudged(reports: Iterable[Report]) -> bool:
    return any(claim.verdict == "not-comparable" for report in reports for claim in report.claims.values())


def _cells(reports: Sequence[Report], answers: Iterable[Judgment]) -> Iterable[str]:
    """Return how many of the comparable figures agree, the claims by answer, and the seconds."""
    figures = [figure.verdict for report in reports for figure in report.figures]
    agree, differ = figures.count("agrees"), figures.count("differs")
    yield f"{agree}/{agree + differ}" if agree + differ else NOTHING
    claims = [claim.verdict for report in reports for claim in report.claims.values()]
    yield from (str(claims.count(answer)) for answer in answers)
    yield number(sum(report.seconds for report in reports), 3)
