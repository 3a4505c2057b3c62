"""Tuning: found values meet the goals, and have the same results when they are pasted."""

from __future__ import annotations

import errno
import json
import random
import shutil
from pathlib import Path

import polars as pl
import pytest

import perhop as library
from conftest import Command
from perhop import disk
from perhop.engines import named
from perhop.errors import InvalidInputError
from perhop.plot import Points
from perhop.report.tuning import Tuned
from perhop.saved import Saved
from perhop.tuning import Searched, question_of
from perhop.tuning.goal import Goal, parse
from perhop.tuning.sensitivity import shares_of_variance
from perhop.tuning.space import space
from perhop.tuning.starting import starts

STUDIES = Path(__file__).parents[1] / "studies"
RATE = "links.1.rate"
CLASSES = ["af11", "af12", "af13"]
WHOLE = "af11,af12,af13"
SHARES = {"af11": 60.0, "af12": 30.0, "af13": 10.0}
WRED = (
    "routers.cselt.configuration.add=[policy-map wred-out, class prec-only, "
    "random-detect precedence 3 {min} {2*min} {d3}, random-detect precedence 4 {min} {2*min} {d4}, "
    "random-detect precedence 5 {min} {2*min} {d5}]"
)


def shares(classes: pl.DataFrame) -> dict[str, float]:
    """Return each of the three classes' share of the throughput, percent, as a mean over replications."""
    rows = classes.filter(pl.col("class").is_in(CLASSES))
    whole = pl.col("throughput_bps").sum().over("replication")
    parts = rows.with_columns(part=100 * pl.col("throughput_bps") / whole)
    return dict(parts.group_by("class").agg(pl.col("part").mean()).iter_rows())


@pytest.mark.touched
def test_wred_is_tuned_to_shares_and_its_lines_give_them(perhop: Command, tmp_path: Path) -> None:
    """Shares of 60/30/10 are met within 3 points, also by the lines pasted into the configuration."""
    study = tmp_path / "study"
    shutil.copytree(STUDIES / "wred-bottleneck", study)
    goals = [
        part for name, share in SHARES.items() for part in ("--goal", f"{name}.share of {WHOLE} = {share}%")
    ]
    vary = [
        part for parameter in ("min=2:60", "d3=1:20", "d4=1:20", "d5=1:20") for part in ("--vary", parameter)
    ]
    file = study / "bottleneck.perhop.yaml"
    ended = perhop("tune", file, *goals, *vary, "--set", WRED, "--trials", "100", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["met"] and found["best"]["replications"] == 10
    with (study / "router.cfg").open("a") as configuration:
        configuration.write("\n".join(["!", *found["ios"]["cselt"], ""]))
    pasted = shares(library.run(file, seed=found["seed"], replications=10).classes)
    for name, wanted in SHARES.items():
        assert pasted[name] == pytest.approx(wanted, abs=3.0)
        goal = next(goal for goal in found["best"]["goals"] if goal["goal"].startswith(name))
        assert pasted[name] == pytest.approx(goal["mean"], rel=1e-12)


@pytest.mark.parametrize("varied", ["160:600:8", "160:1400"])
def test_the_lowest_rate_found_is_the_lowest_of_all_rates(varied: str) -> None:
    """A trial of all points and a search both end within one step of the lowest sufficient rate."""
    path = "routers.star.configuration.add"
    lines = "[policy-map wan, class ef, bandwidth {rate}]"
    file = STUDIES / "ef-star" / "star.perhop.yaml"
    goals = ["ef.delay_p99 <= 40ms", "rate as small as possible"]
    found = library.tune(file, goals, {"rate": varied}, set={path: lines}, trials=60, replications=4)
    step = 8 if varied.endswith(":8") else 4
    rates = list(range(160, 600, step))
    each = library.sweep(file, {path: [lines.format(rate=rate) for rate in rates]}, replications=4)
    means = each.table(["delay_p99"]).filter(pl.col("class") == "ef").sort("point")["mean"]
    least = next(rate for rate, mean in zip(rates, means, strict=True) if mean <= 0.040)
    assert found.met
    assert abs(int(found.parameters["rate"]) - least) <= step


def tuned(scenario: Path, folder: Path | None = None, **more: object) -> library.Tuning:
    goals = ["random.throughput as large as possible", f"{RATE} as small as possible"]
    values = {RATE: "1Mb/s:4Mb/s"}
    settings = {"trials": 30, "replications": 4, "set": {"duration": "2s"}, "output": folder, **more}
    return library.tune(scenario, goals, values, **settings)  # type: ignore[arg-type]


def test_two_wishes_show_a_front(scenario: Path) -> None:
    """No trial of the front is beaten in both objectives by another."""
    found = tuned(scenario)
    front = found.front.pivot("goal", index="trial", values="mean")
    rows = [(row[1], row[2]) for row in front.iter_rows()]
    assert len(rows) > 3
    for throughput, rate in rows:
        assert not any(a >= throughput and b < rate for a, b in rows if (a, b) != (throughput, rate))
    assert found.front["replications"].unique().to_list() == [4]


class StoppedError(Exception):
    """The exception that interrupts the search."""


def test_an_interrupted_search_continues_to_the_same_bytes(scenario: Path, tmp_path: Path) -> None:
    """Finished trials are not repeated, and the folder equals that of an uninterrupted search."""

    def stop(now: Searched) -> None:
        if now.trials >= 12:
            raise StoppedError

    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    first = tuned(scenario, whole, threads=1)
    with pytest.raises(StoppedError):
        tuned(scenario, pieces, progress=stop)
    kept = [path.name for path in (pieces / "evaluations").glob("*.parquet")]
    assert kept
    assert not (pieces / "result.json").exists()
    again = tuned(scenario, pieces, threads=2)
    assert again.runs == first.runs
    for name in ("result.json", "trials.parquet", "tuning.json", *(f"evaluations/{file}" for file in kept)):
        assert (pieces / name).read_bytes() == (whole / name).read_bytes()


def test_another_start_changes_an_answer_in_one_step(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the search fails before its end, the folder is not damaged, and the search continues from it."""
    folder, alone, start = tmp_path / "tuning", tmp_path / "alone", {RATE: "2.345Mb/s"}
    tuned(scenario, folder, trials=12)
    write = disk.write

    def fail(file: Path, content: bytes | str) -> None:
        if file.name == "trials.parquet":
            raise OSError(errno.ENOSPC, "No space left on device", str(file))
        write(file, content)

    monkeypatch.setattr(disk, "write", fail)
    with pytest.raises(OSError, match="No space"):
        tuned(scenario, folder, trials=12, start=start)
    assert not Saved.open(folder).manifest["complete"]
    monkeypatch.undo()
    for place in (folder, alone):
        tuned(scenario, place, trials=12, start=start)
        assert Saved.open(place).manifest["complete"]
    for name in ("trials.parquet", "best/manifest.json"):
        assert (folder / name).read_bytes() == (alone / name).read_bytes()


# Dask leaves sockets and event loops to the end of the process.
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::DeprecationWarning"
)
@pytest.mark.touched
def test_a_cluster_finds_the_same_values(scenario: Path) -> None:
    """The engine does not change the answer."""
    pytest.importorskip("distributed")
    here, there = tuned(scenario, trials=15), tuned(scenario, trials=15, engine=named("dask", threads=2))
    assert here.to_json() == there.to_json()


def test_the_folder_is_verified_and_kept(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    """The chosen values are saved like other results; other goals do not replace them."""
    folder = tmp_path / "tuning"
    tuned(scenario, folder, trials=12)
    assert "identical" in perhop("verify", folder).out
    other = ("tune", scenario, "--goal", "random.loss <= 1%", "--vary", f"{RATE}=1Mb/s,2Mb/s", "-o", folder)
    ended = perhop(*other)
    assert ended.code == 2 and "has another tuning" in ended.err
    assert perhop(*other, "--force", "-q").code in (0, 4)
    assert (tmp_path / "tuning.old-1").is_dir()


def test_the_report_shows_the_trials_and_the_choice(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    found = tuned(scenario, tmp_path / "found")
    section = Tuned(tmp_path / "found")
    goals = [goal.text for goal in found.question.goals]
    assert [row[0].text for row in section.goals.rows] == goals
    chart, *others = section.charts
    assert not others, "the throughput over the one parameter shows both objectives"
    assert (chart.x.title, chart.y.title) == (f"{RATE} (Mb/s)", f"{goals[0]} (Mb/s)")
    drawn = {mark.name: len(mark.x) for mark in chart.marks if isinstance(mark, Points)}
    assert drawn["front"] == len(found.front_trials)
    assert sum(drawn.values()) == found.trials["trial"].n_unique()
    ended = perhop("report", "found", "-o", "found.html")
    assert ended.code == 0, ended.err
    page = (tmp_path / "found.html").read_text()
    assert '<p class="kicker">Tuning</p>' in page and f"Trial {found.best.number} " in page
    damage = tmp_path / "found" / "result.json"
    damage.write_text(damage.read_text().replace("true", "null", 1) + " ")
    assert perhop("report", "found", "-o", "other.html").code == 2
    assert not (tmp_path / "other.html").exists()


def test_two_goals_are_drawn_in_one_chart(scenario: Path, tmp_path: Path) -> None:
    goals = ["random.throughput as large as possible", "random.delay_mean as small as possible"]
    library.tune(
        scenario, goals, {RATE: "1Mb/s:4Mb/s:1Mb/s"}, set={"duration": "2s"}, output=tmp_path / "found"
    )
    kinds = [(chart.kind, chart.x.label, chart.y.label) for chart in Tuned(tmp_path / "found").charts]
    assert kinds == [("front", *goals), ("tuned", RATE, goals[0]), ("tuned", RATE, goals[1])]


def test_unmet_goals_are_reported(perhop: Command, scenario: Path) -> None:
    """The nearest trial is shown, and the exit code reports the failure."""
    goal = ("--goal", "random.throughput >= 1Gb/s")
    ended = perhop("tune", scenario, *goal, "--vary", f"{RATE}=1Mb/s,2Mb/s", "--set", "duration=2s")
    assert ended.code == 4
    assert f"does not meet every condition: {RATE} = 2Mb/s" in ended.out


def test_trials_that_fail_are_left_out(scenario: Path) -> None:
    """If some values do not fit the scenario, the others are tried; if none fits, an error reports this."""
    goals = ["random.loss as small as possible"]
    found = library.tune(scenario, goals, {RATE: "0b/s,2Mb/s"}, set={"duration": "2s"})
    assert found.parameters == {RATE: "2Mb/s"}
    assert found.to_json()["failed"] == 1
    with pytest.raises(InvalidInputError, match="every trial failed"):
        library.tune(scenario, goals, {"x": "0b/s,1B"}, set={RATE: "{x}"})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vary", f"{RATE}=1Mb/s,2Mb/s"], "there is no goal"),
        (["--goal", "random.loss <= 1%"], "no parameter is varied"),
        (["--goal", "random.loss is low", "--vary", f"{RATE}=1Mb/s,2Mb/s"], "is not a goal"),
        (["--goal", "nobody.loss <= 1%", "--vary", f"{RATE}=1Mb/s,2Mb/s"], "no class `nobody`"),
        (["--goal", "random.los <= 1%", "--vary", f"{RATE}=1Mb/s,2Mb/s"], "did you mean"),
        (["--goal", "random.loss <= 1ms", "--vary", f"{RATE}=1Mb/s,2Mb/s"], "whose unit is %"),
        (["--goal", "random.loss <= 1%", "--vary", f"{RATE}=1Mb/s"], "a single value is not a range"),
        (["--goal", "random.loss <= 1%", "--vary", "links.9.rate=1Mb/s,2Mb/s"], "links"),
        (["--goal", "random.loss <= 1%", "--vary", "n=1,2", "--set", "duration={m}s"], "`{m}` is not varied"),
        (["--goal", "random.loss <= 1%", "--vary", RATE], "--vary: expected PATH=VALUE"),
        (["--goal", "random.loss <= 1%", "--vary", "seed=1,2"], "`seed` cannot be tuned"),
    ],
)
def test_an_invalid_question_is_refused(
    perhop: Command, scenario: Path, arguments: list[str], said: str
) -> None:
    """One clear error is reported before any simulation."""
    ended = perhop("tune", scenario, *arguments)
    assert ended.code == 2
    assert said in ended.err


def test_a_search_begins_with_values_of_formulas() -> None:
    """The first trials have thresholds for 100 ms, the paper's denominators, and the file's values."""
    loaded = library.Scenario.load(STUDIES / "wred-bottleneck" / "bottleneck.perhop.yaml")
    path, _, lines = WRED.partition("=")
    vary = {"min": "2:60", "d3": "1:20", "d4": "1:20", "d5": "1:20", "duration": "10s:100s"}
    goals = ["af11.loss as small as possible"]
    numbers = {"trials": 9, "least": 2, "most": 4, "seed": None}
    asked = question_of(loaded, goals, vary, {path: lines}, **numbers)  # type: ignore[arg-type]
    assert starts(asked) == [{"duration": "70s"}, {"min": "6", "d3": "2", "d4": "5", "d5": "10"}]


def test_goals_are_read() -> None:
    """Conditions, objectives, shares and parameters, in base units."""
    read = [
        parse(text, {RATE: "b/s"}, CLASSES)
        for text in (
            "af11.delay_p99 <= 20ms",
            "af11.throughput = 1Mb/s",
            "af11.share of af11,af12 = 60% within 2%",
            f"{RATE} as small as possible",
        )
    ]
    assert [goal.value for goal in read] == [0.02, 1e6, 60.0, 0.0]
    assert [goal.width for goal in read] == [0.0, 5e4, 2.0, 0.0]
    assert read[2].whole == ("af11", "af12") and read[3].parameter == RATE
    assert read[0].miss(0.03) == pytest.approx(0.5) and read[0].miss(0.01) < 0
    assert read[2].miss(63.0) == pytest.approx(0.5)
    assert Goal.of_json(json.loads(json.dumps(read[2].to_json()))) == read[2]


def test_placeholders_are_filled_and_multiplied() -> None:
    """`{2*min}` is twice the value, and a whole number if the value is a whole number."""
    found = space({"min": "2:9", "rate": "1Mb/s:4Mb/s"}, {"a": "[x {min} {2*min}]", "b": "{0.5*rate}"})
    assert found.changes({"min": "7", "rate": "3Mb/s"}) == {"a": "[x 7 14]", "b": "1.5Mb/s"}


def test_the_correlation_ratio_is_1_for_a_deciding_parameter() -> None:
    """The ratio is 1 for a parameter that determines the result, and about 0 for one without effect."""
    places = [float(number % 6) for number in range(60)]
    assert shares_of_variance(places, [place**2 for place in places], ordered=True) == pytest.approx(1.0)
    noise = [random.Random(number).random() for number in range(60)]
    share = shares_of_variance(places, noise, ordered=True)
    assert share is not None and share < 0.15
    assert shares_of_variance(places[:5], noise[:5], ordered=True) is None


def test_replications_are_not_a_parameter_of_a_sweep(perhop: Command, scenario: Path) -> None:
    """Each point reports its number of replications, which does not identify it."""
    ended = perhop("sweep", scenario, "--set", "replications=2,3")
    assert ended.code == 2
    assert "`replications` cannot be swept" in ended.err
