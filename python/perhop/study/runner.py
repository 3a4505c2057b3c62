"""Running a study: all cases and alternatives in parallel, then figures and claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perhop.batch import Job, simulate_all
from perhop.errors import InvalidInputError
from perhop.limits import processors
from perhop.results import Results
from perhop.running import Progress
from perhop.scenario import Scenario
from perhop.study.checking import require_functions
from perhop.study.definition import Alternative, Case, Claim, Published, Study, Table
from perhop.study.ellipses import Ellipse, ellipse
from perhop.study.findings import Trial
from perhop.study.outcome import Figure, Outcome, Point, Verdict, figure, not_comparable, point
from perhop.study.report import Report
from perhop.study.traces import Trace, trace


@dataclass(frozen=True)
class _Plan:
    """The cases of some tables under one set of assumptions, and their jobs."""

    tables: tuple[Table, ...]
    jobs: dict[str, Job]  # by case


def run(
    study: Study,
    *,
    only: Sequence[str] = (),
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    sensitivity: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Run a study, or its tables `only`; `sensitivity` includes the alternatives of assumptions.

    The figures depend only on the study, the seed and the number of replications.

    Raises:
        InvalidInputError: there is no such table, or a function of the study is missing.
        ScenarioError: the scenario of a case is not valid.

    """
    started = time.monotonic()
    require_functions(study)
    tables = _chosen(study, only)
    seed = study.seed if seed is None else seed
    replications = study.replications if replications is None else replications
    fewer = min(replications, study.sensitivity_replications)
    main = _plan(study, tables, seed, replications)
    trials = {
        (assumption.name, alternative.value): _plan(
            study, _touched(tables, alternative), seed, fewer, alternative
        )
        for assumption in study.assumptions
        for alternative in assumption.alternatives
        if sensitivity and _touched(tables, alternative)
    }
    plans = [main, *trials.values()]
    done = simulate_all(
        [job for plan in plans for job in plan.jobs.values()], threads or processors(), progress
    )
    figures, curves, verdicts = _judge(study, main, done)
    return Report(
        study=study,
        seed=seed,
        figures=figures,
        curves=curves,
        claims=verdicts,
        trials={name: Trial(fewer, *_judge(study, plan, done)) for name, plan in trials.items()},
        results={case: done[job.key] for case, job in main.jobs.items()},
        seconds=time.monotonic() - started,
        ellipses=_ellipses(study, main, done),
        traces=_traces(study, main, done),
    )


def _chosen(study: Study, only: Sequence[str]) -> tuple[Table, ...]:
    known = [table.id for table in study.tables]
    for id in only:
        if not any(table.named(id) for table in study.tables):
            raise InvalidInputError(f"`{study.id}` has no table `{id}`", f"tables: {', '.join(known)}")
    return tuple(table for table in study.tables if not only or any(table.named(id) for id in only))


def _touched(tables: tuple[Table, ...], alternative: Alternative) -> tuple[Table, ...]:
    return tuple(table for table in tables if table.id in alternative.tables)


def _plan(
    study: Study,
    tables: tuple[Table, ...],
    seed: int,
    replications: int,
    alternative: Alternative | None = None,
) -> _Plan:
    def job(table: Table, case: Case) -> Job:
        scenario = Scenario.load(case.scenario, study.changes(table, case, alternative))
        return Job(scenario, seed, replications)

    return _Plan(tables, {case.name: job(table, case) for table in tables for case in table.cases})


def _judge(
    study: Study, plan: _Plan, done: dict[str, Results]
) -> tuple[list[Figure], list[Point], dict[str, Verdict]]:
    results = {case: done[job.key] for case, job in plan.jobs.items()}
    figures = [
        _measure(study, published, results[case.name])
        for table in plan.tables
        for case in table.cases
        for published in study.figures_of(table, case)
    ]
    curves = [
        _point(study, table.id, metric, case.point, results[case.name])
        for table in plan.tables
        for metric in table.curves
        for case in table.cases
        if case.point
    ]
    outcome = Outcome(figures, curves, results)
    present = {table.id for table in plan.tables}
    return figures, curves, {claim.id: _verdict(study, claim, outcome, present) for claim in study.claims}


def _ellipses(study: Study, plan: _Plan, done: dict[str, Results]) -> list[Ellipse]:
    found = []
    for table in plan.tables:
        for name in table.ellipses:
            for case in (candidate for candidate in table.cases if candidate.point):
                samples = getattr(study.measures, name)(done[plan.jobs[case.name].key], case.point)
                found.append(ellipse(table.id, case.point, study.scatters[name], samples))
    return [candidate for candidate in found if candidate is not None]


def _traces(study: Study, plan: _Plan, done: dict[str, Results]) -> list[Trace]:
    found = []
    for table in plan.tables:
        for name in table.traces:
            for case in table.cases:
                values = case.point or case.rows or {}
                rows = getattr(study.measures, name)(done[plan.jobs[case.name].key], values)
                found.append(trace(table.id, values, study.courses[name], rows))
    return found


def _measure(study: Study, published: Published, results: Results) -> Figure:
    measure = getattr(study.measures, published.metric)
    samples = [float(sample) for sample in measure(results, published.case)]
    return figure(published, study.metrics[published.metric], samples)


def _point(study: Study, table: str, metric: str, case: dict[str, str], results: Results) -> Point:
    samples = [float(sample) for sample in getattr(study.measures, metric)(results, case)]
    return point(table, case, study.metrics[metric], samples)


def _verdict(study: Study, claim: Claim, outcome: Outcome, present: set[str]) -> Verdict:
    missing = [table for table in claim.tables if table not in present]
    if missing:
        return not_comparable(f"not run: {', '.join(missing)}")
    verdict: Verdict = getattr(study.judges, claim.function)(outcome)
    return verdict
