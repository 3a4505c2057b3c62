"""The report of a study on a terminal."""

from __future__ import annotations

from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from perhop.command.lines import WIDTH_OF_A_FILE
from perhop.command.screen import Screen, styled
from perhop.command.terminal import console
from perhop.quantity import NOTHING, agreement, counted, interval, number
from perhop.study.definition import Assumption, Study
from perhop.study.errors import ALL, heads_and_lines
from perhop.study.findings import Trial
from perhop.study.outcome import Figure, Judgment, Point
from perhop.study.report import Report

_MARKS: dict[Judgment, tuple[str, str]] = {
    "agrees": ("agrees", "green"),
    "partly": ("PARTLY", "bold yellow"),
    "differs": ("DIFFERS", "bold red"),
    "not-comparable": ("not comparable", "dim"),
}
# The maximum number of figures that are named for an alternative.
# These figures change most. The JSON report has all figures.
_MOVED_MOST = 3


def show_report(report: Report) -> None:
    """Print the figures, claims and assumptions of a report, and how long the study took."""
    out = console()
    _print_tables(out, report)
    out.print(f"{number(report.seconds, 3)} s")


def tables_text(report: Report) -> str:
    """Return the output of `show_report` as text without the time: equal seeds give equal bytes."""
    file = StringIO()
    out = Screen(file=file, width=WIDTH_OF_A_FILE, color_system=None, force_terminal=False)
    _print_tables(out, report)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().strip().splitlines())


def _print_tables(out: Screen, report: Report) -> None:
    out.print(styled("\n", (report.study.id, "bold"), f": {report.study.title}"))
    out.print(styled((f"{report.study.paper}\n", "dim")))
    for table in report.study.tables:
        figures = [figure for figure in report.figures if figure.table == table.id]
        if figures:
            out.print(_figures(table.heading, figures))
        points = [point for point in report.curves if point.table == table.id]
        for metric in dict.fromkeys(point.metric for point in points):
            out.print(_curves(table.heading, [point for point in points if point.metric == metric]))
    _print_errors(out, report)
    _print_claims(out, report)
    _print_assumptions(out, report)
    _print_counts(out, report)


def show_definition(study: Study) -> None:
    """Print the claims, assumptions and cases of a study."""
    out = console()
    out.print(styled((study.id, "bold"), f": {study.title}\n", (study.paper, "dim")))
    out.print(f"{counted(study.replications, 'replication')}, seed {study.seed}\n")
    for table in study.tables:
        out.print(styled((table.heading, "bold")))
        for case in table.cases:
            if not case.point:
                count = len(study.figures_of(table, case))
                out.print(f"    {case.name} ({case.scenario.name}, {counted(count, 'published figure')})")
        if table.curves:
            count = sum(bool(case.point) for case in table.cases)
            out.print(f"    {', '.join(table.curves)} at {counted(count, 'point')}")
    out.print()
    for claim in study.claims:
        out.print(styled((claim.id, "bold"), f" ({claim.where})\n    {claim.text}"))
    out.print()
    for assumption in study.assumptions:
        out.print(_assumption(assumption))


def _grid(title: str, *left: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    for name in left:
        table.add_column(name)
    return table


def _figures(title: str, figures: list[Figure]) -> Table:
    columns = list(dict.fromkeys(name for figure in figures for name in figure.case))
    table = _grid(title, *(column.replace("_", " ") for column in columns), "metric")
    for name in ("published", "measured", "unit"):
        table.add_column(name, justify="left" if name == "unit" else "right")
    table.add_column("verdict")
    for figure in figures:
        mark, style = _MARKS[figure.verdict]
        table.add_row(
            *(figure.case.get(column, "") for column in columns),
            figure.metric.replace("_", " "),
            number(figure.published),
            interval(figure.measured, figure.ci95),
            figure.unit,
            styled((mark, style)),
            style="dim" if figure.verdict == "not-comparable" else None,
        )
    return table


def _curves(title: str, points: list[Point]) -> Table:
    """Return the points of one metric: the last parameter of the sweep as columns, and the others as rows."""
    *left, across = points[0].case
    heads = list(dict.fromkeys(point.case[across] for point in points))
    words = [name.replace("_", " ") for name in left]
    named = f"{points[0].metric.replace('_', ' ')}, {points[0].unit}, by {across.replace('_', ' ')}"
    table = _grid(f"{title}\n{named}", *words)
    for head in heads:
        table.add_column(head, justify="right")
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for point in points:
        key = tuple(point.case[name] for name in left)
        lines.setdefault(key, {})[point.case[across]] = number(point.measured, 3)
    for key, line in lines.items():
        table.add_row(*key, *(line[head] for head in heads))
    return table


def _print_errors(out: Console, report: Report) -> None:
    if not report.errors:
        return
    heads, lines = heads_and_lines([error.to_json() for error in report.errors])
    table = _grid("Errors: numbers of figures by their distance from the published value", heads[0])
    for head in heads[1:]:
        table.add_column(head, justify="right")
    for line in lines:
        table.add_row(*line, style="bold" if line[0] == ALL else None)
    out.print(table)


def _print_counts(out: Console, report: Report) -> None:
    counts = {answer: sum(figure.verdict == answer for figure in report.figures) for answer in _MARKS}
    agree, differ, others = (counts[answer] for answer in ("agrees", "differs", "not-comparable"))
    verdicts = f"{agreement(agree, differ)}, {others} not comparable"
    out.print(f"{counted(len(report.figures), 'figure')}: {verdicts}; seed {report.seed}")
    found = [claim.verdict for claim in report.claims.values()]
    summary = ", ".join(
        f"{found.count(answer)} {words}"
        for answer, words in (
            ("agrees", "met"),
            ("partly", "met in part"),
            ("differs", "not met"),
            ("not-comparable", "not judged"),
        )
        if answer in found
    )
    if summary:
        out.print(f"{counted(len(found), 'claim')}: {summary}")


def _print_claims(out: Console, report: Report) -> None:
    if not report.claims:
        return
    table = _grid("Claims", "claim", "verdict", "evidence")
    for id, verdict in report.claims.items():
        mark, style = _MARKS[verdict.verdict]
        table.add_row(id, styled((mark, style)), verdict.evidence)
    out.print(table)


def _print_assumptions(out: Console, report: Report) -> None:
    out.print(styled(("Assumptions", "bold"), " about values that the paper does not state:"))
    for assumption in report.study.assumptions:
        out.print(styled("  ") + _assumption(assumption))
        if not report.study.highlights:
            for value, trial in report.sensitivity(assumption):
                out.print(styled(f"    with {value}: ") + _moved(report, trial))
    out.print()
    if report.study.highlights and report.trials:
        out.print(_sensitivity(report))


def _assumption(assumption: Assumption) -> Text:
    note = f" ({assumption.sensitivity})" if assumption.sensitivity else ""
    return styled(f"{assumption.name} = ", (assumption.value, "bold"), f": {assumption.why}{note}")


def _sensitivity(report: Report) -> Table:
    """Return the study's highlights under other values of its assumptions, and the claims that change."""
    count = next(iter(report.trials.values())).replications
    table = _grid(f"With another value of one assumption ({count} replications)", "assumption", "instead")
    # Highlights of tables that were not run are omitted to save space.
    run = [place for place, value in enumerate(report.usual) if number(value) != NOTHING]
    for place in run:
        table.add_column(report.study.highlights[place].label, justify="right")
    table.add_column("claims that change")
    table.add_row("(none)", "", *(number(report.usual[place], 3) for place in run), "", style="bold")
    for moved in report.sensitivity_table():
        changed = [
            styled((f"{id.rpartition('.')[2]} {claim.verdict}", _MARKS[claim.verdict][1]))
            for id, claim in moved.claims.items()
        ]
        cells = (number(moved.measured[place], 3) for place in run)
        table.add_row(moved.assumption, moved.value, *cells, Text("\n").join(changed))
    return table


def _moved(report: Report, trial: Trial) -> Text:
    """Return the claims with another verdict and the figures that change most."""
    changed = [
        styled((f"{id} {verdict.verdict}", "bold red"))
        for id, verdict in trial.claims.items()
        if verdict.verdict not in ("not-comparable", report.claims[id].verdict)
    ]
    usual = {_name(figure): figure for figure in report.figures if figure.verdict != "not-comparable"}
    pairs = [(usual[_name(figure)], figure) for figure in trial.figures if _name(figure) in usual]
    pairs.sort(key=lambda pair: -abs(pair[1].measured - pair[0].measured))
    figures = [
        styled(
            f"table {figure.table} {' '.join(figure.case.values())}"
            f" {number(figure.measured)} → {number(other.measured)} {figure.unit}"
        )
        for figure, other in pairs[:_MOVED_MOST]
    ]
    return Text("; ").join([*changed, *figures] or [Text("nothing comparable")])


def _name(figure: Figure) -> tuple[str, ...]:
    return (figure.table, figure.metric, *figure.case.values())
