"""The package as a user installs it: a wheel in a fresh environment, outside the tree."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from conftest import ROOT
from programs import needs, needs_checkout

pytestmark = [pytest.mark.thorough, needs("cargo")]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with only the wheel and its dependencies, in the versions of the lock."""
    top = tmp_path_factory.mktemp("wheel")
    maturin = Path(sys.executable).with_name("maturin")
    subprocess.run([maturin, "build", "--release", "--locked", "--quiet", "--out", top], cwd=ROOT, check=True)
    (wheel,) = top.glob("perhop-*-abi3-*.whl")
    lock = (ROOT / "requirements" / "dev.lock").read_text()
    pins = [line.removesuffix(" \\") for line in lock.splitlines() if line[:1].isalnum()]
    (top / "constraints.txt").write_text("\n".join(pins))
    venv.create(top / "venv", with_pip=True)
    pip = [top / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--constraint", top / "constraints.txt", wheel], cwd=top, check=True)
    return top / "venv"


def test_the_installed_command_works_outside_the_tree(installed: Path, tmp_path: Path) -> None:
    def perhop(*arguments: str) -> str:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))
        }
        line = [installed / "bin" / "perhop", *arguments]
        ended = subprocess.run(
            line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    perhop("init")
    assert "voice" in perhop("run", "first.perhop.yaml", "-o", "out")
    assert (tmp_path / "out" / "classes.parquet").is_file()
    studies = sorted(path.parent.name for path in (ROOT / "studies").glob("*/study.toml"))
    listed = perhop("study", "list")
    for study in studies:
        assert study in listed
        assert "Table" in perhop("study", "show", study)


@needs_checkout
def test_every_file_of_every_study_is_installed(installed: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "studies"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert tracked
    (package,) = installed.glob("lib/python*/site-packages/perhop")
    for file in tracked:
        assert (package / file).read_bytes() == (ROOT / file).read_bytes()
    # In the wheel, not in the environment, because pip compiles modules that it installs.
    (wheel,) = installed.parent.glob("perhop-*.whl")
    compiled = [name for name in ZipFile(wheel).namelist() if name.endswith(".pyc")]
    assert not compiled, "what Python compiled here does not belong in a wheel"


def test_pandas_is_optional_and_its_absence_costs_nothing(installed: Path) -> None:
    line = [installed / "bin" / "python", "-c", "import pandas"]
    assert subprocess.run(line, capture_output=True, check=False).returncode != 0


def test_no_network_is_needed(installed: Path, tmp_path: Path) -> None:
    alone = ["unshare", "--net", "--map-root-user"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine gives no network namespaces")
    for arguments in (["init"], ["run", "first.perhop.yaml", "-o", "out"], ["study", "list"]):
        subprocess.run(
            [*alone, installed / "bin" / "perhop", *arguments], cwd=tmp_path, capture_output=True, check=True
        )
