"""The folder of a tuning: the question, a journal that grows, and in the end the answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perhop import _core, disk, manifest
from perhop.errors import InvalidInputError
from perhop.frames import as_parquet
from perhop.interrupts import written
from perhop.loading import is_file
from perhop.locking import locked, reserve
from perhop.manifest import MANIFEST, json_text
from perhop.saving import check_target, replace_file, whole_folder
from perhop.tuning.evaluating import JOURNAL, StoredJournal
from perhop.tuning.question import Question
from perhop.tuning.tuned import Tuning


def check_folder(target: Path, question: Question, *, force: bool = False) -> None:
    """Refuse a folder that cannot be used, before the search starts, and keep other writers from it.

    Raises:
        InvalidInputError: the folder cannot be used.

    """
    if is_continued(target, question, force=force):
        reserve(target.resolve())
    else:
        check_target(target, force=force)


def is_continued(target: Path, question: Question, *, force: bool = False) -> bool:
    """Return whether a folder holds this very question, answered or not.

    Raises:
        InvalidInputError: it holds other results, and `force` is not given.

    """
    if not is_file(target / MANIFEST):
        return False
    found = manifest.read(target)
    texts = question.texts()
    same = all(is_file(target / name) and (target / name).read_text() == text for name, text in texts.items())
    if same and found["perhop"] == _core.__version__:
        return True
    if not force:
        raise InvalidInputError(
            f"`{target}` holds {'another tuning' if found['kind'] == 'tuning' else 'other results'}",
            "choose another folder, or move it aside with --force",
        )
    return False


@contextmanager
def journal(target: Path, question: Question, *, force: bool = False) -> Iterator[StoredJournal]:
    """Begin the folder of a question, or continue the one that is there; other writers are kept away.

    Raises:
        InvalidInputError: the folder holds something else, is being written, or cannot be used.
        OSError: a file cannot be written.

    """
    if not is_continued(target, question, force=force):
        with whole_folder(target, force=force, aside=True) as new:
            for name, text in question.texts().items():
                disk.write(new / name, text)
            disk.make_folder(new / JOURNAL)
            manifest.seal(new, "tuning", {"seed": question.seed, "complete": False})
        written.pop()
    with locked(target.resolve()):
        written.append(f"`{target}` with the trials so far: the same command goes on from there")
        yield StoredJournal(target.resolve() / JOURNAL)


def complete(target: Path, found: Tuning) -> None:
    """Write the answer into the folder of its question and seal it; raises `OSError`."""
    folder = target.resolve()
    files: dict[str, str | bytes] = {
        "result.json": json_text(found.to_json()),
        "trials.parquet": as_parquet(found.trials),
    }
    for name, content in files.items():
        disk.write(folder / name, content)
        disk.sync(folder / name)
    # The run of the chosen values, as a folder of results like any other.
    found.scenario.run().save(folder / "best")
    about = {"seed": found.question.seed, "complete": True}
    replace_file(folder / MANIFEST, manifest.sealed(folder, "tuning", about), is_result=False)
    written[-1] = f"`{target}`"
