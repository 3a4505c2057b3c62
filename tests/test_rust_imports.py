"""The circles of imports among the Rust files of the workspace."""

from __future__ import annotations

import sys
from pathlib import Path

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from rust_imports import circles


def test_no_file_of_the_workspace_is_in_an_import_cycle() -> None:
    assert circles(ROOT) == []


def test_cycles_of_imports_and_paths_are_found(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod shape;\nmod color;\nmod pen;\npub use shape::Shape;\n",
        "shape/mod.rs": "mod circle;\npub use circle::Circle;\npub struct Shape(Circle);\n",
        "shape/circle.rs": "use super::{Shape as Parent};\npub struct Circle(Box<Parent>);\n",
        "color.rs": "pub fn mix() { crate::pen::draw(); }\n",
        "pen.rs": "pub fn draw() { crate::color::mix(); }\n#[cfg(test)]\nmod tests { use crate::Shape; }\n",
    }
    source = tmp_path / "crates" / "drawing" / "src"
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    of_paths, of_imports = ["color.rs", "pen.rs"], ["shape/circle.rs", "shape/mod.rs"]
    expected = [[f"crates/drawing/src/{name}" for name in circle] for circle in (of_paths, of_imports)]
    assert circles(tmp_path) == expected
    (source / "shape/circle.rs").write_text(
        'pub struct Circle; // crate::Shape\nconst S: &str = "crate::Shape";'
    )
    (source / "color.rs").write_text("use crate::Shape;\npub fn mix() {}\n")
    assert circles(tmp_path) == []
