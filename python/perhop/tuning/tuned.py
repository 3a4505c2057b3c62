"""`Tuning`, the result of a search: the best trials, the front, the sensitivities, and the lines to paste."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import yaml

from perhop.frames import TableFrame
from perhop.quantity import counted
from perhop.scenario import Scenario
from perhop.tuning.judging import Judge, Trial
from perhop.tuning.question import Question
from perhop.tuning.sensitivity import shares_of_variance

_COMMANDS = ".configuration.add"


class Tuning:
    """The answer to a question, with every trial."""

    def __init__(
        self, question: Question, trials: Sequence[Trial], front: Sequence[Trial], *, even: int, runs: int
    ) -> None:
        """Create the result from all trials, the best trials, and the number of evenly drawn first trials."""
        self.question = question
        self._judge = Judge(question)
        self._trials, self._front, self._even = trials, front, even
        #: The trial that was chosen.
        self.best = self._judge.chosen(front) if question.objectives else front[0]
        #: The total number of simulated replications.
        self.runs = runs

    def __repr__(self) -> str:
        """Return the scenario, the numbers of trials and runs, and whether the goals are met."""
        words = "met" if self.met else "not met"
        return f"<perhop.Tuning of {self.question.scenario['name']!r}: {self.caption()}, goals {words}>"

    @property
    def met(self) -> bool:
        """Whether the chosen trial meets every condition, by the mean of its replications."""
        return self._judge.meets(self.best)

    @property
    def parameters(self) -> dict[str, str]:
        """The chosen values."""
        return dict(self.best.point)

    @property
    def changes(self) -> dict[str, str]:
        """The changes of the chosen trial, by path, in the syntax of `perhop run --set`."""
        return self.question.space.changes(self.best.point)

    @property
    def scenario(self) -> Scenario:
        """The scenario with the chosen values, seed and replications; its `run` repeats the results."""
        document = self.question.scenario
        changes = self.question.changes(self.best.point, self.best.replications)
        return Scenario(dict(document), document.base).changed(changes)

    @property
    def ios(self) -> dict[str, list[str]]:
        """The lines of IOS to paste, by router; empty if no commands are varied."""
        found = {}
        for path, text in self.changes.items():
            if path.endswith(_COMMANDS):
                lines = yaml.safe_load(text)
                router = path.removesuffix(_COMMANDS).removeprefix("routers.")
                found[router] = [str(line) for line in (lines if isinstance(lines, list) else [lines])]
        return found

    @property
    def trials(self) -> pl.DataFrame:
        """Every trial in tidy form, a row for each goal.

        Columns: `trial`, the parameters (numbers in base units), `goal`, `unit`, `mean`, `low` and `high`
        (the 95 % confidence interval), `met` (null for objectives), `replications`, `best` (whether the
        trial is on the front) and `error`.
        """
        front = {trial.number for trial in self._front}
        rows = [row for trial in self._trials for row in self._rows(trial, trial.number in front)]
        return TableFrame(rows, infer_schema_length=None)

    @property
    def front(self) -> pl.DataFrame:
        """The trials that no other trial beats in all objectives; without objectives, the nearest trials."""
        return TableFrame(self.trials.filter(pl.col("best")))

    @property
    def sensitivity(self) -> pl.DataFrame:
        """The fraction of a goal's variance that each parameter alone explains, over the evenly drawn points.

        Columns: `goal`, `parameter` and `share`, from 0 to 1 (the correlation ratio minus its expected value
        by chance); null if too few points were drawn.
        """
        rows = []
        even = [trial for trial in self._trials[: self._even] if self._judge.is_measured(trial)]
        for goal in self.question.goals:
            if goal.parameter is not None:
                continue
            values = [self._judge.mean(trial, goal) or 0.0 for trial in even]
            for parameter in self.question.space.parameters:
                places = [parameter.place(trial.point[parameter.name]) or 0.0 for trial in even]
                share = shares_of_variance(places, values, ordered=parameter.is_ordered)
                rows.append({"goal": goal.text, "parameter": parameter.name, "share": share})
        schema = {"goal": pl.String, "parameter": pl.String, "share": pl.Float64}
        return TableFrame(rows, schema=schema)

    def command(self, file: str) -> str:
        """Return the command that repeats the chosen trial, given the scenario's file."""
        sets = [part for path, text in self.changes.items() for part in ("--set", f"{path}={text}")]
        numbers = ["--seed", str(self.question.seed), "--replications", str(self.best.replications)]
        return " ".join(map(shlex.quote, ["perhop", "run", file, *sets, *numbers]))

    def caption(self) -> str:
        """Return the numbers of trials and replications as text."""
        failed = sum(trial.error is not None for trial in self._trials)
        words = (
            f"{counted(len(self._trials), 'trial')}, {counted(self.runs, 'run')}, seed {self.question.seed}"
        )
        return f"{words}, {failed} failed" if failed else words

    def to_json(self) -> dict[str, Any]:
        """Return the answer as one JSON object; intervals have 95 % confidence."""
        return {
            "scenario": self.question.scenario["name"],
            "seed": self.question.seed,
            "met": self.met,
            "best": self._trial_row(self.best),
            "front": [self._trial_row(trial) for trial in self._front],
            "set": self.changes,
            "ios": self.ios,
            "sensitivity": self.sensitivity.to_dicts(),
            "units": self.question.space.units,
            "trials": len(self._trials),
            "failed": sum(trial.error is not None for trial in self._trials),
            "runs": self.runs,
        }

    def goals_of(self, trial: Trial) -> list[tuple[str, str, str]]:
        """Return each goal of a trial as text: the goal, its value, and whether it is met."""
        found = []
        for goal in self.question.goals:
            mean = self._judge.mean(trial, goal)
            value = goal.shown(mean, self._judge.interval(trial, goal))
            met = "" if goal.is_objective or mean is None else "yes" if goal.miss(mean) <= 0 else "no"
            found.append((goal.text, value, met))
        return found

    @property
    def front_trials(self) -> Sequence[Trial]:
        """The trials of the front."""
        return self._front

    def _trial_row(self, trial: Trial) -> dict[str, Any]:
        rows = self._rows(trial, True)
        goals = [
            {
                "goal": row["goal"],
                "mean": row["mean"],
                "ci95": None if row["low"] is None else [row["low"], row["high"]],
                "unit": row["unit"],
                "met": row["met"],
            }
            for row in rows
        ]
        return {
            "trial": trial.number,
            "parameters": dict(trial.point),
            "replications": trial.replications,
            "goals": goals,
        }

    def _rows(self, trial: Trial, best: bool) -> list[Mapping[str, Any]]:
        values = {
            parameter.name: parameter.number(trial.point[parameter.name])
            if parameter.is_ordered
            else trial.point[parameter.name]
            for parameter in self.question.space.parameters
        }
        rows: list[Mapping[str, Any]] = []
        for goal in self.question.goals:
            mean, half = self._judge.mean(trial, goal), self._judge.interval(trial, goal)
            ends = (None, None) if mean is None or half is None else (mean - half, mean + half)
            rows.append(
                {
                    "trial": trial.number,
                    **values,
                    "goal": goal.text,
                    "unit": goal.unit,
                    "mean": mean,
                    "low": ends[0],
                    "high": ends[1],
                    "met": None if goal.is_objective or mean is None else goal.miss(mean) <= 0,
                    "replications": trial.replications,
                    "best": best,
                    "error": trial.error,
                }
            )
        return rows
