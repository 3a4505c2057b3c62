"""Pages that are complete in themselves: style, scripts and data in one HTML file, no request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.page.pictures import Pictures
from perhop.plot.palette import PALETTE

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from perhop.plot.chart import Chart

_HERE = Path(__file__).parent


def charts_page(charts: Sequence[Chart]) -> str:
    """Return a page of charts alone."""
    title = charts[0].title if len(charts) == 1 else f"{len(charts)} charts"
    return render("charts.html", title=title, parts=[], charts=charts)


def render(template: str, **context: object) -> str:
    """Return a page made from a template; all that is put in is escaped."""
    page = _environment().get_template(template)
    return page.render(
        version=_core.__version__,
        palette=PALETTE,
        style=_asset("page.css"),
        echarts=_asset("echarts.min.js"),
        charts_script=_asset("charts.js"),
        page_script=_asset("page.js"),
        picture=Pictures(),
        **context,
    )


@cache
def _asset(name: str) -> str:
    return (_HERE / "assets" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["json"] = _script_json
    environment.filters["markdown"] = _markdown
    # A page of many tables is made of digits: these are more than any cell shows.
    environment.filters["short"] = lambda value: f"{value:.8g}"
    return environment


def _script_json(value: Any) -> Markup:  # noqa: ANN401 - whatever JSON can hold
    """Return JSON that cannot end the script element it stands in."""
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def _markdown(text: str) -> Markup:
    """Return Markdown as HTML; HTML in it is shown, not obeyed, and links lead nowhere on their own."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
