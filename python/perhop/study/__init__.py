"""Published studies: reproduced, with published and measured figures compared.

A study is a folder. `docs/studies.md` describes its files; in short:

    study.toml       title, paper, metrics with their tolerances, tables and their cases, assumptions
    scenario*.yaml   what the cases run
    reference/*.csv  the published figures: table, metric, value, unit, and columns that identify the case
    measures.py      one function per metric: from results and case to one sample per replication
    claims.toml      the claims of the paper: id, where, text
    claims.py        one function per claim: from outcome to verdict
"""

from perhop.study.definition import Study
from perhop.study.outcome import Figure, Outcome, Point, Verdict, agrees_if, judged, not_comparable
from perhop.study.reading import find, identifiers
from perhop.study.runner import run

__all__ = [
    "Figure",
    "Outcome",
    "Point",
    "Study",
    "Verdict",
    "agrees_if",
    "find",
    "identifiers",
    "judged",
    "not_comparable",
    "run",
]
