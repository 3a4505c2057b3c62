"""The folder of a tuning: the question, a journal that grows, and in the end the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from perhop import _core, disk, manifest
from perhop.caller import made_folder
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.frames import as_parquet
from perhop.inputs import parsed_json
from perhop.interrupts import deferred, written
from perhop.loading import has_text, is_file, read_bytes
from perhop.locking import locked, reserve
from perhop.manifest import MANIFEST, json_text
from perhop.saved import Saved
from perhop.saving import check_target, replace_file, unseal, whole_folder
from perhop.sweeping import parts
from perhop.tuning.evaluating import JOURNAL, StoredJournal
from perhop.tuning.question import FILE, SCHEMA_VERSION, Question
from perhop.tuning.tuned import Tuning

#: The folder of the run of the chosen values.
BEST = "best"


def check_folder(target: Path, question: Question, *, force: bool = False) -> None:
    """Refuse a folder that cannot be used, before the search starts, and exclude other writers.

    Raises:
        InvalidInputError: the folder cannot be used.

    """
    if is_continued(target, question, force=force):
        reserve(target.resolve())
    else:
        check_target(target, "tuning", force=force)


def is_continued(target: Path, question: Question, *, force: bool = False) -> bool:
    """Return whether a folder contains exactly this tuning, complete or not.

    Raises:
        InvalidInputError: the folder contains other results, and `force` is not given.

    """
    if not is_file(target / MANIFEST):
        return False
    found = manifest.read(target)
    texts = question.texts()
    same = all(has_text(target / name, text) for name, text in texts.items())
    if same and found["perhop"] == _core.__version__:
        return True
    if not force:
        what = _other_tuning(target) if found["kind"] == "tuning" else "other results"
        what = f"the same tuning by perhop {found['perhop']}" if same else what
        raise InvalidInputError(
            f"`{target}` has {what}", "choose another folder, or move it aside with --force"
        )
    return False


def _other_tuning(target: Path) -> str:
    """Describe the tuning in a folder that this command cannot continue."""
    try:
        version = parsed_json(read_bytes(target / FILE))["schema_version"]
    except (UnreadableFileError, ValueError, LookupError, TypeError):
        return "another tuning"
    if version == SCHEMA_VERSION:
        return "another tuning"
    return f"a tuning of format {version}, but this version of perhop continues only format {SCHEMA_VERSION}"


@contextmanager
def journal(target: Path, question: Question, *, force: bool = False) -> Iterator[StoredJournal]:
    """Begin the folder of a question, or continue an existing one, with exclusive access.

    Raises:
        InvalidInputError: the folder has other content, is being written, or cannot be used.
        OSError: a file cannot be written.

    """
    if not is_continued(target, question, force=force):
        with whole_folder(target, "tuning", force=force, aside=True) as new:
            for name, text in question.texts().items():
                disk.write(new / name, text)
            disk.make_folder(new / JOURNAL)
            manifest.seal(new, "tuning", {"seed": question.seed, "complete": False})
        written.pop()
    # A signal must not leave the lock behind.
    with deferred() as signals, locked(target.resolve()), signals.admitted():
        written.append(f"`{target}` with the trials so far: the same command continues from there")
        parts.clear(target.resolve(), MANIFEST)
        folder = target.resolve()
        if not (folder / JOURNAL).exists():
            disk.make_folder(folder / JOURNAL)
            with made_folder(folder / JOURNAL):
                disk.sync(folder)
        kept = StoredJournal(folder / JOURNAL, question)
        if kept.wrong:
            unseal(folder, question.texts())
            parts.warn_of_removal(kept.wrong, folder, target, parts.DAMAGED)
            kept.remove_wrong()
        yield kept


def complete(target: Path, found: Tuning, kept: StoredJournal) -> None:
    """Write the answer into the folder of its question and seal it.

    After an interruption, the folder can be continued, even if it had an answer before.

    Raises:
        OSError: a file cannot be written.
        UnreadableFileError: a part of the journal has changed since it was written or verified.

    """
    folder = target.resolve()
    files = {
        "result.json": json_text(found.to_json()).encode(),
        "trials.parquet": as_parquet(found.trials),
    }
    if not _is_answered(folder, files):
        unseal(folder, found.question.texts())
        for name, content in files.items():
            disk.write(folder / name, content)
            disk.sync(folder / name)
        # The run of the chosen values is an ordinary folder of results.
        with parts.anew(folder / BEST) as new:
            found.scenario.run().write_into(new)
        about = {"seed": found.question.seed, "complete": True}
        sealed = manifest.sealed(folder, "tuning", about)
        parts.require_unchanged(target / JOURNAL, kept.digests, parts.sealed_digests(sealed, JOURNAL))
        replace_file(folder / MANIFEST, sealed, is_result=False)
    written[-1] = f"`{target}`"


def _is_answered(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Whether a folder is complete and undamaged, and contains this answer."""
    try:
        saved = Saved.open(folder)
    except UnreadableFileError:
        return False
    is_same = all(name in saved and saved.content(name) == content for name, content in files.items())
    return is_same and bool(saved.manifest["complete"])
