"""`perhop study live`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from perhop.command.compare_table import show
from perhop.command.comparing import compared_bar
from perhop.command.options import Force, Json, Output, Quiet, Replications, Seed, Threads
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, print_written
from perhop.compare import Comparison
from perhop.errors import Exit
from perhop.live import rights
from perhop.saving import check_target
from perhop.study import find
from perhop.study.live import live_cases, run_live


def live(
    id: str,
    /,
    *,
    only: Annotated[list[str] | None, Parameter(name="--only")] = None,
    replications: Replications = None,
    live_replications: Replications = None,
    seed: Seed = None,
    threads: Threads = None,
    output: Output = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Run shortened cases of a study live and compare each with its simulation.

    Exits with code 4 if a figure exceeds its tolerance or a live run is not trustworthy.

    Parameters
    ----------
    id
        A built-in study, or a folder with a study.toml and a live.toml.
    only
        Run only this case, or the cases that match a pattern such as '*wred'. May be given several times.
    replications
        Number of simulations of each case. Default: the number in the study.
    live_replications
        Number of live runs of each case. Default: 1.
    output
        Folder for the comparisons, with one folder for each case; `perhop report` reads it.

    """
    study = find(id)
    cases = live_cases(study, only or ())
    # The rights are obtained before any thread starts, because only a process with one thread can enter a
    # user namespace.
    rights.obtain()
    targets = [None if output is None else _folder(output, live_case.case.name) for live_case in cases]
    for wanted in filter(None, targets):
        check_target(wanted, "comparison", force=force)
    found: dict[str, Comparison] = {}
    for live_case, target in zip(cases, targets, strict=True):
        title = f"{study.id}: {live_case.case.name}"
        with compared_bar(title, quiet=quiet) as watched:
            comparison = run_live(
                study,
                live_case,
                seed=seed,
                replications=replications,
                live_replications=live_replications or 1,
                threads=threads,
                watched=watched,
            )
        found[live_case.case.name] = comparison
        if target is not None:
            comparison.save(target, force=force)
            if not quiet:
                print_written(target)
        if not json and not quiet:
            print(f"{title}: {live_case.why}")
            show(comparison)
    if json:
        cases_json = {name: comparison.to_json() for name, comparison in found.items()}
        document = {"schema_version": 1, "study": study.id, "cases": cases_json}
        print_json(document)
    return Exit.OK if all(compared.agrees for compared in found.values()) else Exit.NOT_MET


def _folder(output: Path, case: str) -> Path:
    return output / "".join(letter if letter.isalnum() else "-" for letter in case).strip("-")
