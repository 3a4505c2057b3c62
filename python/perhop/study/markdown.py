"""The report of a study as Markdown, which the READMEs of the studies quote."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain

from perhop.study.errors import heads_and_lines
from perhop.study.findings import Findings
from perhop.study.outcome import Figure, Judgment, Point

_MARKS: dict[Judgment, str] = {
    "agrees": "agrees",
    "partly": "**partly**",
    "differs": "**differs**",
    "not-comparable": "not comparable",
}


def as_markdown(report: Findings) -> str:
    """Return the figures, the claims and the sensitivity of a report."""
    parts = [f"# {report.study.id}: {report.study.title}", f"{report.study.paper}. Seed {report.seed}."]
    if report.figures:
        parts += ["## Published and measured", _tolerances(report), _figures(report.figures)]
        parts += ["## Errors", _errors(report)]
    if report.claims:
        parts += ["## Claims", _claims(report)]
    for table in report.study.tables:
        points = [point for point in report.curves if point.table == table.id]
        for metric in dict.fromkeys(point.metric for point in points):
            chosen = [point for point in points if point.metric == metric]
            parts += [f"## {table.heading}", f"{_words(metric)}, {chosen[0].unit}.", _curves(chosen)]
    if report.trials:
        parts += ["## Sensitivity", _sensitivity(report)]
    return "\n\n".join(parts) + "\n"


def tolerances(report: Findings) -> dict[str, str]:
    """Return the tolerance of each metric as text."""
    found = {}
    units = {figure.metric: figure.unit for figure in report.figures}
    for name, metric in report.study.metrics.items():
        if metric.unit is not None:
            continue
        near = []
        if metric.factor is not None:
            near.append(f"within a factor of {metric.factor:g}")
        if metric.relative is not None:
            near.append(f"within {100 * metric.relative:g} %")
        if metric.absolute is not None:
            unit = units.get(name, "")
            # Differences of percentages are in percentage points.
            unit = {"%": "percentage point"}.get(unit, unit)
            near.append(f"within {metric.absolute:g} {unit}".rstrip())
        judged = f"agrees {' or '.join(near)}" if near else f"not comparable: {metric.incomparable}"
        found[_words(name)] = judged
    return found


def _tolerances(report: Findings) -> str:
    return "\n".join(f"- {name}: {judged}." for name, judged in tolerances(report).items())


def _figures(figures: list[Figure]) -> str:
    columns = list(dict.fromkeys(name for figure in figures for name in figure.case))
    head = ["table", *map(_words, columns), "metric", "published", "measured", "unit", "verdict"]
    rows = [
        [
            figure.table,
            *(figure.case.get(column, "") for column in columns),
            _words(figure.metric),
            _number(figure.published),
            _interval(figure),
            figure.unit,
            _MARKS[figure.verdict],
        ]
        for figure in figures
    ]
    right = {len(columns) + 2, len(columns) + 3}
    return _table(head, rows, right)


def _errors(report: Findings) -> str:
    heads, lines = heads_and_lines([row.to_json() for row in report.errors])
    return _table(heads, lines, set(range(1, len(heads))))


def _curves(points: list[Point]) -> str:
    """Return a table whose columns are the values of the sweep's last column."""
    *left, across = points[0].case
    head = list(dict.fromkeys(point.case[across] for point in points))
    lines: dict[tuple[str, ...], dict[str, Point]] = {}
    for point in points:
        lines.setdefault(tuple(point.case[name] for name in left), {})[point.case[across]] = point
    if not left:
        rows = [[point.case[across], _interval(point)] for point in points]
        return _table([_words(across), "measured"], rows, {1})
    rows = [[*key, *(_number(line[column].measured) for column in head)] for key, line in lines.items()]
    titles = [*map(_words, left[:-1]), f"{_words(left[-1])} \\ {_words(across)}"]
    return _table([*titles, *head], rows, set(range(len(left), len(left) + len(head))))


def _claims(report: Findings) -> str:
    rows = [[f"`{id}`", _MARKS[verdict.verdict], verdict.evidence] for id, verdict in report.claims.items()]
    return _table(["claim", "verdict", "evidence"], rows, set())


def _sensitivity(report: Findings) -> str:
    highlights = report.study.highlights
    head = ["assumption", "instead", *(highlight.label for highlight in highlights), "claims that change"]
    published = [
        next(
            (row.value for row in report.study.published if highlight.shows(row.table, row.metric, row.case)),
            None,
        )
        for highlight in highlights
    ]
    rows = [["the study's own", "", *map(_number, report.usual), ""]]
    if any(value is not None for value in published):
        rows.insert(0, ["published", "", *map(_number, published), ""])
    for moved in report.sensitivity_table():
        changed = "; ".join(
            f"{id.rpartition('.')[2]} {verdict.verdict}" for id, verdict in moved.claims.items()
        )
        rows.append([moved.assumption, moved.value, *map(_number, moved.measured), changed])
    count = next(iter(report.trials.values())).replications
    right = set(range(2, 2 + len(highlights)))
    measured: list[Figure | Point] = [*report.figures, *report.curves]
    paragraphs = [
        f"Mean of {count} replications, the study's own set of {figure.replications}."
        for figure in measured[:1]
    ]
    return "\n\n".join([*paragraphs, _table(head, rows, right)])


def _table(head: list[str], rows: Iterable[list[str]], right: set[int]) -> str:
    rule = ["--:" if column in right else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(line)} |" for line in chain([head, rule], rows))


def _interval(figure: Figure | Point) -> str:
    text = _number(figure.measured)
    if figure.ci95 is None:
        return text
    return f"{text} ± {_number((figure.ci95[1] - figure.ci95[0]) / 2)}"


def _number(value: float | None) -> str:
    """Return a figure as text: no decimals if large, two digits if small, otherwise two decimals."""
    if value is None or math.isnan(value):
        return ""
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def _words(name: str) -> str:
    return name.replace("_", " ")
