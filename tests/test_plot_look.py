"""Pictures for papers: titles, names, sizes, fonts, formats, the user's matplotlibrc and axes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

import perhop
from conftest import Command
from perhop import InvalidInputError
from perhop.plot import Axis, Chart, Line
from perhop.plot.look import Look
from perhop.plot.static import tex

CHART = Chart(
    "throughput",
    "Throughput of each class",
    Axis("Time", "s"),
    Axis("Throughput", "Mb/s", least=0.0),
    (Line("voice", "class0", [0, 1], [1, 2]), Line("red, bulk_1", "class1", [0, 1], [2, 2])),
    "Seed 1.",
)
# A program with the answers of LaTeX: the start, then width, height and depth of each text.
LATEX = """\
#!{python}
import sys
for line in sys.stdin:
    if "pgf_backend_query_start" in line:
        print("*pgf_backend_query_start\\n*", end="", flush=True)
    elif "typeout" in line:
        print("30.0pt,7.0pt,2.0pt\\n\\n*", end="", flush=True)
"""


@pytest.fixture
def folder(perhop: Command, scenario: Path, tmp_path: Path) -> Path:
    assert perhop("run", scenario, "-o", "out", "-q").code == 0
    return tmp_path / "out"


def texts_of(file: Path) -> list[str]:
    tree = ElementTree.parse(file)
    return ["".join(text.itertext()) for text in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_title_names_size_and_font_of_a_picture(perhop: Command, folder: Path, tmp_path: Path) -> None:
    options = ("--title", "My title", "--label", "steady=Voice", "--label", "y=Goodput", "--size", "3.4in")
    ended = perhop("plot", "throughput", folder, "-o", "a.svg", *options, "--font", "DejaVu Serif 7pt")
    assert ended.code == 0, ended.err
    texts = texts_of(tmp_path / "a.svg")
    assert {"My title", "Voice", "random", "Goodput (Mb/s)"} <= set(texts)
    assert "Throughput of each class" not in texts and "steady" not in texts
    text = (tmp_path / "a.svg").read_text()
    (width,) = re.findall(r'<svg [^>]*width="([\d.]+)pt"', text)
    assert float(width) == pytest.approx(3.4 * 72)
    assert "DejaVu Serif" in text and re.search(r"font: 7px|font-size: 7px", text)
    both = perhop("plot", "throughput", folder, "-o", "b.png", "--size", "8cm x 6cm")
    assert both.code == 0, both.err
    data = (tmp_path / "b.png").read_bytes()
    pixels = [int.from_bytes(data[at : at + 4], "big") / 160 * 2.54 for at in (16, 20)]
    assert pixels == pytest.approx([8, 6], abs=0.02)
    page = perhop(
        "plot", "throughput", folder, "-o", "c.html", "--title", "My title", "--label", "steady=Voice"
    )
    assert page.code == 0 and "My title" in (tmp_path / "c.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--label", "stedy=Voice"), "the plot has no `stedy`"),
        (("--label", "steady"), "--label: expected PATH=VALUE"),
        (("--size", "3.4"), "`3.4` is not a size"),
        (("--size", "400in"), "from 1.5 to 40 inches"),
        (("--size", "3.4in x 1.5in"), "are too low for the text"),
        (("--font", "DejaVu Sanz"), "DejaVu Sans"),
        (("--font", "2pt"), "from 4pt to 40pt"),
        (("-o", "a.html", "--size", "3in"), "--size and --font do not apply to pages"),
    ],
)
def test_invalid_options_are_refused(
    perhop: Command, folder: Path, options: tuple[str, ...], message: str
) -> None:
    ended = perhop("plot", "throughput", folder, *options)
    assert ended.code == 2 and message in ended.err


def test_a_label_option_matches_a_name_or_a_part() -> None:
    (chart,) = Look.parse(labels={"bulk_1": "Bulk", "x": "t"}).worded([CHART])
    assert [mark.name for mark in chart.marks] == ["voice", "red, Bulk"]
    assert chart.x.title == "t (s)"
    with pytest.raises(InvalidInputError, match="--title is for one chart, but the plot has 2 charts"):
        Look.parse(title="a").worded([CHART, CHART])


def test_fonts_in_pdf_are_true_type(tmp_path: Path) -> None:
    CHART.save(tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    parts = [
        data,
        *(zlib.decompress(stream) for stream in re.findall(rb"stream\n(x.*?)\nendstream", data, re.DOTALL)),
    ]
    whole = b"".join(parts)
    assert b"/FontFile2" in whole and b"/Type3" not in whole


def test_a_pdf_has_a_page_for_each_plot(tmp_path: Path) -> None:
    from perhop.plot.writing import write

    assert write([CHART, CHART, CHART], tmp_path / "a.pdf") == [tmp_path / "a.pdf"]
    assert (tmp_path / "a.pdf").read_bytes().count(b"/Type /Page ") == 3


def test_pgf_is_for_latex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "xelatex"
    program.parent.mkdir()
    program.write_text(LATEX.replace("{python}", sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    CHART.save(tmp_path / "a.pgf", size="3.4in")
    text = (tmp_path / "a.pgf").read_text()
    assert r"\begin{pgfpicture}" in text and "Throughput of each class" in text
    assert r"red, bulk\_1" in text, "names are not commands of TeX"
    assert r"\pgfqpoint{3.400000in}" in text
    assert tex("50 % of $x_1 & {a}\\") == r"50 \% of \$x\_1 \& \{a\}\textbackslash{}"


def test_pgf_without_latex_is_an_error(perhop: Command, folder: Path) -> None:
    ended = perhop("plot", "throughput", folder, "-o", "a.pgf", PATH="/nowhere")
    assert ended.code == 5 and "PGF needs LaTeX" in ended.err and "pdf" in ended.err


def test_the_users_matplotlibrc_comes_first(perhop: Command, folder: Path, tmp_path: Path) -> None:
    assert perhop("plot", "throughput", folder, "-o", "usual.svg").code == 0
    (tmp_path / "matplotlibrc").write_text(
        "figure.figsize: 5, 3\nfont.family: serif\nfont.serif: DejaVu Serif\naxes.spines.top: True\n"
        "axes.prop_cycle: cycler('color', ['ff0000', '00ff00'])\nlines.linewidth: 3\naxes.grid: False\n"
    )
    # In a separate process, because matplotlib reads the file when it is imported.
    line = [sys.executable, "-m", "perhop", "plot", "throughput", str(folder), "-o", "mine.svg"]
    source = str(Path(perhop_module_file()).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    subprocess.run(line, cwd=tmp_path, env=environment, check=True, capture_output=True)
    usual, mine = ((tmp_path / name).read_text() for name in ("usual.svg", "mine.svg"))
    assert "#ff0000" in mine and "#00ff00" in mine and "#0067a8" not in mine
    assert "DejaVu Serif" in mine and "DejaVu Serif" not in usual
    assert "stroke-width: 3" in mine and "stroke-width: 3" not in usual
    (width,) = re.findall(r'<svg [^>]*width="([\d.]+)pt"', mine)
    assert float(width) == pytest.approx(5 * 72)
    assert "stroke: #d8dee4" in usual and "stroke: #d8dee4" not in mine, "no grid"


def perhop_module_file() -> str:
    assert perhop.__file__ is not None
    return perhop.__file__


def test_plots_are_drawn_into_the_axes_of_a_user(scenario: Path) -> None:
    results = perhop.run(scenario)
    made = Figure(figsize=(6, 3))
    left, right = made.subplots(1, 2)
    before = dict(mpl.rcParams)
    assert results.plot.queue(ax=left) is left
    assert results.plot.throughput(ax=right) is right
    assert dict(mpl.rcParams) == before, "the settings of the user stay"
    assert len(made.axes) == 2
    assert left.get_ylabel() == "Waiting (packets)" and left.get_title().startswith("Queue ")
    legend = right.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["steady", "random"]
    assert right.spines["top"].get_visible(), "the style is that of the axes"
    made.draw_without_rendering()
    assert results.plot.delay_cdf(ax=left) is left
    assert isinstance(results.plot.queue(), Chart)


def test_every_kind_of_a_run_takes_axes() -> None:
    import inspect

    from perhop.plots import Plots

    kinds = [name for name in vars(Plots) if not name.startswith("_")]
    assert kinds and all("ax" in inspect.signature(getattr(Plots, name)).parameters for name in kinds)


def test_several_plots_without_a_name_are_one_file(perhop: Command, folder: Path, tmp_path: Path) -> None:
    text = (tmp_path / "overload.perhop.yaml").read_text()
    both = text.replace(
        "{ from: router, to: sink, every: 100ms }",
        "{ from: router, to: sink, every: 100ms }, { from: source, to: router, every: 100ms }",
    )
    (tmp_path / "two.perhop.yaml").write_text(both)
    assert perhop("run", "two", "-o", "two", "--plot", "queue", "-q").code == 0
    assert [file.name for file in (tmp_path / "two").glob("queue.*")] == ["queue.html"]
    ended = perhop("plot", "queue", "two")
    assert ended.code == 0 and "written to queue.html" in ended.err
    assert [file.name for file in tmp_path.glob("queue*")] == ["queue.html"]
    assert perhop("plot", "queue", folder).code == 0
    assert (tmp_path / "queue.svg").is_file(), "one plot is one picture"
    assert perhop("plot", "queue", "two", "-o", "named.svg").code == 0
    assert (tmp_path / "named.svg").is_file() and (tmp_path / "named-2.svg").is_file(), "a name is kept"
