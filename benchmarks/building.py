"""Build perhop's benchmarks and the equivalent programs in other languages."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_NS3 = ("internet", "applications", "point-to-point", "nix-vector-routing", "traffic-control")
_BUILT = Path(__file__).parent.parent / "target" / "peers"


class MissingError(Exception):
    """The equivalent program cannot be built on this machine. The message is the reason."""


def build_benchmark(package: str, name: str) -> Path:
    """Build benchmark `name` of crate `package` and return its path."""
    command = ["cargo", "bench", "-p", package, "--bench", name, "--no-run", "--locked"]
    built = subprocess.run([*command, "--message-format=json"], check=True, stdout=subprocess.PIPE, text=True)
    messages = (json.loads(line) for line in built.stdout.splitlines() if line.startswith("{"))
    found = [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == name]
    return Path(found[-1])


def build_twin(source: Path, compiler: str, flags: Sequence[str], libraries: Sequence[str]) -> Path:
    """Build the program in `source` with `libraries` (pkg-config names), unless it is up to date.

    Raise `MissingError` if a compiler or a library is missing or the build fails.
    """
    for tool in (compiler, "pkg-config"):
        if not shutil.which(tool):
            raise MissingError(f"{tool} is not installed")
    options = _pkg_config("--cflags", "--libs", *libraries)
    # A different version of the library needs a rebuild.
    program = _BUILT / f"{libraries[0]}-{_pkg_config('--modversion', libraries[0])}" / source.stem
    # Any source may include a header of the folder.
    sources = max(file.stat().st_mtime for file in source.parent.iterdir())
    if program.exists() and program.stat().st_mtime > sources:
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    # The options of ns-3 contain files of the -dev package of another library. The linker does not need them.
    needed = [word for word in shlex.split(options) if not word.startswith("/")]
    command = [compiler, *flags, str(source), "-o", str(program), *needed]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise MissingError((built.stderr.strip().splitlines() or [f"{compiler} fails"])[-1])
    return program


def build_ns3(source: str) -> Path:
    """Build a program of benchmarks/ns3, or raise `MissingError`."""
    libraries = [f"ns3-{module}" for module in _NS3]
    return build_twin(Path(__file__).parent / "ns3" / source, "g++", ["-std=c++17", "-O2"], libraries)


def _pkg_config(*words: str) -> str:
    asked = subprocess.run(["pkg-config", *words], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        library = next(word for word in words if not word.startswith("-"))
        raise MissingError(f"pkg-config does not find {library}")
    return asked.stdout.strip()
