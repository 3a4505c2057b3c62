// The teacher's part of the page: result sheets as a table. The page runs each entry again.
import { checkNumber, seedOf } from "./hash.js";
import { $, element } from "./page.js";
import { save } from "./saving.js";
import { csvOf, readSheet } from "./sheet.js";

const WORDS = { claimed: "claimed met", open: "not met", verified: "met", differs: "met, but another run", wrong: "is not met" };

export class Teacher {
  constructor(lessons, client, { onEnd }) {
    Object.assign(this, { lessons, client, onEnd, sheets: [] });
    $("sheets").addEventListener("change", ({ target }) => this.#read([...target.files]));
    $("sheets-verify").addEventListener("click", () => this.#verify());
    $("sheets-csv").addEventListener("click", () => save("lessons.csv", this.#csv(), "text/csv"));
    this.#draw();
  }

  async #read(files) {
    const wrong = [];
    for (const file of files) {
      try {
        const sheet = readSheet(await file.text(), this.lessons.course.map(({ id }) => id));
        const states = Object.fromEntries(sheet.entries.map((entry) => [entry.lesson, entry.met === true ? "claimed" : "open"]));
        this.sheets = [...this.sheets.filter(({ name }) => name !== sheet.name), { ...sheet, states }];
      } catch (error) {
        wrong.push(`${file.name}: ${error.message}`);
      }
    }
    $("sheets-says").textContent = wrong.join("; ");
    this.sheets.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#draw();
  }

  // Runs every scenario again with the seed of its student's name, because results in a sheet cannot be trusted.
  async #verify() {
    $("sheets-verify").disabled = true;
    for (const sheet of this.sheets) {
      for (const entry of sheet.entries) {
        $("sheets-says").textContent = `${sheet.name}, ${entry.lesson} …`;
        sheet.states[entry.lesson] = await this.#state(entry, seedOf(sheet.name));
        this.#draw();
      }
    }
    const met = this.sheets.flatMap(({ states }) => Object.values(states)).filter((state) => state === "verified").length;
    $("sheets-says").textContent = `All answers were run again; ${met} meet their goals.`;
    $("sheets-verify").disabled = false;
    document.documentElement.dataset.verified = String(met);
    this.onEnd();
  }
  async #state({ lesson: id, scenario, met, seed, check }, own) {
    const lesson = this.lessons.course.find((known) => known.id === id);
    try {
      const ended = await this.client.run({ text: scenario, seed: own, intervals: 1 }, () => {});
      if (!ended) return met === true ? "claimed" : "open";
      const { value } = await this.client.ask({ ask: "judge", exercise: lesson.asked, start: lesson.start, text: scenario });
      if (!value.met) return met === true ? "wrong" : "open";
      return seed === own && check === checkNumber(ended.value.summary) ? "verified" : "differs";
    } catch {
      return met === true ? "wrong" : "open";
    }
  }

  #draw() {
    const { course } = this.lessons;
    const head = element("tr");
    head.append(element("th", "Name"), ...course.map(({ number, title }) => Object.assign(element("th", String(number)), { title })));
    const rows = this.sheets.map((sheet) => {
      const row = element("tr");
      row.append(Object.assign(element("th", sheet.name), { scope: "row" }), ...course.map((lesson) => this.#cell(sheet, lesson)));
      return row;
    });
    $("sheets-table").tHead.replaceChildren(head);
    $("sheets-table").tBodies[0].replaceChildren(...rows);
    $("sheets-table").hidden = !rows.length;
    $("sheets-verify").disabled = $("sheets-csv").disabled = !rows.length;
  }
  #cell({ name, entries, states }, lesson) {
    const entry = entries.find((answer) => answer.lesson === lesson.id);
    const cell = element("td", "", entry ? states[lesson.id] : "");
    if (!entry) return cell;
    const open = element("button", WORDS[states[lesson.id]]);
    open.type = "button";
    open.title = `Open the answer of ${name} to lesson ${lesson.number}`;
    open.addEventListener("click", () => this.lessons.visit(name, lesson.id, entry.scenario));
    cell.append(open);
    return cell;
  }
  #csv() {
    const { course } = this.lessons;
    const rows = this.sheets.map(({ name, states }) => [name, seedOf(name), ...course.map(({ id }) => (states[id] ? WORDS[states[id]] : ""))]);
    return csvOf([["name", "seed", ...course.map(({ id }) => id)], ...rows]);
  }
}
