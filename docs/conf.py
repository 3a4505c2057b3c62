"""Sphinx: `make docs`."""

from perhop import __version__

project = "perhop"
author = "the perhop authors"
copyright = "2026, the perhop authors"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.strikethrough"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"perhop {release}"
nitpicky = False
