"""The notebooks run from top to bottom in their own kernel; the tree contains them without output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import ROOT
from tiers import touched

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# The timeout of a hanging cell; no cell computes for more than a few seconds.
HANGS_S = 300


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_is_attached_without_output(file: Path) -> None:
    book = nbformat.read(file, as_version=4)
    nbformat.validate(book)
    for cell in book.cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, "clear all outputs before you commit"


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_has_text_before_code(file: Path) -> None:
    book = nbformat.read(file, as_version=4)
    text = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    wanted = ["## Exercise"]
    if file.stem not in ("my-router", "my-network", "lessons"):
        wanted = [
            "## The question of the paper",
            "## The policy",
            "## Run it",
            "## Published against measured",
            *wanted,
        ]
    places = [text.find(heading) for heading in wanted]
    assert -1 not in places and places == sorted(places), dict(zip(wanted, places, strict=True))


def test_a_users_router_file_is_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = nbformat.read(ROOT / "docs" / "notebooks" / "my-router.ipynb", as_version=4)
    first = next(cell.source for cell in book.cells if cell.cell_type == "code")
    monkeypatch.chdir(tmp_path)
    exec(first, {})
    assert (tmp_path / "router.cfg").read_text().startswith("hostname branch-17\n")
    (tmp_path / "router.cfg").write_text("hostname mine\n")
    exec(first, {})
    assert (tmp_path / "router.cfg").read_text() == "hostname mine\n"


# Warnings of Jupyter itself are ignored.
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", touched([file.stem for file in NOTEBOOKS], but=["my-router"]))
def test_a_notebook_runs(name: str, tmp_path: Path) -> None:
    """`make docs` executes all notebooks if one has changed, and raises their errors."""
    book = nbformat.read(ROOT / "docs" / "notebooks" / f"{name}.ipynb", as_version=4)
    NotebookClient(book, timeout=HANGS_S, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in shown if output.output_type == "stream" and output.name == "stderr"]
    kinds = [set(_data(output)) for output in shown]
    assert sum("image/svg+xml" in kind for kind in kinds) >= 1, "something is drawn"
    assert sum("text/html" in kind for kind in kinds) >= 2, "tables are shown as tables"


def _data(output: Any) -> dict[str, str]:
    return output.get("data", {})
