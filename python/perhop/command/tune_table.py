"""The answer of a tuning on a terminal."""

from __future__ import annotations

from perhop.command.columns import Column, show
from perhop.quantity import number
from perhop.tuning import Tuning

# The maximum number of shown trials of the front; the folder has all of them.
_MOST = 12


def show_tuning(found: Tuning, file: str) -> None:
    """Print the chosen values and their results, the front, the sensitivities, and the next steps."""
    best = found.best
    goals = found.goals_of(best)
    chosen = ", ".join(f"{name} = {text}" for name, text in best.point.items())
    state = "meets the goals" if found.met else "comes nearest, but does not meet every condition"
    print(f"trial {best.number} {state}: {chosen}")
    keys = [Column("goal", [goal[0] for goal in goals], numeric=False)]
    shown = [Column("mean ± 95 %", [goal[1] for goal in goals]), Column("met", [goal[2] for goal in goals])]
    show(f"{found.caption()}; {best.replications} replications of this one", keys, shown)
    if len(found.question.objectives) > 1:
        _show_front(found)
    _show_sensitivity(found)
    for router, lines in found.ios.items():
        print(f"to paste into {router}:")
        print("\n".join(f"  {line}" for line in lines))
    print(f"to repeat it:\n  {found.command(file)}")


def _show_front(found: Tuning) -> None:
    trials = found.front_trials[:_MOST]
    outcomes = [found.goals_of(trial) for trial in trials]
    keys = [Column("trial", [str(trial.number) for trial in trials])]
    names = found.question.space.parameters
    keys += [Column(parameter.name, [trial.point[parameter.name] for trial in trials]) for parameter in names]
    columns = [
        Column(goal.text, [row[at][1] for row in outcomes]) for at, goal in enumerate(found.question.goals)
    ]
    more = len(found.front_trials) - len(trials)
    title = "trials that no other trial beats in every goal" + (f", and {more} more" if more else "")
    show(title, keys, columns)


def _show_sensitivity(found: Tuning) -> None:
    frame = found.sensitivity
    if frame["share"].drop_nulls().is_empty():
        return
    goals = frame["goal"].unique(maintain_order=True).to_list()
    names = [parameter.name for parameter in found.question.space.parameters]
    shares = {(goal, name): share for goal, name, share in frame.iter_rows()}
    columns = [
        Column(
            name,
            [
                "-" if shares[goal, name] is None else f"{number(round(100 * shares[goal, name]))} %"
                for goal in goals
            ],
        )
        for name in names
    ]
    title = "part of each goal's variance that a parameter alone explains"
    show(title, [Column("goal", goals, numeric=False)], columns)
