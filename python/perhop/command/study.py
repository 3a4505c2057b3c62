"""`perhop study`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

from perhop import study as studies
from perhop.command.options import Force, Json, Output, Quiet, Replications, Seed, Threads
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, print_written, progress_bar
from perhop.errors import Exit, InvalidInputError
from perhop.interrupts import deferred
from perhop.quantity import counted
from perhop.saving import check_target
from perhop.study import find, identifiers
from perhop.study.checking import require_functions
from perhop.study.report import Report

# The tables of a study, in its folder.
_TABLES = "tables.txt"
# The page about several studies, in the common folder.
_PAGE = "report.html"


def list_(*, json: Json = False) -> Exit:
    """List the studies."""
    studies = [find(id) for id in identifiers()]
    if json:
        found = [{"id": study.id, "title": study.title, "paper": study.paper} for study in studies]
        print_json({"schema_version": 1, "studies": found})
        return Exit.OK
    for study in studies:
        print(f"{study.id}: {study.title}\n    {study.paper}")
        tables = ", ".join(table.id for table in study.tables)
        print(f"    tables {tables}; {counted(len(study.claims), 'claim')}")
    return Exit.OK


def show(id: str, /) -> Exit:
    """Show the claims, assumptions and cases of a study. Its programs are not executed.

    Parameters
    ----------
    id
        A built-in study, or a folder with a study.toml.

    """
    from perhop.command.study_table import show_definition  # lazy: rich

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
    force: Force = False,
    tables: Annotated[bool | None, Parameter(negative="--no-tables")] = None,
    json: Annotated[
        Json,
        Parameter(help='Print one JSON document: the report, or {"studies": [reports]} for several studies.'),
    ] = False,
    quiet: Quiet = False,
) -> Exit:
    """Run studies and compare published with measured figures.

    Prints the tables of one study, or a line for each of several. Exits with code 4 if a claim is not met, or
    met only in part: some of its parts are met, others are not.

    Parameters
    ----------
    ids
        Built-in studies, or folders with a study.toml.
    all_
        Run every built-in study.
    only
        Only this table of the study. May be given several times.
    replications
        Number of replications. Default: the number in the study.
    sensitivity
        Also run the alternatives of every assumption.
    output
        Folder for the reports, with one folder for each study. For several studies, the folder also has
        report.html, a page about all of them.
    tables
        Print the tables. Default: only for a single study.

    """
    from perhop.command.study_summary import show_summary  # lazy: rich
    from perhop.command.study_table import show_report  # lazy: rich, which other commands do not need

    if all_ == bool(ids):
        raise InvalidInputError(
            "give ids of studies, or --all", f"studies: {', '.join(studies.identifiers())}"
        )
    chosen = [studies.find(id) for id in (studies.identifiers() if all_ else ids or [])]
    page = output / _PAGE if output is not None and len(chosen) > 1 else None
    if page is not None:
        from perhop.command.report import check_page  # lazy: jinja2

        check_page(page)
    is_alone = len(chosen) == 1
    shows_tables = is_alone if tables is None else tables
    for study in chosen:
        require_functions(study)
        if output is not None:
            check_target(output / study.id, "study", force=force)
    reports = []
    # A report is written during the simulation of the next study, because writing uses only one processor.
    # Signals wait while a thread starts or a report is written, because they would interrupt that work.
    with deferred() as signals, ThreadPoolExecutor(max_workers=1) as writer:
        written: list[Future[None]] = []
        for study in chosen:
            with signals.admitted(), progress_bar(study.id, quiet=quiet) as watch:
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
                written.append(writer.submit(_write, report, output / study.id, force=force, quiet=quiet))
            if shows_tables and not json and not quiet:
                with signals.admitted():
                    show_report(report)
            reports.append(report)
        for future in written:
            future.result()
    if page is not None:
        _write_page([page.parent / id for id in dict.fromkeys(study.id for study in chosen)], page)
    if json:
        documents = [report.to_json() for report in reports]
        several = {"schema_version": 1, "studies": documents}
        print_json(documents[0] if is_alone else several)
    elif not quiet and not (is_alone and shows_tables):
        folder = None if output is None else output / (chosen[0].id if is_alone else "STUDY")
        show_summary(reports, None if folder is None else folder / _TABLES, page)
    return Exit.OK if all(report.claims_met for report in reports) else Exit.NOT_MET


def _write(report: Report, folder: Path, *, force: bool, quiet: bool) -> None:
    from perhop.command.study_table import tables_text  # lazy: rich

    report.save(folder, force=force, texts={_TABLES: tables_text(report)})
    if not quiet:
        print_written(folder)


def _write_page(folders: Sequence[Path], page: Path) -> None:
    from perhop.report import write  # lazy: jinja2

    write(folders, page)
