"""The report of a study: JSON, Markdown and the results of every case."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from shutil import copytree
from typing import Any

import polars as pl

from perhop import disk, manifest
from perhop.configuration import FILE, kept
from perhop.frames import as_parquet
from perhop.manifest import json_text
from perhop.saving import whole_folder
from perhop.study.definition import Assumption, Claim
from perhop.study.findings import Findings
from perhop.study.markdown import as_markdown, tolerances
from perhop.study.outcome import Figure, Point, Verdict
from perhop.study.tables import claim_table, error_table, figure_table
from perhop.tables import notebook


class Report(Findings):
    """The findings of a study as a report: JSON, Markdown, files."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as one JSON object."""
        return self._reproducible() | {"seconds": round(self.seconds, 3)}

    def save(self, folder: Path, *, force: bool = False, texts: Mapping[str, str] | None = None) -> None:
        """Write study.json, report.md, figures, curves and the results of every case into a folder.

        `texts` are further text files, by name. Apart from the duration, equal studies and seeds give equal
        bytes. With `force`, a folder with other content is renamed.

        Raises:
            InvalidInputError: the folder cannot be used, or has other content.
            OSError: a file cannot be written.

        """
        with whole_folder(folder, "study", force=force) as new:
            disk.write(new / "study.json", json_text(self._reproducible()))
            for name, text in {"report.md": as_markdown(self), **(texts or {})}.items():
                disk.write(new / name, text)
            for name, rows in (("figures", self.figures), ("curves", self.curves)):
                if rows:
                    table = pl.DataFrame([_row(row) for row in rows], infer_schema_length=None)
                    disk.write(new / f"{name}.parquet", as_parquet(table))
            self._save_cases(new)
            routers = kept(sorted(self.study.folder.glob("*.cfg")))
            if routers is not None:
                disk.write(new / FILE, routers)
            story = self.study.folder / "README.md"
            if story.is_file():
                disk.write(new / story.name, story.read_text(encoding="utf-8"))
            manifest.seal(new, "study", {"study": self.study.id, "seed": self.seed})

    def _save_cases(self, folder: Path) -> None:
        """Write the results of every case; equal experiments have copies of the files."""
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
        """The folder of each case's results, within the report's folder."""
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
            "highlights": [highlight.label for highlight in self.study.highlights],
            "published": [
                next(
                    (row.value for row in published if highlight.shows(row.table, row.metric, row.case)), None
                )
                for highlight in self.study.highlights
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
        """Show published and measured figures and the judged claims in a notebook."""
        tables = []
        if self.figures:
            rows = [figure.to_json() for figure in self.figures]
            tables.append(figure_table(rows, f"{self.study.id}: {self.study.title}, seed {self.seed}"))
            tables.append(error_table([row.to_json() for row in self.errors]))
        run = {figure.table for figure in self.figures} | {point.table for point in self.curves}
        judged = {claim.id for claim in self.study.claims if set(claim.tables) <= run}
        claims = [claim for claim in self._reproducible()["claims"] if claim["id"] in judged]
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
            "errors": [row.to_json() for row in self.errors],
            "curves": [point.to_json() for point in self.curves],
            **({"ellipses": [ellipse.to_json() for ellipse in self.ellipses]} if self.ellipses else {}),
            **({"traces": [trace.to_json() for trace in self.traces]} if self.traces else {}),
            "claims": [
                judged | {"where": claim.where, "text": claim.text}
                for judged, claim in zip(_claims(self.claims), self._claimed(), strict=True)
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


def _present(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _claims(claims: dict[str, Verdict]) -> list[dict[str, Any]]:
    return [{"id": id, **verdict.to_json()} for id, verdict in claims.items()]


def _row(figure: Figure | Point) -> dict[str, Any]:
    low, high = figure.ci95 or (None, None)
    row: dict[str, Any] = {"table": figure.table, **figure.case, "metric": figure.metric, "unit": figure.unit}
    if isinstance(figure, Figure):
        row["published"] = figure.published
    row |= {
        "measured": figure.measured,
        "ci95_low": low,
        "ci95_high": high,
        "replications": figure.replications,
    }
    return row | {"verdict": figure.verdict} if isinstance(figure, Figure) else row
