"""Running studies, with a study whose figures follow from arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from conftest import Command, files_in, leftovers
from perhop.errors import UnreadableFileError
from perhop.shape import require
from perhop.study import stored
from small_study import CLAIMS, JUDGES, MEASURES, MORE_CASES, REFERENCE, STUDY, make_study


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return make_study(tmp_path / "slow")


def test_published_and_measured_figures(perhop: Command, study: Path) -> None:
    ended = perhop("study", "run", study, "--json")
    assert ended.code == 0, ended.err
    report = ended.json()
    assert {"study", "figures", "claims", "assumptions", "seconds"} <= set(report)
    assert report["study"] == "slow"
    light, heavy, delivered = report["figures"]
    assert light["case"] == {"load": "light"}
    assert (light["published"], light["measured"], light["ci95"], light["verdict"]) == (
        0,
        0,
        [0, 0],
        "agrees",
    )
    assert heavy["measured"] == pytest.approx(50, abs=0.5)
    assert heavy["verdict"] == "agrees"
    assert heavy["replications"] == 3
    assert heavy["ci95"][0] <= heavy["measured"] <= heavy["ci95"][1]
    assert delivered["verdict"] == "not-comparable"
    assert [claim["verdict"] for claim in report["claims"]] == ["agrees"] * 3
    (assumption,) = report["assumptions"]
    assert (assumption["name"], assumption["value"]) == ("link rate", "2 Mb/s")
    (tried,) = assumption["sensitivity"]
    assert tried["value"] == "4 Mb/s"
    assert tried["figures"][1]["measured"] < 1
    assert tried["figures"][1]["replications"] == 2
    verdicts = {claim["id"]: claim["verdict"] for claim in tried["claims"]}
    assert verdicts == {"slow.lossless": "agrees", "slow.half": "differs", "slow.repeats": "not-comparable"}


def test_the_table_shows_disagreement(perhop: Command, study: Path) -> None:
    reference = study / "reference" / "slow.csv"
    reference.write_text(REFERENCE.replace("heavy,dropped_percent,50", "heavy,dropped_percent,70"))
    ended = perhop("study", "run", study, "--no-sensitivity")
    assert ended.code == 0, "a figure may differ; a claim must not"
    (line,) = [line for line in ended.out.splitlines() if "heavy" in line and "dropped percent" in line]
    assert "DIFFERS" in line
    assert " 70 " in line
    assert "1 differs" in ended.out
    assert "forgot to say" in ended.out


def test_a_claim_that_is_not_met_ends_with_4(perhop: Command, study: Path) -> None:
    judges = study / "claims.py"
    judges.write_text(JUDGES.replace("measured - 50", "measured - 60"))
    plain = perhop("study", "run", study, "--no-sensitivity")
    as_json = perhop("study", "run", study, "--no-sensitivity", "--json", "-o", "out")
    assert (plain.code, as_json.code) == (4, 4)
    assert [claim["verdict"] for claim in as_json.json()["claims"]] == ["agrees", "differs", "agrees"]
    assert (study.parent / "out" / "slow" / "study.json").is_file(), "what was found is kept all the same"


def test_a_claim_that_holds_in_part_is_partly_met(perhop: Command, study: Path) -> None:
    """The evidence names the parts that are met and those that are not; the whole claim is not met."""
    claims = study / "claims.toml"
    claims.write_text(
        CLAIMS.replace("A heavy load loses half.", "A heavy load loses half, a light one a tenth.")
    )
    parts = '{"heavy load": abs(figure.measured - 50) < 1, "light load": LIGHT}'
    judges = study / "claims.py"
    whole = "abs(figure.measured - 50) < 1, f"
    assert whole in JUDGES
    text = JUDGES.replace("import agrees_if", "import agrees_if, judged")
    text = text.replace(f"agrees_if({whole}", f"judged({parts}, f")
    for light, verdict, code in [("True", "agrees", 0), ("False", "partly", 4)]:
        judges.write_text(text.replace("LIGHT", light))
        ended = perhop("study", "run", study, "--no-sensitivity", "--json", "-o", f"out-{verdict}")
        assert ended.code == code, ended.err
        half = ended.json()["claims"][1]
        assert half["verdict"] == verdict
        assert half["parts"] == {"heavy load": True, "light load": light == "True"}
    assert half["evidence"].startswith("holds: heavy load; does not hold: light load. ")
    saved = study.parent / "out-partly" / "slow"
    assert json.loads((saved / "study.json").read_text())["claims"][1] == half
    assert "| `slow.half` | **partly** | holds: heavy load" in (saved / "report.md").read_text()
    plain = perhop("study", "run", study, "--no-sensitivity")
    assert plain.code == 4
    assert "PARTLY" in plain.out and "3 claims: 2 met, 1 met in part" in plain.out
    assert "4 a claim is not met, or only in part" in perhop("study", "run", "--help").out
    assert perhop("report", saved, "-o", "page.html").code == 0
    page = (study.parent / "page.html").read_text()
    assert '<span class="verdict partly">partly</span>' in page and "hold in part" in page
    judges.write_text(text.replace("LIGHT", "False").replace("measured - 50", "measured - 60"))
    assert perhop("study", "run", study, "--json").json()["claims"][1]["verdict"] == "differs"


def test_how_far_figures_are_from_published_ones(perhop: Command, study: Path) -> None:
    """0 % and 50 % are lost. Compared with 0, 60, 45 and 51, which was read off a chart to 2 points, the
    errors are five."""
    definition = study / "study.toml"
    definition.write_text(STUDY.replace("[[highlights]]", MORE_CASES + "[[highlights]]"))
    (study / "reference" / "slow.csv").write_text(
        "table,load,metric,value,unit,reading_error\n"
        "1,light,dropped_percent,0,%,\n1,heavy,dropped_percent,60,%,\n1,heavy,delivered,1234,packets,\n"
        "3,x,dropped_percent,45,%,\n3,y,dropped_percent,51,%,2\n3,z,dropped_percent,59,%,2\n"
    )
    ended = perhop("study", "run", study, "--no-sensitivity", "--json", "-o", "out")
    (errors,) = ended.json()["errors"]
    assert errors.pop("median_percent") == pytest.approx((100 * 10 / 60 + 100 * 5 / 45) / 2, abs=0.5)
    assert errors == {
        "metric": "dropped_percent",
        "figures": 5,
        "within_percent": {"5": 0, "10": 0, "25": 2, "50": 2},
        "beyond_percent": 0,
        "read": 2,
        "within_reading_errors": {"1": 1, "2": 1, "5": 2, "10": 2},
        "beyond_reading_errors": 0,
        "published_zero": 1,
        "zero_exactly": 1,
    }
    assert [row.get("reading_error") for row in ended.json()["figures"]] == [None, None, None, None, 2, 2]
    line = "| dropped percent | 5 | 14 % | 0 | 0 | 2 | 2 | 0 | 2 | 1 | 1 | 2 | 2 | 1 | 1 |"
    assert line in (study.parent / "out" / "slow" / "report.md").read_text().splitlines()
    assert "Errors: numbers of figures" in perhop("study", "run", study).out
    assert perhop("report", study.parent / "out" / "slow", "-o", "page.html").code == 0
    page = (study.parent / "page.html").read_text()
    assert "within the reading error" in page and "<b>0 / 2</b>" in page


def test_studies_saved_before_parts_and_errors_are_read(perhop: Command, study: Path) -> None:
    perhop("study", "run", study, "--no-sensitivity", "-o", "out", "-q")
    found = json.loads((study.parent / "out" / "slow" / "study.json").read_text())
    require(Path("study.json"), found, stored._SHAPE)
    del found["errors"]
    for claim in found["claims"]:
        del claim["parts"]
    require(Path("study.json"), found, stored._SHAPE)
    found["claims"][0]["verdict"] = "mostly"
    with pytest.raises(UnreadableFileError, match="mostly"):
        require(Path("study.json"), found, stored._SHAPE)


def test_rows_that_differ_in_their_repetition_are_one_figure(perhop: Command, study: Path) -> None:
    """The mean of 49 and 53 is 51 %; it differs from 50 by more than 1 % and less than 3 % of it."""
    (study / "reference" / "slow.csv").write_text(
        "table,load,metric,value,unit,repetition\n1,light,dropped_percent,0,%,1\n"
        "1,heavy,dropped_percent,49,%,1\n1,heavy,dropped_percent,53,%,2\n1,heavy,delivered,1234,packets,1\n"
    )
    definition = study / "study.toml"
    verdicts = []
    for part in (0.01, 0.03):
        lines = STUDY.splitlines()
        at = lines.index("[metrics.dropped_percent]")
        lines[at + 1] = f"relative = {part}"
        definition.write_text("\n".join(lines))
        figures = perhop("study", "run", study, "--no-sensitivity", "--json").json()["figures"]
        [heavy] = [
            figure
            for figure in figures
            if figure["case"].get("load") == "heavy" and figure["metric"] == "dropped_percent"
        ]
        assert heavy["published"] == 51
        verdicts.append(heavy["verdict"])
    assert verdicts == ["differs", "agrees"]


def test_a_reading_error_is_above_0(perhop: Command, study: Path) -> None:
    (study / "reference" / "slow.csv").write_text(
        "table,load,metric,value,unit,reading_error\n1,light,dropped_percent,0,%,0\n"
        "1,heavy,dropped_percent,50,%,\n1,heavy,delivered,1234,packets,\n"
    )
    ended = perhop("study", "run", study)
    assert ended.code == 2 and "`reading_error` is not above 0" in ended.err


def test_only_one_table(perhop: Command, study: Path) -> None:
    report = perhop("study", "run", study, "--only", "2", "--json").json()
    assert report["figures"] == []
    assert {claim["verdict"] for claim in report["claims"]} == {"not-comparable"}
    ended = perhop("study", "run", study, "--only", "3")
    assert ended.code == 2
    assert "tables: 1, 2" in ended.err


def test_a_table_in_parts(perhop: Command, study: Path) -> None:
    definition = study / "study.toml"
    definition.write_text(definition.read_text().replace('id = "2"', 'id = "1:again"'))
    report = perhop("study", "run", study, "--only", "1", "--json", "--no-sensitivity").json()
    assert {claim["verdict"] for claim in report["claims"]} == {"agrees"}, "both parts were run"


def test_an_alternative_does_not_undo_a_case(perhop: Command, study: Path) -> None:
    """Changes of a case override those of an alternative; only `set-in-table` overrides the case."""
    definition = study / "study.toml"
    text = definition.read_text()
    definition.write_text(
        text.replace('"links.1.rate" = "4Mb/s"', '"traffic.steady.source.cbr.rate" = "1kb/s"')
        + """
[[assumptions.alternatives]]
value = "light for all"
set-in-table = { "1" = { "traffic.steady.source.cbr.rate" = "800kb/s" } }
"""
    )
    (assumption,) = perhop("study", "run", study, "--json").json()["assumptions"]
    kept, undone = (
        [figure["measured"] for figure in tried["figures"][:2]] for tried in assumption["sensitivity"]
    )
    assert kept == [0, pytest.approx(50, abs=0.5)]
    assert undone == [0, 0]


def test_tables_that_were_not_run_have_no_columns(perhop: Command, study: Path) -> None:
    definition = study / "study.toml"
    text = definition.read_text().replace('tables = ["1"]\n', "")
    definition.write_text(
        text + '[[highlights]]\nlabel = "heavy loss"\ntable = "1"\n'
        'metric = "dropped_percent"\nrows = { load = "heavy" }\n'
    )
    everything = perhop("study", "run", study)
    assert "light loss" in everything.out
    assert "heavy loss" in everything.out
    part = perhop("study", "run", study, "--only", "2")
    assert "With another value of one assumption" in part.out
    assert "loss" not in part.out.partition("With another value")[2].partition("claims that change")[0]


def test_the_folder_and_its_bytes(perhop: Command, study: Path, tmp_path: Path) -> None:
    for name, threads in [("one", "1"), ("two", "2")]:
        ended = perhop("study", "run", study, "-o", name, "--threads", threads, "--quiet")
        assert ended.code == 0, ended.err
    first, second = (files_in(tmp_path / name) for name in ("one", "two"))
    assert first == second
    assert "slow/cases/00 light/classes.parquet" in first
    lines = first["slow/report.md"].decode().splitlines()
    assert "| 1 | light | dropped percent | 0 | 0 ± 0 | % | agrees |" in lines
    assert "| link rate | 4 Mb/s | 0 | half differs |" in lines, "highlight and claim under the alternative"
    report = json.loads(first["slow/study.json"])
    assert "seconds" not in report
    figures = pl.read_parquet(tmp_path / "one" / "slow" / "figures.parquet")
    assert figures["measured"].to_list() == [figure["measured"] for figure in report["figures"]]
    assert leftovers(tmp_path / "one") == []


# Losses of a link of 2 Mb/s: max(0, 1 - capacity / offered).
SWEEP = """
[metrics.lost]
unit = "%"
[sweeps.offered]
1 = { "traffic.steady.source.cbr.rate" = "1Mb/s" }
4 = { "traffic.steady.source.cbr.rate" = "4Mb/s" }
8 = { "traffic.steady.source.cbr.rate" = "8Mb/s" }
[sweeps.capacity]
2 = { "links.1.rate" = "2Mb/s" }
4 = { "links.1.rate" = "4Mb/s" }
[[tables]]
id = "figure-1"
title = "Loss by load"
sweep = { capacity = "all", offered = ["4", "8"] }
curves = ["lost"]
"""


def test_a_sweep_gives_the_curves_of_a_figure(perhop: Command, study: Path, tmp_path: Path) -> None:
    definition = study / "study.toml"
    definition.write_text(STUDY.replace("[[tables]]", SWEEP + "[[tables]]", 1))
    (study / "measures.py").write_text(MEASURES + "\nlost = dropped_percent\n")
    ended = perhop("study", "run", study, "--only", "figure-1", "--no-sensitivity", "--json", "-o", "out")
    assert ended.code == 0, ended.err
    points = ended.json()["curves"]
    assert [point["case"] for point in points] == [
        {"capacity": capacity, "offered": offered} for capacity in ("2", "4") for offered in ("4", "8")
    ]
    assert [point["measured"] for point in points] == pytest.approx([50, 75, 0, 50], abs=0.5)
    assert {point["unit"] for point in points} == {"%"}
    curves = pl.read_parquet(tmp_path / "out" / "slow" / "curves.parquet")
    assert curves["measured"].to_list() == [point["measured"] for point in points]
    report = (tmp_path / "out" / "slow" / "report.md").read_text().splitlines()
    assert "| capacity \\ offered | 4 | 8 |" in report
    shown = perhop("study", "run", study, "--only", "figure-1", "--no-sensitivity")
    assert "lost, %, by offered" in shown.out
    assert "lost at 4 points" in perhop("study", "show", study).out
    for old, new, message in [
        ('curves = ["lost"]\n', "", "figure-1 has neither published figures nor `curves`"),
        ('sweep = { capacity = "all", offered = ["4", "8"] }\n', "", "`ellipses` need a `sweep`"),
        ('offered = ["4", "8"]', 'offered = ["5"]', "has no 5"),
        ("capacity = ", "speed = ", "no [sweeps.speed]"),
        ('unit = "%"', "absolute = 1", "no [metrics.lost] with a unit"),
    ]:
        definition.write_text(STUDY.replace("[[tables]]", SWEEP.replace(old, new) + "[[tables]]", 1))
        refused = perhop("study", "run", study)
        assert refused.code == 2
        assert message in refused.err


def test_several_studies_are_one_document(perhop: Command, study: Path) -> None:
    study.rename(study.with_name("slow2"))
    again = study.with_name("slow2")
    ended = perhop("study", "run", again, again, "--json", "--no-sensitivity", "--replications", "1")
    assert [report["study"] for report in ended.json()["studies"]] == ["slow2", "slow2"]
    assert ended.json()["studies"][0]["figures"][0]["ci95"] is None


def test_several_studies_end_with_one_screen(perhop: Command, study: Path) -> None:
    other = make_study(study.parent / "slow2")
    (other / "claims.py").write_text(JUDGES.replace("measured - 50", "measured - 60"))
    quick = ("--no-sensitivity", "--replications", "1")
    ended = perhop("study", "run", study, other, *quick, "-o", "out")
    assert ended.code == 4, ended.err
    lines = [line.rstrip() for line in ended.out.splitlines()]
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    rows = {line.split()[0]: line.split()[1:-1] for line in lines if line}
    assert [rows[name] for name in ("slow", "slow2", "all")] == [
        ["2/2", "3", "0", "0"],
        ["2/2", "2", "0", "1"],
        ["4/4", "5", "0", "1"],
    ]
    assert "tables  out/STUDY/tables.txt" in lines and "report  out/report.html" in lines
    assert lines[-1].startswith("next    ")
    assert "slow2" in (study.parent / "out" / "report.html").read_text()
    tables = (study.parent / "out" / "slow2" / "tables.txt").read_text()
    shown = perhop("study", "run", study, other, *quick, "--tables").out
    assert "DIFFERS" in tables and tables.splitlines()[-1] in shown
    for line in filter(str.strip, tables.splitlines()):
        assert line in shown, "what --tables prints"
    alone = perhop("study", "run", study, *quick)
    assert "forgot to say" in alone.out and "figures agree" not in alone.out
    assert "figures agree" in perhop("study", "run", study, *quick, "--no-tables").out


def test_a_page_that_perhop_did_not_write_is_not_replaced(perhop: Command, study: Path) -> None:
    other = make_study(study.parent / "slow2")
    page = study.parent / "out" / "report.html"
    page.parent.mkdir()
    page.write_text("mine")
    ended = perhop("study", "run", study, other, "-o", "out")
    assert ended.code == 2 and "was not written by perhop" in ended.err
    assert page.read_text() == "mine" and not (page.parent / "slow").exists()
