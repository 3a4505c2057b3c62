"""Tuning: a search for parameters of a scenario that meet goals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from perhop.document import as_text
from perhop.engines import Embedded, Engine
from perhop.scenario import Scenario
from perhop.tuning import storing
from perhop.tuning.evaluating import Evaluator, Searched
from perhop.tuning.question import Question, question
from perhop.tuning.searching import Search
from perhop.tuning.space import Point, space
from perhop.tuning.starting import starts
from perhop.tuning.tuned import Tuning

__all__ = ["Question", "Searched", "Tuning", "answer", "question_of", "tune"]


def tune(
    scenario: str | PathLike[str] | Scenario,
    goals: Sequence[str],
    vary: Mapping[str, object],
    *,
    set: Mapping[str, object] | None = None,
    start: Mapping[str, object] | None = None,
    trials: int = 200,
    least: int = 2,
    replications: int = 10,
    seed: int | None = None,
    output: str | PathLike[str] | None = None,
    force: bool = False,
    engine: Engine | None = None,
    threads: int | None = None,
    progress: Callable[[Searched], None] | None = None,
) -> Tuning:
    """Find values of parameters that meet goals.

        perhop.tune("edge.perhop.yaml", ["voice.delay_p99 <= 20ms", "links.1.rate as small as possible"],
                    {"links.1.rate": "1Mb/s:4Mb/s:100kb/s"})

    Args:
        scenario: a scenario file, a router configuration, or a scenario.
        goals: conditions (`CLASS.METRIC <= VALUE`, `>=`, `= VALUE within WIDTH`) and objectives (`... as
            small as possible`, `large`), of metrics or of varied parameters; `CLASS.share of CLASS,CLASS` is
            the share in the throughput of these classes.
        vary: by path, or by the name of a placeholder, `low:high`, `low:high:step`, `log(low,high)`
            or a list.
        set: values by path that are the same in every trial, except for `{placeholder}` and
        `{2*placeholder}`.
        start: initial values, in addition to the scenario's values and the published formulas.
        trials: the maximum number of different points.
        least: the initial number of replications of each trial.
        replications: replications of the candidates for the answer.
        seed: seed of every trial and of the search; by default the scenario's own.
        output: a folder for the trials and the answer; the same question in it is continued.
        force: rename a folder with other content.
        engine: the engine, see `perhop.engines.named`; by default the threads of this process.
        threads: number of threads of the default engine; by default one for each processor.
        progress: called several times a second.

    Raises:
        ScenarioError: a path does not exist.
        InvalidInputError: a goal or a range is not valid, Optuna is not installed, or every trial failed.
        OSError: a result cannot be written; the same call continues from the written part.

    """
    loaded = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    question = question_of(
        loaded,
        goals,
        _varied(vary),
        _texts(set or {}),
        trials=trials,
        least=least,
        most=replications,
        seed=seed,
    )
    folder = None if output is None else Path(output)
    return answer(
        question,
        engine or Embedded(threads),
        folder,
        start=_texts(start or {}),
        force=force,
        progress=progress,
    )


def question_of(
    scenario: Scenario,
    goals: Sequence[str],
    vary: Mapping[str, str],
    fixed: Mapping[str, str],
    *,
    trials: int,
    least: int,
    most: int,
    seed: int | None,
) -> Question:
    """Return a question whose first point was loaded; `tune` describes arguments and errors."""
    found = question(
        scenario.embedded(), list(goals), space(vary, fixed), seed=seed, trials=trials, least=least, most=most
    )
    names = {parameter.name for parameter in found.space.parameters} - found.space.placeholders
    # Check that each path exists, with one value of its range. A trial with another value may still fail.
    for parameter in found.space.parameters:
        if parameter.name in names:
            scenario.changed({parameter.name: parameter.ends[-1]})
    return found


def answer(
    question: Question,
    engine: Engine,
    folder: Path | None = None,
    *,
    start: Point | None = None,
    force: bool = False,
    progress: Callable[[Searched], None] | None = None,
) -> Tuning:
    """Return the result of a search; with a folder, save and continue the search in the folder."""
    points = [point for point in (start, *starts(question)) if point]
    with engine.session() as running:
        if folder is None:
            return _found(question, Evaluator(question, running), points, progress)
        with storing.journal(folder, question, force=force) as kept:
            found = _found(question, Evaluator(question, running, kept, kept.known), points, progress)
            storing.complete(folder, found, kept)
            return found


def _found(
    question: Question,
    evaluator: Evaluator,
    points: Sequence[Point],
    progress: Callable[[Searched], None] | None,
) -> Tuning:
    search = Search(question, evaluator, points, progress)
    front = search.run()
    return Tuning(question, list(search.trials.values()), front, even=search.even, runs=evaluator.runs)


def _varied(values: Mapping[str, object]) -> dict[str, str]:
    """Return the varied parameters as texts; a list of values is one text, separated by commas."""
    return {
        name: ",".join(map(as_text, value))
        if isinstance(value, Sequence) and not isinstance(value, str)
        else as_text(value)
        for name, value in values.items()
    }


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {path: as_text(value) for path, value in values.items()}
