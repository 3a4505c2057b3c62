"""The lessons: the start does not meet a goal, the solution does, for any student; sheets are run again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import perhop
from perhop import _core, lessons
from perhop.errors import InvalidInputError, UnknownNameError
from perhop.lessons.definition import read_lesson, resolved

COURSE = lessons.course()
# Names of some length and some alphabets, as teachers see them.
STUDENTS = ("Ada Lovelace", "Grace Hopper", "Иван Петров", "李四", "a", "Zoë  Müller")
each = pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.id)


def run(text: str, seed: int) -> tuple[str, str]:
    """The resolved scenario in a text, and the summary of its run."""
    scenario = lessons.read_scenario(text)
    loaded = _core.load_json(scenario.to_json(), scenario.base, [])
    running = _core.start(loaded.embedded, loaded.base, seed, 1, 1)
    while not running.wait(10.0):
        pass
    return resolved(scenario), running.result()[0]


def test_all_lessons_are_found_by_name() -> None:
    assert [lesson.number for lesson in COURSE] == list(range(1, 14))
    assert len({lesson.id for lesson in COURSE}) == 13
    assert perhop.lesson("rio") is COURSE[5]
    with pytest.raises(UnknownNameError, match="there is no lesson `fifa`") as raised:
        perhop.lesson("fifa")
    assert raised.value.help == "did you mean `fifo`?"


@each
def test_a_lesson_is_unmet_at_the_start_and_met_by_its_solution_for_any_student(
    lesson: lessons.Lesson,
) -> None:
    for name in STUDENTS:
        seed = lessons.seed_of(name)
        start = lesson.judge(seed, *run(lesson.start, seed))
        assert not start.met and start.changed == (), (name, str(start))
        assert not all(goal.met for goal in start.goals), "the start is not a solution"
        solved = lesson.judge(seed, *run(lesson.solution.scenario, seed))
        assert solved.met, (name, str(solved))


@each
def test_students_see_different_figures(lesson: lessons.Lesson) -> None:
    summaries = {run(lesson.start, lessons.seed_of(name))[1] for name in STUDENTS[:3]}
    assert len(summaries) == 3


@each
def test_a_lesson_is_short_and_does_not_reveal_its_solution(lesson: lessons.Lesson) -> None:
    assert 1 <= len(lesson.hints) <= 4
    assert len(lesson.text.split()) < 200, "what is read before anything is tried is short"
    # Text and hints do not name parts that are only in the solution.
    assert lesson.solution.text not in lesson.text
    assert lesson.solution.scenario != lesson.start
    # The scenario runs unchanged, with its implicit defaults.
    assert lesson.scenario()["perhop"] == 1


def test_results_are_judged_in_python() -> None:
    lesson = perhop.lesson("fifo")
    scenario = lesson.scenario()
    limit = "policies.uplink.queueing.classes.all.buffer.tail-drop.limit"
    check = lesson.check(scenario.set(limit, "12 packets").run(seed=7))
    assert check.met and check.seed == 7
    assert str(check).startswith("1. One queue for all, seed 7: met\nmet      voice.delay_p99 <= 80ms: 6")
    # A faster line is not a solution.
    check = lesson.check(scenario.set("links.1.rate", "5Mb/s").run(seed=7))
    assert all(goal.met for goal in check.goals) and not check.met
    assert check.changed == ("links.1.rate",)
    assert "must not be changed: links.1.rate" in str(check)
    html = check._repr_html_()
    assert "<code>links.1.rate</code>" in html and "✓" in html


def test_conditions_on_the_scenario_are_checked() -> None:
    lesson = perhop.lesson("priority")
    wide = lesson.solution.scenario.replace("rate: 256kb/s", "rate: 300kb/s")
    check = lesson.judge(1, *run(wide, 1))
    assert all(goal.met for goal in check.goals) and not check.met
    (condition,) = check.conditions
    assert (condition.met, condition.measured, condition.words) == (False, 300e3, "300 kb/s")
    # A name with a pattern selects all matching members; at least one must exist.
    lesson = perhop.lesson("branch")
    without = lesson.solution.scenario.replace("priority 256", "bandwidth 256")
    (police, ring) = lesson.judge(1, *run(without, 1)).conditions
    assert (police.met, police.words, ring.met) == (False, "not there", True)


@pytest.mark.parametrize(
    ("lesson", "replacement"),
    [
        ("wfq", ("scheduler: wrr", "scheduler: scfq")),
        ("wfq", ("scheduler: wrr", "scheduler: wf2q-plus")),
        ("aqm", ("tail-drop: { limit: 300 packets }", "fq-codel: { law: linux }")),
        ("ecn", ("codel: { ecn: mark }", "fq-codel: {}")),
        ("ecn", ("codel: { ecn: mark }", "dualpi2: {}")),
        ("branch", ("fair-queue", "queue-limit 32 packets")),
    ],
)
def test_other_answers_count_as_well(lesson: str, replacement: tuple[str, str]) -> None:
    found = perhop.lesson(lesson)
    old, new = replacement
    text = found.solution.scenario if old in found.solution.scenario else found.start
    assert old in text
    seed = lessons.seed_of("Ada Lovelace")
    assert found.judge(seed, *run(text.replace(old, new), seed)).met


def test_a_scalable_sender_waits_for_a_millisecond_as_in_the_lesson_on_ecn() -> None:
    lesson, seed = perhop.lesson("ecn"), lessons.seed_of("Ada Lovelace")
    cubic = lesson.solution.scenario.replace("codel: { ecn: mark }", "dualpi2: {}")
    head, bulk, rest = cubic.rpartition("profile: linux-modern, ecn: true")
    prague = f"{head}{bulk.replace('linux-modern', 'linux-6')}, congestion: prague{rest}"
    delays = []
    for text in (cubic, prague):
        assert lesson.judge(seed, *run(text, seed)).met
        rows = json.loads(run(text, seed)[1])["classes"]
        delays += [row["delay_mean_s"]["mean"] for row in rows if row["class"] == "bulk"]
    assert delays == [pytest.approx(0.039, abs=0.001), pytest.approx(0.0245, abs=0.0005)]


@pytest.mark.parametrize(
    ("lesson", "replacement", "unmet"),
    [
        ("fifo", ("limit: 12 packets", "limit: 3 packets"), "upload.throughput"),
        ("fifo", ("limit: 12 packets", "limit: 20 packets"), "voice.delay_p99"),
        ("priority", (", destination-port: 16384-32767", ""), "voice.loss"),
        ("token-bucket", ("burst: 19kB", "burst: 16kB"), "camera.loss"),
        ("rio", ("rio-c:", "rio-dc:"), "green.delay_p99"),
        ("ring", ("packets: 2 ", "packets: 3 "), "voice.delay_p99"),
        ("aqm", ("fq-codel: { flows: 16384 }", "codel: {}"), "call.loss"),
        ("ecn", ("codel: { ecn: mark }", "codel: {}"), "requests.timeouts"),
        ("branch", ("tx-ring-limit 2", "tx-ring-limit 16"), "voice.delay_p99"),
    ],
)
def test_a_partial_answer_is_not_accepted(lesson: str, replacement: tuple[str, str], unmet: str) -> None:
    found = perhop.lesson(lesson)
    old, new = replacement
    assert found.solution.scenario.count(old) == 1
    seed = lessons.seed_of("Grace Hopper")
    check = found.judge(seed, *run(found.solution.scenario.replace(old, new), seed))
    assert not check.met
    assert unmet in [goal.text.partition(" ")[0] for goal in check.goals if not goal.met]


def test_seeds_follow_from_names() -> None:
    assert lessons.seed_of("Ada Lovelace") == lessons.seed_of("  Ada\tLovelace ")
    assert lessons.seed_of("Zoë") == lessons.seed_of("Zoe\u0308"), "composed or not"
    seeds = {lessons.seed_of(f"Student {number}") for number in range(300)}
    assert len(seeds) > 295 and all(1 <= seed <= 1_000_000 for seed in seeds)
    # The test vectors of FNV-1a: the empty text has the offset basis; then "a" and "foobar".
    assert [lessons.check_number(text) for text in ("", "a", "foobar")] == [
        "811c9dc5",
        "e40c292c",
        "bf9cf968",
    ]


def sheet(tmp_path: Path, **changes: object) -> Path:
    lesson, name = perhop.lesson("rio"), "Ada Lovelace"
    seed = lessons.seed_of(name)
    _, summary = run(lesson.solution.scenario, seed)
    entry = {
        "lesson": "rio",
        "met": True,
        "seed": seed,
        "check": lessons.check_number(summary),
        "scenario": lesson.solution.scenario,
    }
    found = {"perhop-sheet": 1, "perhop": perhop.__version__, "name": name, "lessons": [{**entry, **changes}]}
    file = tmp_path / "sheet.json"
    file.write_text(json.dumps(found), encoding="utf-8")
    return file


def test_a_sheet_is_run_again(tmp_path: Path) -> None:
    def verified(**changes: object) -> lessons.Verified:
        (found,) = lessons.verify(lessons.read_sheet(sheet(tmp_path, **changes)))
        return found

    assert (verified().met, verified().same) == (True, True)
    assert verified(check="00000000").same is False
    start = verified(scenario=perhop.lesson("rio").start)
    assert (start.met, start.same) == (False, False), "what a sheet says counts for nothing"
    broken = verified(scenario="perhop: 1\n")
    assert (broken.met, broken.same) == (False, False) and "missing" in broken.error
    # Another student's seed gives a different run.
    assert verified(seed=1).same is False


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"perhop-sheet": 2}', '{"perhop-sheet": 1, "lessons": [{}]}']
)
def test_an_invalid_sheet_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "sheet.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"sheet\.json"):
        lessons.read_sheet(file)


def test_a_wrong_lesson_is_refused() -> None:
    text = (Path(lessons.__file__).parent / "files" / "01-fifo.yaml").read_text(encoding="utf-8")
    assert read_lesson(text, 1, "x").id == "fifo"
    for old, new, words in (
        ("title:", "titel:", "`titel` is not a key of a lesson"),
        ("change:", "# ", "`change` is missing"),
        ('find: "limit: 100 packets"', 'find: "limit: 101 packets"', "occurs 0 times in the scenario"),
        ("voice.delay_p99 <= 80ms", "voice.delay_p98 <= 80ms", "there is no quantity `delay_p98`"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            read_lesson(text.replace(old, new), 1, "x")
    for conditions, words in (
        ("{the rate: links.0.rate}", "is not a condition"),
        ("[links.0.rate]", "`conditions` is not a mapping"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            read_lesson(f"{text}conditions: {conditions}\n", 1, "x")
    for wrong in ("[", "[]"):
        with pytest.raises(InvalidInputError, match="x "):
            read_lesson(wrong, 1, "x")
    assert replace(perhop.lesson("fifo"), number=3).number == 3
