// The lessons: text, goals that are checked after every run, hints, and the result sheet.
import { checkNumber, plainName, seedOf } from "./hash.js";
import { rate, time } from "./format.js";
import { $, element } from "./page.js";
import { sheetOf } from "./sheet.js";

const STORE = "perhop-lessons", TYPING_MS = 400;

export function measured(value, unit) {
  if (value === null) return "not there";
  if (unit === "b/s") return rate(value);
  if (unit === "s") return time(value);
  return `${Number(value.toPrecision(4))} ${unit}`.trim();
}

export class Lessons {
  // `onOpen` takes the text of a lesson, `onSeed` a seed for the current text.
  constructor(course, version, { onOpen, onSeed, onSheet }) {
    Object.assign(this, { course, version, onOpen, onSeed });
    this.student = "";
    this.current = null;
    this.texts = {};
    this.entries = {};
    this.#load();
    $("course").append(...course.map((lesson) => this.#place(lesson)));
    $("lessons-open").addEventListener("click", () => {
      this.show($("lessons").hidden);
      if (!$("lessons").hidden && !this.current) this.open(this.#first().id);
    });
    $("lesson-again").addEventListener("click", () => this.open(this.current.id, this.current.start));
    $("lesson-next").addEventListener("click", () => this.open(this.#next().id));
    $("lesson-hint").addEventListener("click", () => this.#hint());
    $("sheet").addEventListener("click", () => (this.isNamed ? onSheet(this.sheet()) : this.#ask()));
    $("student").addEventListener("input", ({ target }) => this.#name(target.value));
    $("student").value = this.student;
    this.#mark();
  }

  get isNamed() {
    return plainName(this.student) !== "";
  }
  get seed() {
    return seedOf(this.student);
  }
  get state() {
    return this.current ? { lesson: this.current.id, student: this.student, texts: this.texts, entries: this.entries } : undefined;
  }
  // Restores the state that a link contains. Only the texts are used; they are run and judged again.
  restore(state) {
    const lesson = this.course.find(({ id }) => id === state?.lesson);
    if (!lesson) return this.leave();
    this.student = String(state.student ?? "");
    $("student").value = this.student;
    const texts = (source) => Object.fromEntries(this.course.map(({ id }) => [id, source?.[id]]).filter(([, text]) => text));
    this.texts = texts(state.texts);
    this.entries = Object.fromEntries(Object.entries(texts(state.entries)).filter(([, entry]) => typeof entry.scenario === "string"));
    this.show(true);
    this.#present(lesson);
  }

  show(isShown) {
    $("lessons").hidden = !isShown;
    $("lessons-open").setAttribute("aria-expanded", String(isShown));
  }
  open(id, text) {
    const lesson = this.course.find((known) => known.id === id);
    this.#present(lesson);
    return this.onOpen(text ?? this.texts[id] ?? lesson.start, this.seed);
  }
  // Opens the work of another student, with the seed of that student.
  visit(name, id, text) {
    this.student = name;
    $("student").value = name;
    this.show(true);
    return this.open(id, text);
  }
  // Closes the lesson, because the page shows another text.
  leave() {
    this.current = null;
    $("lesson").hidden = true;
    $("seed").disabled = false;
    this.#mark();
  }

  // Removes the previous verdict, because it is outdated: a run will start, or `why` is the reason why no run
  // can start.
  expect(text, why = "runs …") {
    if (!this.current) return;
    this.texts[this.current.id] = text;
    this.#report(null, why);
  }
  judge(judgment, run) {
    const { id } = this.current;
    const isOwn = run.seed === this.seed;
    const met = judgment.met && isOwn;
    const entry = { lesson: id, met, seed: run.seed, check: checkNumber(run.summary), measured: judgment.goals.map((goal) => goal.measured), scenario: run.text };
    // A goal that was met remains met. A later attempt that does not meet the goal still counts as an
    // attempt.
    if (met || !this.isMet(id)) this.entries[id] = entry;
    this.#save();
    this.#report(judgment, isOwn ? "" : `This run does not have your seed, ${this.seed}.`);
    this.#mark();
    return met;
  }
  isMet(id) {
    return Boolean(this.entries[id]?.met) && this.entries[id].seed === this.seed;
  }
  sheet() {
    const entries = this.course.map(({ id }) => this.entries[id]).filter((entry) => entry?.seed === this.seed);
    return sheetOf(this.student, this.version, entries);
  }

  #first() {
    return this.course.find(({ id }) => !this.isMet(id)) ?? this.course[0];
  }
  #next() {
    return this.course[(this.course.indexOf(this.current) + 1) % this.course.length];
  }
  #ask() {
    $("student").focus();
    $("lesson-says").textContent = "Write your name first: the sheet needs it.";
  }
  #name(name) {
    this.student = name;
    this.#mark();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.#save();
      if (this.current) this.onSeed(this.seed);
    }, TYPING_MS);
  }

  #place(lesson) {
    const item = element("li");
    const button = element("button", String(lesson.number));
    button.type = "button";
    button.dataset.lesson = lesson.id;
    button.title = lesson.title;
    button.addEventListener("click", () => this.open(lesson.id));
    item.append(button);
    return item;
  }
  #mark() {
    const met = this.course.filter(({ id }) => this.isMet(id)).length;
    $("lessons-met").textContent = `${met} of ${this.course.length} met`;
    $("student-seed").textContent = `seed ${this.seed}`;
    for (const button of $("course").querySelectorAll("button")) {
      const lesson = this.course.find(({ id }) => id === button.dataset.lesson);
      const isMet = this.isMet(lesson.id);
      button.className = isMet ? "met" : "";
      button.setAttribute("aria-label", `Lesson ${lesson.number}: ${lesson.title}${isMet ? ", met" : ""}`);
      if (lesson === this.current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
  }
  #present(lesson) {
    this.current = lesson;
    $("lesson").hidden = false;
    $("seed").disabled = true;
    $("lesson-title").textContent = `${lesson.number}. ${lesson.title}`;
    // The HTML is safe, because it was rendered from the Markdown of this page.
    $("lesson-text").innerHTML = lesson.html;
    $("lesson-published").hidden = !lesson.published;
    if (lesson.published) {
      const source = element("cite", lesson.published.source);
      $("lesson-published").replaceChildren(element("b", "Published: "), `${lesson.published.text} `, source);
    }
    $("lesson-hints").replaceChildren();
    $("lesson-hint").hidden = !lesson.hints.length;
    $("lesson-hint").textContent = `Show a hint (1 of ${lesson.hints.length})`;
    const { solution } = lesson;
    $("lesson-solution").hidden = !solution;
    if (solution) {
      const load = element("button", "Copy the solution into the text");
      Object.assign(load, { type: "button", className: "tool" });
      load.addEventListener("click", () => this.open(lesson.id, solution.scenario));
      $("lesson-solution").replaceChildren(element("b", "Solution: "), `${solution.text} `, load);
    }
    this.#report(null, "");
    this.#mark();
  }
  #hint() {
    const shown = $("lesson-hints").children.length;
    const { hints } = this.current;
    const item = element("li");
    item.innerHTML = hints[shown];
    $("lesson-hints").append(item);
    $("lesson-hint").hidden = shown + 1 >= hints.length;
    $("lesson-hint").textContent = `Show a hint (${shown + 2} of ${hints.length})`;
  }

  #report(judgment, why) {
    const { goals, conditions } = this.current;
    const rows = [...goals, ...conditions].map((asked, place) => {
      const found = judgment && [...judgment.goals, ...judgment.conditions][place];
      const item = element("li", "", found ? (found.met ? "good" : "bad") : "");
      const mark = element("b", found ? (found.met ? "met" : "not met") : "–");
      item.append(mark, element("span", asked.text), found ? element("span", measured(found.measured, asked.unit), "measured") : "");
      return item;
    });
    const wrong = (judgment?.changed ?? []).map((path) => {
      const item = element("li", "", "bad");
      item.append(element("b", "changed"), element("code", path), element("span", "must not be changed"));
      return item;
    });
    $("lesson-goals").replaceChildren(...rows, ...wrong);
    const met = judgment?.met && !why;
    $("lesson").dataset.met = judgment ? String(Boolean(met)) : "";
    const next = this.#next();
    $("lesson-says").textContent = why || (!judgment ? "" : met ? `Met. Next: ${next.number}. ${next.title}` : "Not met yet.");
  }

  // The progress is stored for the next visit if the browser allows storage for this page.
  #load() {
    try {
      const { student, texts, entries } = JSON.parse(localStorage.getItem(STORE) ?? "{}");
      Object.assign(this, { student: student ?? "", texts: texts ?? {}, entries: entries ?? {} });
    } catch {
      // Without storage, no progress is kept.
    }
  }
  #save() {
    try {
      localStorage.setItem(STORE, JSON.stringify({ student: this.student, texts: this.texts, entries: this.entries }));
    } catch {
      // Without storage, no progress is kept.
    }
  }
}
