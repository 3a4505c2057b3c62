"""`perhop study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from perhop.command.options import Json, Output, Quiet, Replications, Seed, Threads
from perhop.command.terminal import print_json, progress_bar, say_written
from perhop.errors import Exit, InvalidInputError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from perhop.study.report import Report


def list_(*, json: Json = False) -> Exit:
    """List the studies.

    Parameters
    ----------
    json
        Print one JSON document.

    """
    from perhop.study import find, identifiers

    studies = [find(id) for id in identifiers()]
    if json:
        found = [{"id": study.id, "title": study.title, "paper": study.paper} for study in studies]
        print_json({"schema_version": 1, "studies": found})
        return Exit.OK
    for study in studies:
        print(f"{study.id}: {study.title}\n    {study.paper}")
        print(f"    tables {', '.join(table.id for table in study.tables)}; {len(study.claims)} claims")
    return Exit.OK


def show(id: str, /) -> Exit:
    """Show what a study claims, assumes and runs.

    Parameters
    ----------
    id
        A study that comes with perhop, or a folder with a study.toml.

    """
    from perhop.command.study_table import show_definition
    from perhop.study import find

    show_definition(find(id))
    return Exit.OK


def run(
    ids: Annotated[list[str] | None, Parameter(name="id")] = None,
    /,
    *,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    only: Annotated[list[str] | None, Parameter(name="--only")] = None,
    replications: Replications = None,
    seed: Seed = None,
    threads: Threads = None,
    sensitivity: Annotated[bool, Parameter(negative="--no-sensitivity")] = True,
    output: Output = None,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Run studies: published beside measured. Ends with exit code 4 if a claim of the paper is not met.

    Parameters
    ----------
    ids
        Studies that come with perhop, or folders with a study.toml.
    all_
        Every study that comes with perhop.
    only
        A table of the study; may be given several times.
    replications
        By default as many as the study says.
    seed
        By default the study's own.
    threads
        How many experiments run at the same time; the results do not depend on it.
    sensitivity
        Try the alternatives of every assumption too.
    output
        Folder for the reports, one folder in it for each study.
    json
        Print one JSON document: the report, or {"studies": [reports]} for several studies.
    quiet
        Show neither progress nor tables.

    """
    from concurrent.futures import ThreadPoolExecutor

    from perhop import study as studies
    from perhop.command.study_table import show_report
    from perhop.saving import check_target

    if all_ == bool(ids):
        raise InvalidInputError(
            "which study? give ids, or --all", f"there are: {', '.join(studies.identifiers())}"
        )
    chosen = [studies.find(id) for id in (studies.identifiers() if all_ else ids or [])]
    if output is not None:
        for study in chosen:
            check_target(output / study.id)
    reports = []
    # A report is written while the next study is simulated: writing keeps one processor busy, not all.
    with ThreadPoolExecutor(max_workers=1) as writer:
        written: list[Future[None]] = []
        for study in chosen:
            with progress_bar(study.id, quiet=quiet) as watch:
                report = studies.run(
                    study,
                    only=only or (),
                    seed=seed,
                    replications=replications,
                    threads=threads,
                    sensitivity=sensitivity,
                    progress=watch,
                )
            if output is not None:
                written.append(writer.submit(_write, report, output / study.id, quiet=quiet))
            if not json and not quiet:
                show_report(report)
            reports.append(report)
        for one in written:
            one.result()
    if json:
        documents = [report.to_json() for report in reports]
        several = {"schema_version": 1, "studies": documents}
        print_json(documents[0] if len(documents) == 1 else several)
    return Exit.OK if all(report.claims_met for report in reports) else Exit.CLAIMS_NOT_MET


def _write(report: Report, folder: Path, *, quiet: bool) -> None:
    report.save(folder)
    if not quiet:
        say_written(folder)
