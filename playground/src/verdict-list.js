// The verdicts on a page: a colored line for each class, with the rest behind it.
import { $, chip, element } from "./page.js";
import { shortened } from "./short.js";

// Names have about this many letters on the line; the details have the whole name.
const NAME_LETTERS = 18;

// Shows the verdicts. `sure` returns the guarantee of a class; `earlier` has the verdicts of the previous run.
export function showVerdicts(shown, roles, { sure = () => "", earlier = [] } = {}) {
  const open = new Set([...$("verdicts").querySelectorAll("details[open]")].map((one) => one.dataset.class));
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
    // If there is not enough room, the remark is cut and not the line before it.
    if (aside) head.append(" ", element("span", aside, "aside"));
    rest.append(head);
    if (labels[place] !== name) rest.append(element("p", name, "whole"));
    rest.append(element("p", `${more.join("; ")}.`));
    const guaranteed = sure(name);
    if (guaranteed) rest.append(element("small", guaranteed, "sure"));
    const old = earlier.find((one) => one.name === name);
    if (old && old.more.join() !== more.join()) rest.append(element("small", `before: ${old.line}; ${old.more.join("; ")}`, "was"));
    item.append(rest);
    return item;
  }));
}
