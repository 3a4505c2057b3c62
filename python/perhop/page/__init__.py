"""Self-contained HTML pages: style, scripts and data in one file that makes no request."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from perhop import _core
from perhop.page.pictures import Pictures
from perhop.palette import PALETTE

_HERE = Path(__file__).parent
# The mark of a page that perhop wrote, and the number of bytes that are searched for the mark.
_GENERATOR, _HEAD_BYTES = b'<meta name="generator" content="perhop', 4096


def render(template: str, **context: object) -> str:
    """Return a page made from a template; all inserted text is escaped."""
    page = _environment().get_template(template)
    return page.render(
        version=_core.__version__,
        palette=PALETTE,
        style=_asset("page.css"),
        playground_style=_asset("playground.css"),
        echarts=_asset("echarts.min.js"),
        charts_script=_asset("charts.js"),
        page_script=_asset("page.js"),
        picture=Pictures(),
        **context,
    )


def in_script(text: str) -> str:
    """Return a script that cannot end the element around it."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def is_page(file: Path) -> bool:
    """Return whether a file is a page that `render` made; raises `OSError`."""
    with file.open("rb") as opened:
        return _GENERATOR in opened.read(_HEAD_BYTES)


@cache
def _asset(name: str) -> str:
    return (_HERE / "assets" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["json"] = _script_json
    environment.filters["markdown"] = _markdown
    # A page with many tables consists mostly of digits. No cell shows more than eight digits of a number.
    environment.filters["short"] = lambda value: f"{value:.8g}"
    return environment


def _script_json(value: Any) -> Markup:  # noqa: ANN401 - any JSON value
    """Return JSON that cannot end the script element around it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def _markdown(text: str) -> Markup:
    """Return Markdown as HTML; HTML is shown as text, except sub and sup; bare URLs are not links."""
    page = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return Markup(re.sub(r"&lt;(/?su[bp])&gt;", r"<\1>", page))
