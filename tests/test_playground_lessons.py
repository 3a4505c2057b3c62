"""The lessons in the playground: all thirteen can be solved with the page; teachers check sheets."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import perhop.playground
from chromium import needs_axe, screenshot, serious_barriers
from conftest import Command
from perhop import lessons
from playground import Page, needs_page, needs_playground, page

# A build of the whole engine for WebAssembly, and minutes in a browser: `make test-playground` runs them.
pytestmark = pytest.mark.touched

COURSE = lessons.course()
STUDENT = "Ada Lovelace"
HOSTILE = "<img src=x onerror=globalThis.broken=1>"


@pytest.fixture(scope="module")
def students(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("students") / "page.html"
    file.write_text(perhop.playground.page(), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def teachers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("teachers") / "page.html"
    file.write_text(perhop.playground.page("teachers"), encoding="utf-8")
    return file


def begin(here: Page, name: str = STUDENT) -> None:
    """Open the lessons and write a name, as a student does."""
    known = here.runs()
    here.tab.click("#lessons-open")
    here.after(known)
    known = here.runs()
    here.tab.locator("#student").press_sequentially(name)
    here.after(known)


def choose(here: Page, lesson: str) -> None:
    known = here.runs()
    here.tab.click(f"#course [data-lesson={lesson}]")
    here.after(known)


def is_met(here: Page) -> bool:
    return here.tab.locator("#lesson").get_attribute("data-met") == "true"


def exported_sheet(here: Page) -> bytes:
    with here.tab.expect_download() as download:
        here.tab.click("#sheet")
    return Path(download.value.path()).read_bytes()


@needs_page
def test_all_are_solved_with_the_page_alone(students: Path, teachers: Path, tmp_path: Path) -> None:
    with page(students) as here:
        begin(here)
        seed = lessons.seed_of(STUDENT)
        assert here.text("student-seed") == f"seed {seed}"
        for lesson in COURSE:
            choose(here, lesson.id)
            assert here.text("lesson-title") == f"{lesson.number}. {lesson.title}"
            assert not is_met(here) and here.tab.locator("#lesson-goals .bad").count() > 0, lesson.id
            assert here.tab.locator("#seed").input_value() == str(seed)
            here.write(lesson.solution.scenario)
            assert is_met(here), (lesson.id, here.text("lesson-goals"))
            assert here.tab.locator("#lesson-goals .good").count() == len(
                (*lesson.asked.goals, *lesson.asked.conditions)
            )
        assert here.text("lessons-met") == f"{len(COURSE)} of {len(COURSE)} met"
        screenshot(here.tab, "lessons-met")
        file = tmp_path / "sheet.json"
        file.write_bytes(exported_sheet(here))
    # The page and Python compute the same verdicts, from runs with the same bytes.
    sheet = lessons.read_sheet(file)
    assert sheet.name == STUDENT and len(sheet.entries) == len(COURSE)
    found = lessons.verify(sheet)
    assert all(verified.met and verified.same for verified in found), [
        verified.entry.lesson.id for verified in found if not verified.same
    ]
    # The teacher's page computes the same verdicts, and detects a student who copies the text without its
    # seed.
    other = json.loads(file.read_bytes())
    other["name"] = "Charles Babbage"
    other["lessons"][3]["scenario"] = COURSE[3].start
    copied = tmp_path / "copied.json"
    copied.write_text(json.dumps(other), encoding="utf-8")
    with page(teachers) as here:
        here.tab.click("#lessons-open")
        here.tab.set_input_files("#sheets", [file, copied])
        here.tab.locator("#sheets-table .claimed").nth(2 * len(COURSE) - 1).wait_for()
        assert here.tab.locator("#sheets-table .claimed").count() == 2 * len(COURSE)
        here.tab.click("#sheets-verify")
        here.tab.locator("html[data-verified]").wait_for(timeout=120_000)
        assert here.tab.evaluate("document.documentElement.dataset.verified") == str(len(COURSE))
        with here.tab.expect_download() as download:
            here.tab.click("#sheets-csv")
        rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
        screenshot(here.tab, "lessons-teacher")
        known = here.runs()
        here.tab.click("#sheets-table tbody tr:nth-child(2) td:nth-of-type(4) button")
        here.after(known)
        assert here.tab.locator("#student").input_value() == "Charles Babbage"
        assert here.text("lesson-title").startswith("4. ") and not is_met(here)
    assert rows[0] == ["name", "seed", *(lesson.id for lesson in COURSE)]
    assert rows[1] == [STUDENT, str(seed), *["met"] * len(COURSE)]
    different = ["met, but another run"] * len(COURSE)
    different[3] = "is not met"
    assert rows[2] == ["Charles Babbage", str(lessons.seed_of("Charles Babbage")), *different]


@needs_page
@pytest.mark.parametrize("name", [lesson.id for lesson in COURSE])
def test_the_page_and_python_give_the_same_verdicts(students: Path, name: str) -> None:
    lesson = lessons.lesson(name)
    with page(students) as here:
        begin(here, "Zoë  Müller")
        seed = lessons.seed_of("Zoë Müller")
        choose(here, lesson.id)
        # The start, the solution, and a change that is not allowed.
        solution = lesson.solution.scenario
        rate = next(rate for rate in ("rate: 100Mb/s", "rate: 10Gb/s") if rate in solution)
        faster = solution.replace(rate, rate.replace("rate: 10", "rate: 11"), 1)
        for text in (lesson.start, solution, faster):
            here.write(f"{text}\n")
            results = lessons.read_scenario(text).run(seed=seed, replications=1)
            check = lesson.check(results)
            shown = here.tab.locator("#lesson-goals li b").all_inner_texts()
            words = ["met" if judged.met else "not met" for judged in (*check.goals, *check.conditions)]
            assert shown == [*words, *["changed"] * len(check.changed)]
            assert is_met(here) == check.met
        assert check.changed in (("links.0.rate",), ("links.1.rate",)) and not check.met


@needs_page
def test_a_lesson_is_met_by_moving_a_slider(students: Path) -> None:
    with page(students) as here:
        begin(here)
        slider = "policies.uplink.queueing.classes.0.buffer.tail-drop.limit"
        # The first fifth of its hundred places covers values up to a quarter of the current value.
        here.slide(slider, 5)
        assert is_met(here), here.text("lesson-goals")
        here.slide(slider, 60)
        assert not is_met(here)
        assert here.text("lessons-met") == f"1 of {len(COURSE)} met", "what was met stays so"
        known = here.runs()
        here.tab.click("#lesson-again")
        here.after(known)
        assert "limit: 100 packets" in here.exported("scenario").decode()


@needs_page
def test_hints_come_one_by_one_and_solutions_never(students: Path) -> None:
    source = students.read_text(encoding="utf-8")
    for lesson in COURSE:
        assert lesson.solution.text[:60] not in source
        data = json.dumps(lesson.solution.scenario)[1:-1]
        assert data not in source
    with page(students) as here:
        begin(here)
        for shown in range(1, len(COURSE[0].hints) + 1):
            here.tab.click("#lesson-hint")
            assert here.tab.locator("#lesson-hints li").count() == shown
        assert here.tab.locator("#lesson-hint").is_hidden()
        assert here.tab.locator("#teacher").count() == 0
        assert here.tab.locator("#lesson-solution").is_hidden()


@needs_page
def test_the_teacher_sees_solutions(teachers: Path) -> None:
    with page(teachers) as here:
        begin(here)
        known = here.runs()
        here.tab.click("#lesson-solution button")
        here.after(known)
        assert is_met(here)
        # A file that is not a sheet is refused, and the sheets remain.
        wrong = {"name": "x.json", "mimeType": "application/json", "buffer": b"{}"}
        here.tab.set_input_files("#sheets", [wrong])
        here.tab.wait_for_timeout(200)
        assert "x.json: it is not a result sheet" in here.text("sheets-says")


@needs_page
def test_a_link_restores_the_work(students: Path) -> None:
    with page(students) as here:
        begin(here)
        choose(here, "ring")
        here.write(COURSE[7].solution.scenario)
        choose(here, "rio")
        here.tab.click("#share")
        here.tab.wait_for_timeout(300)
        fragment = here.tab.evaluate("location.hash")
    with page(students, fragment=fragment) as here:
        assert here.text("lesson-title").startswith("6. ")
        assert here.tab.locator("#student").input_value() == STUDENT
        assert here.text("lessons-met") == f"1 of {len(COURSE)} met"
        choose(here, "ring")
        assert is_met(here)


@needs_page
def test_another_name_has_another_seed_and_its_own_results(students: Path) -> None:
    with page(students) as here:
        begin(here)
        here.write(COURSE[0].solution.scenario)
        assert here.text("lessons-met") == f"1 of {len(COURSE)} met"
        known = here.runs()
        here.tab.locator("#student").fill("Grace Hopper")
        here.after(known)
        assert is_met(here), "it is run again"
        assert here.text("student-seed") == f"seed {lessons.seed_of('Grace Hopper')}"
        here.tab.locator("#student").fill("")
        here.tab.click("#sheet")
        assert "Write your name first" in here.text("lesson-says")
        # An example is not a lesson.
        known = here.runs()
        here.tab.select_option("#examples", "2")
        here.after(known)
        assert here.tab.locator("#lesson").is_hidden()
        assert here.tab.locator("#seed").is_enabled()


@needs_page
def test_scenarios_that_cannot_run_are_reported(students: Path) -> None:
    with page(students) as here:
        begin(here)
        here.type("perhop: 1\n")
        here.tab.locator("#diagnostics .error").first.wait_for()
        assert "cannot be run yet" in here.text("lesson-says")
        known = here.runs()
        here.type("hostname r\n!\ninterface Serial0/0\n ip address 10.0.0.1 255.255.255.0\n!\nend\n")
        here.after(known)
        assert "not with a router configuration" in here.text("lesson-says")


@needs_page
def test_hostile_names_stay_text(students: Path, teachers: Path, tmp_path: Path) -> None:
    with page(students) as here:
        begin(here, HOSTILE)
        here.write(COURSE[0].start.replace("name: sensors", f"name: '{HOSTILE}'"))
        assert here.tab.locator("#lesson-goals li").count() == 3
        file = tmp_path / "sheet.json"
        found = json.loads(exported_sheet(here))
    assert found["name"] == HOSTILE
    found["lessons"][0]["scenario"] = HOSTILE
    found["name"] = f"=1+1 {HOSTILE}"
    file.write_text(json.dumps(found), encoding="utf-8")
    with page(teachers) as here:
        here.tab.click("#lessons-open")
        here.tab.set_input_files("#sheets", [file])
        here.tab.click("#sheets-verify")
        here.tab.locator("html[data-verified]").wait_for()
        assert HOSTILE in here.text("sheets-table")
        with here.tab.expect_download() as download:
            here.tab.click("#sheets-csv")
        assert Path(download.value.path()).read_text(encoding="utf-8").splitlines()[1].startswith("'=1+1")
        assert here.tab.evaluate("globalThis.broken") is None
        assert here.tab.locator("main img").count() == 0


@needs_page
@needs_axe
@pytest.mark.parametrize(
    ("width", "scheme"), [(1400, "dark"), (1000, "light"), (390, "dark"), (390, "light")]
)
def test_lessons_fit_any_screen_without_serious_barriers(teachers: Path, width: int, scheme: str) -> None:
    sheet = json.dumps({"perhop-sheet": 1, "perhop": "0", "name": STUDENT, "lessons": []}).encode()
    with page(teachers, width=width, height=850, scheme=scheme) as here:
        begin(here)
        here.tab.click("#lesson-hint")
        here.tab.set_input_files(
            "#sheets", [{"name": "a.json", "mimeType": "application/json", "buffer": sheet}]
        )
        here.tab.wait_for_timeout(300)
        assert here.tab.evaluate("document.documentElement.scrollWidth") <= width
        screenshot(here.tab, f"lessons-{width}-{scheme}")
        assert serious_barriers(here.tab) == []


@needs_page
def test_a_lesson_is_usable_with_the_keyboard(students: Path) -> None:
    with page(students) as here:
        keys, known = here.tab.keyboard, here.runs()
        here.tab.locator("#lessons-open").focus()
        keys.press("Enter")
        here.after(known)
        for _ in range(40):
            keys.press("Tab")
            if here.tab.evaluate("document.activeElement.dataset.lesson ?? ''") == "ring":
                break
        else:
            pytest.fail("the lesson is not reached")
        known = here.runs()
        keys.press("Enter")
        here.after(known)
        assert here.text("lesson-title").startswith("8. ")
        for _ in range(8):
            keys.press("Tab")
            if here.tab.evaluate("document.activeElement.id") == "lesson-hint":
                break
        else:
            pytest.fail("the hints are not reached")
        keys.press("Enter")
        assert here.tab.locator("#lesson-hints li").count() == 1


@needs_playground
def test_the_command_writes_the_teachers_page(perhop: Command, students: Path, tmp_path: Path) -> None:
    ended = perhop("playground", "--teacher", "-o", "teacher.html")
    assert (ended.code, ended.out) == (0, "")
    text = (tmp_path / "teacher.html").read_text(encoding="utf-8")
    assert 'id="teacher"' in text and COURSE[0].solution.text[:60] in text
    # The common page, which is below 4 MB, and the solutions.
    assert len(text.encode()) - students.stat().st_size < 20_000
