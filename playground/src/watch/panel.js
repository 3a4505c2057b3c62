// The common parts of live views: a table of counters, and the number of omitted pictures.
import { $, element } from "../page.js";
import { count } from "../format.js";

// Returns a table whose rows have a name and exact counts.
export function counters(columns, rows) {
  const head = element("tr");
  head.append(...columns.map((name, place) => Object.assign(element("th", name, place ? "n" : "k"), { scope: "col" })));
  const body = rows.map(([name, ...numbers]) => {
    const row = element("tr");
    row.append(Object.assign(element("th", name, "k"), { scope: "row" }));
    row.append(...numbers.map((value) => element("td", typeof value === "number" ? count(value) : value, "n")));
    return row;
  });
  $("counters").replaceChildren(head, ...body);
}

// Shows the number of frames that were omitted because the page or the run was too busy.
export function leftOut(number) {
  $("left-out").hidden = number === 0;
  $("left-out").textContent = `${count(number)} ${number === 1 ? "frame" : "frames"} omitted: this page or the run was too busy. Counters are complete.`;
}
