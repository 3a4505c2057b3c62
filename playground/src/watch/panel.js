// What every live view has: what it says of itself, a legend, a table of counters.
import { count } from "../format.js";

const $ = (id) => document.getElementById(id);
export const stored = (id) => JSON.parse($(id).textContent);
export const palette = stored("palette");
const dark = matchMedia("(prefers-color-scheme: dark)");
export const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
export const say = (text) => { $("says").textContent = text; };
export const status = (text, tone = "") => Object.assign($("status"), { textContent: text, className: `status ${tone}` });

export function chip(role) {
  const mark = document.createElement("span");
  mark.className = "mark";
  mark.style.background = palette[role][isDark() ? 1 : 0];
  return mark;
}

export function legend(names, roles) {
  $("legend").replaceChildren(...names.map((name) => {
    const item = document.createElement("li");
    item.append(chip(roles[name]), name);
    return item;
  }));
}

export function options(select, names, chosen) {
  select.replaceChildren(...names.map((name, index) => new Option(name.replace("->", " → "), index, false, index === chosen)));
}

// Rows of a name and numbers, exact as they were counted.
export function counters(columns, rows) {
  const cell = (tag, text, isNumber) => Object.assign(document.createElement(tag), { textContent: text, className: isNumber ? "n" : "k" });
  const head = document.createElement("tr");
  head.append(...columns.map((name, place) => cell("th", name, place > 0)));
  const body = rows.map(([name, ...numbers]) => {
    const row = document.createElement("tr");
    row.append(cell("td", name, false), ...numbers.map((one) => cell("td", typeof one === "number" ? count(one) : one, true)));
    return row;
  });
  $("counters").replaceChildren(head, ...body);
}

// What did not get here, because more was told than was taken.
export function leftOut(number) {
  $("left-out").hidden = number === 0;
  $("left-out").textContent = `${count(number)} ${number === 1 ? "picture" : "pictures"} left out: this page or the run was busier than the view. Counters are complete.`;
}

export function onTheme(redraw) {
  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  });
  dark.addEventListener("change", redraw);
}

// Draws with the next frame, however often it is asked for.
export function soon(work) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      work();
    });
  };
}
