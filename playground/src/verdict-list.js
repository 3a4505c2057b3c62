// The verdicts on a page: a colored line for each class, which expands to the details.
import { $, chip, element } from "./page.js";
import { shortened } from "./short.js";

// The approximate number of letters of a name on the line. The details have the whole name.
const NAME_LETTERS = 18;

// Shows the verdicts. `sure` returns the text about the guarantee of a class; `earlier` has the verdicts of
// the previous run.
export function showVerdicts(shown, roles, { sure = () => "", earlier = [] } = {}) {
  const open = new Set([...$("verdicts").querySelectorAll("details[open]")].map((details) => details.dataset.class));
  const labels = shortened(shown.map(({ name }) => name), (text) => text.length <= NAME_LETTERS);
  $("verdicts").replaceChildren(...shown.map((verdict, place) => {
    const { name, tone, line, aside, more } = verdict;
    const item = element("li", "", tone);
    const rest = element("details");
    rest.dataset.class = name;
    rest.open = open.has(name);
    const head = element("summary");
    const label = element("b", labels[place]);
    label.prepend(chip(roles[name] ?? "queue"));
    head.append(label, " ", element("span", line, "line"));
    // If the line is too long, the remark is cut, and the text before it is complete.
    if (aside) head.append(" ", element("span", aside, "aside"));
    rest.append(head);
    if (labels[place] !== name) rest.append(element("p", name, "whole"));
    rest.append(element("p", `${more.join("; ")}.`));
    const guaranteed = sure(name);
    if (guaranteed) rest.append(element("small", guaranteed, "sure"));
    const old = earlier.find((verdict) => verdict.name === name);
    if (old && old.more.join() !== more.join()) rest.append(element("small", `before: ${old.line}; ${old.more.join("; ")}`, "was"));
    item.append(rest);
    return item;
  }));
}
