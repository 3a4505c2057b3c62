"""`perhop cite`."""

from __future__ import annotations

from typing import Literal

from perhop._core import __version__
from perhop.errors import Exit

# The fields of CITATION.cff, which the tests compare.
AUTHORS = "The perhop authors"
TITLE = "perhop: a DiffServ QoS lab"
URL = "https://github.com/perhop/perhop"

Style = Literal["bibtex", "text"]


def cite(*, style: Style = "bibtex") -> Exit:
    """Print how to cite perhop.

    The page of each algorithm and study names the paper that it implements; cite that paper too.

    Parameters
    ----------
    style
        bibtex: an entry for BibTeX; text: one line.

    """
    if style == "text":
        print(f"{AUTHORS}. {TITLE}. Version {__version__}. {URL}")
        return Exit.OK
    fields = {"author": f"{{{AUTHORS}}}", "title": f"{{{TITLE}}}", "version": __version__, "url": URL}
    rows = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    print(f"@software{{perhop,\n{rows}}}")
    return Exit.OK
