// The common parts of the playground and the live views: the palette, elements, the status, the legend.

export const $ = (id) => document.getElementById(id);
export const stored = (id) => JSON.parse($(id).textContent);
export const palette = stored("palette");
const dark = matchMedia("(prefers-color-scheme: dark)");
export const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
export const say = (text) => { $("says").textContent = text; };
export const status = (text, tone = "") => Object.assign($("status"), { textContent: text, className: `status ${tone}` });

export function element(name, text = "", className = "") {
  return Object.assign(document.createElement(name), { textContent: text, className });
}

// The mark of a class, in its color.
export function chip(role) {
  const mark = element("span", "", "mark");
  mark.style.background = palette[role][isDark() ? 1 : 0];
  return mark;
}

export function legend(names, roles) {
  $("legend").replaceChildren(...names.map((name) => {
    const item = element("li");
    item.append(chip(roles[name]), name);
    return item;
  }));
}

// Fills a select with names; each option has its number as value.
export function options(select, names, chosen) {
  select.replaceChildren(...names.map((name, index) => new Option(name.replace("->", " → "), index, false, index === chosen)));
}

export function onTheme(redraw) {
  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  });
  dark.addEventListener("change", redraw);
}

// Returns a function that requests `work` for the next frame. Several requests before this frame call `work`
// once.
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

// Returns a function that calls `work` after `wait` milliseconds without another call.
export function later(work, wait) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
}
