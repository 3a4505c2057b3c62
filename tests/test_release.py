"""The findings of tools/reproducible.py in two archives, one of which names the folder of its build."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest

from conftest import ROOT
from programs import needs, needs_checkout

sys.path.insert(0, str(ROOT / "tools"))

import reproducible


def wheel(path: Path, files: dict[str, bytes], year: int = 2026) -> Path:
    with ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(ZipInfo(name, (year, 1, 1, 0, 0, 0)), data)
    return path


def source(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_archives_of_the_same_bytes_do_not_differ(tmp_path: Path) -> None:
    files = {"a": b"1", "b": b"2"}
    archive, other = (wheel(tmp_path / name, files) for name in ("one.whl", "other.whl"))
    assert reproducible.differences(archive, other) == []


@pytest.mark.parametrize("suffix", [".whl", ".tar.gz"])
def test_each_file_that_differs_is_named(tmp_path: Path, suffix: str) -> None:
    make = wheel if suffix == ".whl" else source
    archive = make(tmp_path / f"one{suffix}", {"a": b"1", "b": b"2", "c": b"3"})
    other = make(tmp_path / f"other{suffix}", {"a": b"1", "b": b"4", "d": b"3"})
    assert reproducible.differences(archive, other) == ["b", "c", "d"]


def test_a_date_that_differs_is_found(tmp_path: Path) -> None:
    archive = wheel(tmp_path / "one.whl", {"a": b"1"}, 2025)
    other = wheel(tmp_path / "other.whl", {"a": b"1"}, 2026)
    (found,) = reproducible.differences(archive, other)
    assert "dates" in found


def test_a_file_that_names_the_folder_of_the_build_is_found(tmp_path: Path) -> None:
    made = wheel(tmp_path / "one.whl", {"a": b"\0/build/here/lib.rs\0", "b": b"/perhop/lib.rs"})
    assert reproducible.traces(made, ["/build/here", "/elsewhere"]) == ["a names /build/here"]


def test_the_build_gets_date_and_paths(tmp_path: Path) -> None:
    """The arguments and environment of maturin, recorded by a substitute program."""
    program = tmp_path / "maturin"
    program.write_text('#!/bin/sh\necho "$1 $SOURCE_DATE_EPOCH"\necho "$CARGO_ENCODED_RUSTFLAGS"\n')
    program.chmod(0o755)
    line = [ROOT / "tools" / "build_wheel.sh", tmp_path / "dist"]
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/me",
        "MATURIN": str(program),
        "SOURCE_DATE_EPOCH": "7",
    }
    shown = subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout
    flags = f"--remap-path-prefix=/home/me/.cargo=/cargo\x1f--remap-path-prefix={ROOT}=/perhop"
    assert shown.splitlines() == ["sdist 7", flags, "build 7", flags]


@pytest.mark.touched
@needs_checkout
@needs("cargo")
def test_two_source_distributions_of_a_commit_are_the_same(tmp_path: Path) -> None:
    """maturin builds them; `make reproducible` checks the wheel, whose build lasts minutes."""
    maturin = Path(sys.executable).with_name("maturin")
    program = tmp_path / "maturin"
    program.write_text(f'#!/bin/sh\nif [ "$1" = sdist ]; then exec {maturin} "$@"; fi\n')
    program.chmod(0o755)
    folders = [tmp_path / "one", tmp_path / "another folder" / "of a longer name"]
    archives, other = (reproducible.build("HEAD", folder, program) for folder in folders)
    (name,) = archives.keys() & other.keys()
    assert name.endswith(".tar.gz")
    assert reproducible.differences(archives[name], other[name]) == []
    assert reproducible.traces(archives[name], [str(tmp_path)]) == []
    assert any(file.endswith("/Cargo.lock") for file in reproducible.contents(archives[name]))
