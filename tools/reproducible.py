"""Build the wheel of a commit twice, in folders of different names, and compare the bytes.

The exit code is 1 if the two wheels differ, with a list of the files that differ, or if one of them contains
the name of a folder of the build machine. The comparison takes the time of two release builds. The folders
are kept only if there is a difference.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent


def build(commit: str, folder: Path, maturin: Path) -> dict[str, Path]:
    """Build wheel and source distribution of `commit` in a clone at `folder`. Return the files by name."""
    subprocess.run(["git", "clone", "--quiet", "--no-checkout", ROOT, folder], check=True)
    subprocess.run(["git", "checkout", "--quiet", "--detach", commit], cwd=folder, check=True)
    environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
    environment["MATURIN"] = str(maturin)
    subprocess.run(["tools/build_wheel.sh", "dist"], cwd=folder, env=environment, check=True)
    return {path.name: path for path in (folder / "dist").iterdir()}


def contents(archive: Path) -> dict[str, bytes]:
    """Read the files in a wheel or in a source distribution."""
    if archive.suffix == ".whl":
        with ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(archive) as source:
        files = ((member.name, source.extractfile(member)) for member in source.getmembers())
        return {name: file.read() for name, file in files if file is not None}


def differences(first: Path, second: Path) -> list[str]:
    """List the differences between two archives; empty if their bytes are equal."""
    if first.read_bytes() == second.read_bytes():
        return []
    ours, theirs = contents(first), contents(second)
    found = [name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
    return found or ["the files are the same; their order, dates or rights differ"]


def traces(archive: Path, words: list[str]) -> list[str]:
    """Return the files of an archive that contain one of `words`, which are names of folders."""
    return [
        f"{name} names {word}"
        for name, data in contents(archive).items()
        for word in words
        if word.encode() in data
    ]


def main() -> int:
    """Build twice, compare, report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commit", default="HEAD", help="the commit to build (default: HEAD)")
    parser.add_argument("--maturin", type=Path, default=ROOT / ".venv" / "bin" / "maturin")
    arguments = parser.parse_args()
    # The hash is determined before the builds, because a branch may move during a build.
    line = ["git", "rev-parse", "--verify", f"{arguments.commit}^{{commit}}"]
    commit = subprocess.run(line, cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()
    top = Path(tempfile.mkdtemp(prefix="perhop-reproducible-"))
    folders = [top / "one", top / "another folder" / "of a longer name"]
    first, second = (build(commit, folder, arguments.maturin.absolute()) for folder in folders)
    found = [f"only in one of them: {name}" for name in sorted(first.keys() ^ second.keys())]
    # The home folder is searched too, because cargo stores the sources of crates there.
    words = [str(top), f"{Path.home()}/"]
    for name in sorted(first.keys() & second.keys()):
        found += [f"{name}: differs: {what}" for what in differences(first[name], second[name])]
        found += [f"{name}: {what}" for what in traces(first[name], words)]
        print(f"{sha256(first[name].read_bytes()).hexdigest()}  {name}")
    if found:
        print("\n".join([*found, f"both are in {top}"]), file=sys.stderr)
        return 1
    shutil.rmtree(top)
    return 0


if __name__ == "__main__":
    sys.exit(main())
