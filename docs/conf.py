"""Sphinx: `make docs`."""

from perhop import __version__

project = "perhop"
author = "the perhop authors"
copyright = "2026, the perhop authors"
release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
# Notebooks are in git without their output, which is created here, again for each changed notebook.
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
suppress_warnings = ["myst.strikethrough"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"perhop {release}"
nitpicky = False
