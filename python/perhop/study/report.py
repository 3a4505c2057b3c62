"""The report of a study, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

from perhop import _core
from perhop.configuration import FILE, kept
from perhop.results import Results
from perhop.saving import MANIFEST, json_text, whole_folder, write_parquet
from perhop.study.definition import Assumption, Claim, Highlight, Study
from perhop.study.markdown import as_markdown, tolerances
from perhop.study.outcome import Figure, Point, Verdict


@dataclass(frozen=True)
class Trial:
    """The study once more with another value of one assumption."""

    replications: int
    figures: list[Figure]
    curves: list[Point]
    claims: dict[str, Verdict]


@dataclass(frozen=True)
class Moved:
    """A line of the sensitivity table."""

    assumption: str
    value: str
    #: The study's highlights; `None` where their table was not run.
    measured: list[float | None]
    #: The claims that get another verdict.
    claims: dict[str, Verdict]


@dataclass(frozen=True, repr=False)
class Report:
    """What running a study found."""

    study: Study
    seed: int
    figures: list[Figure]
    #: What the paper draws and prints no numbers of.
    curves: list[Point]
    #: By claim id.
    claims: dict[str, Verdict]
    #: By name of the assumption and value tried.
    trials: dict[tuple[str, str], Trial]
    #: By name of the case.
    results: dict[str, Results]
    #: How long it took.
    seconds: float

    def __repr__(self) -> str:
        """Say what was run: the figures would fill the screen."""
        return f"<perhop.study.Report of {self.study.id}: {len(self.figures)} figures, seed {self.seed}>"

    @property
    def claims_met(self) -> bool:
        """Whether no claim differs."""
        return all(verdict.verdict != "differs" for verdict in self.claims.values())

    def sensitivity(self, assumption: Assumption) -> list[tuple[str, Trial]]:
        """Return what was tried in place of an assumption, by value."""
        values = [alternative.value for alternative in assumption.alternatives]
        return [
            (value, self.trials[assumption.name, value])
            for value in values
            if (assumption.name, value) in self.trials
        ]

    @property
    def usual(self) -> list[float | None]:
        """The study's highlights under its own assumptions."""
        return [_highlighted(highlight, self.figures, self.curves) for highlight in self.study.highlights]

    def sensitivity_table(self) -> list[Moved]:
        """Return how highlights and claims move, one line for each value tried."""
        return [
            Moved(
                assumption.name,
                value,
                [_highlighted(highlight, trial.figures, trial.curves) for highlight in self.study.highlights],
                {
                    id: verdict
                    for id, verdict in trial.claims.items()
                    if verdict.verdict not in ("not-comparable", self.claims[id].verdict)
                },
            )
            for assumption in self.study.assumptions
            for value, trial in self.sensitivity(assumption)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the report as one JSON object."""
        return self._reproducible() | {"seconds": round(self.seconds, 3)}

    def save(self, folder: Path) -> None:
        """Write study.json, report.md, figures, curves and the results of every case into a folder.

        How long it took is left out: the same study and seed give the same bytes.
        """
        import polars as pl

        with whole_folder(folder) as new:
            _write(new / "study.json", self._reproducible())
            (new / "report.md").write_text(as_markdown(self), encoding="utf-8")
            for name, rows in (("figures", self.figures), ("curves", self.curves)):
                if rows:
                    table = pl.DataFrame([_row(one) for one in rows], infer_schema_length=None)
                    write_parquet(table, new / f"{name}.parquet")
            self._save_cases(new)
            routers = kept(sorted(self.study.folder.glob("*.cfg")))
            if routers is not None:
                (new / FILE).write_text(routers, encoding="utf-8")
            story = self.study.folder / "README.md"
            if story.is_file():
                (new / story.name).write_text(story.read_text(encoding="utf-8"), encoding="utf-8")
            _write(
                new / MANIFEST,
                {"schema_version": 1, "perhop": _core.__version__, "study": self.study.id, "seed": self.seed},
            )

    def _save_cases(self, folder: Path) -> None:
        """Write the results of every case; cases that are the same experiment have the same files."""
        written: dict[int, Path] = {}
        folders = self._folders
        for case, results in self.results.items():
            place = folder / folders[case]
            if id(results) in written:
                copytree(written[id(results)], place)
                continue
            place.mkdir(parents=True)
            results.write_into(place)
            written[id(results)] = place

    @property
    def _folders(self) -> dict[str, str]:
        """Where each case's results are, within the folder of the report."""
        return {
            case: f"cases/{number:02} {case.replace('/', '-')}" for number, case in enumerate(self.results)
        }

    def _tables(self) -> list[dict[str, Any]]:
        folders = self._folders
        return [
            {
                "id": table.id,
                "heading": table.heading,
                "cases": [
                    {"name": case.name, "folder": folders[case.name]}
                    for case in table.cases
                    if case.name in folders
                ],
            }
            for table in self.study.tables
        ]

    def _sensitivity(self) -> dict[str, Any]:
        published = self.study.published
        return {
            "highlights": [one.label for one in self.study.highlights],
            "published": [
                next((row.value for row in published if one.shows(row.table, row.metric, row.case)), None)
                for one in self.study.highlights
            ],
            "own": [_present(value) for value in self.usual],
            "rows": [
                {
                    "assumption": moved.assumption,
                    "value": moved.value,
                    "measured": [_present(value) for value in moved.measured],
                    "claims": {id: verdict.verdict for id, verdict in moved.claims.items()},
                }
                for moved in self.sensitivity_table()
            ],
        }

    def _repr_html_(self) -> str:
        """Show the figures in a notebook, published beside measured, and the claims about what was run."""
        from perhop.page.tables import notebook
        from perhop.report.study import claim_table, figure_table

        tables = []
        if self.figures:
            rows = [one.to_json() for one in self.figures]
            tables.append(figure_table(rows, f"{self.study.id}: {self.study.title}, seed {self.seed}"))
        run = {figure.table for figure in self.figures} | {point.table for point in self.curves}
        judged = {claim.id for claim in self.study.claims if set(claim.tables) <= run}
        claims = [one for one in self._reproducible()["claims"] if one["id"] in judged]
        if claims:
            tables.append(claim_table(claims))
        return "".join(map(notebook, tables))

    def _reproducible(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "study": self.study.id,
            "title": self.study.title,
            "paper": self.study.paper,
            "seed": self.seed,
            "figures": [figure.to_json() for figure in self.figures],
            "curves": [point.to_json() for point in self.curves],
            "claims": [
                one | {"where": claim.where, "text": claim.text}
                for one, claim in zip(_claims(self.claims), self._claimed(), strict=True)
            ],
            "tables": self._tables(),
            "metrics": tolerances(self),
            "sensitivity": self._sensitivity(),
            "assumptions": [self._assumption(assumption) for assumption in self.study.assumptions],
        }

    def _claimed(self) -> list[Claim]:
        by_id = {claim.id: claim for claim in self.study.claims}
        return [by_id[id] for id in self.claims]

    def _assumption(self, assumption: Assumption) -> dict[str, Any]:
        tried = [
            {
                "value": value,
                "figures": [figure.to_json() for figure in trial.figures],
                "curves": [point.to_json() for point in trial.curves],
                "claims": _claims(trial.claims),
            }
            for value, trial in self.sensitivity(assumption)
        ]
        return {
            "name": assumption.name,
            "value": assumption.value,
            "why": assumption.why,
            "sensitivity": tried or assumption.sensitivity,
        }


def _highlighted(highlight: Highlight, figures: list[Figure], curves: list[Point]) -> float | None:
    measured: list[Figure | Point] = [*figures, *curves]
    for one in measured:
        if highlight.shows(one.table, one.metric, one.case):
            return one.measured
    return None


def _present(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _claims(claims: dict[str, Verdict]) -> list[dict[str, str]]:
    return [{"id": id, "verdict": one.verdict, "evidence": one.evidence} for id, one in claims.items()]


def _row(one: Figure | Point) -> dict[str, Any]:
    low, high = one.ci95 or (None, None)
    row: dict[str, Any] = {"table": one.table, **one.case, "metric": one.metric, "unit": one.unit}
    if isinstance(one, Figure):
        row["published"] = one.published
    row |= {"measured": one.measured, "ci95_low": low, "ci95_high": high, "replications": one.replications}
    return row | {"verdict": one.verdict} if isinstance(one, Figure) else row


def _write(file: Path, value: object) -> None:
    file.write_text(json_text(value), encoding="utf-8")
