"""The pictures of README and docs: all exist, each is used, and equals the current output of the program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from conftest import ROOT

PICTURES = ROOT / "docs" / "pictures"


def test_every_picture_is_shown_and_there() -> None:
    shown = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"!\[[^]]+\]\(([^)]+\.svg)\)", page.read_text(encoding="utf-8")):
            file = (page.parent / target).resolve()
            assert file.exists(), f"{page.name}: {target}"
            shown.add(file.name)
    assert shown == {file.name for file in PICTURES.iterdir()}


def test_they_are_small_and_ask_for_nothing() -> None:
    for file in PICTURES.iterdir():
        text = file.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert len(text) < 60_000, file.name
        assert not re.search(r"(?:href|src|url)\s*[=(]\s*['\"]?https?:", text), file.name


def test_they_match_the_output_of_the_program(tmp_path: Path) -> None:
    """The positions of letters depend on the machine's fonts, so the test compares words and numbers."""
    subprocess.run(
        [sys.executable, ROOT / "tools" / "docs_pictures.py", tmp_path], check=True, capture_output=True
    )
    for file in PICTURES.iterdir():
        old, new = (
            [
                "".join(element.itertext())
                for element in ElementTree.parse(folder / file.name).iter()
                if element.tag.endswith("text")
            ]
            for folder in (PICTURES, tmp_path)
        )
        assert old == new, f"{file.name} is behind: make docs-pictures"
