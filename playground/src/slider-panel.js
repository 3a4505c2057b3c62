// Sliders for the numbers of the text, and for the loads of a router's classes.
import { digits, rate } from "./format.js";
import { $, element } from "./page.js";
import { isAllowed, ofRouter, ofScenario, PLACES, range, written } from "./sliders.js";

const OPEN_GROUPS = 3;

export class SliderPanel {
  constructor(parent, { onText, onAround, onEnd }) {
    Object.assign(this, { parent, onText, onAround, onEnd, sliders: [] });
  }

  // Loads the sliders of `text` and, if the text is a router's configuration, of the scenario `around` the
  // router. A slider that is being moved is not replaced. The sliders that the open `lesson` allows are
  // first; the others are disabled.
  load(text, around, { isNew, lesson }) {
    const found = around ? ofRouter(text) : ofScenario(text);
    const isSame = found.length === this.sliders.length && found.every((slider, index) => slider.label === this.sliders[index].label);
    if (!isNew && isSame) {
      // If the length of a number changes, the positions of the following numbers change.
      found.forEach((slider, index) => Object.assign(this.sliders[index], { from: slider.from, to: slider.to }));
      return;
    }
    this.sliders = found;
    const isFree = (slider) => !lesson || isAllowed(slider, lesson.asked.change);
    const free = this.groups(found.filter(isFree), {});
    const fixed = this.groups(found.filter((slider) => !isFree(slider)), { isFixed: true });
    const made = around ? [["Line and traffic", this.around(around)]] : [];
    const parts = [...made, ...free].map(([name, rows], index) => group(name, rows, index < OPEN_GROUPS));
    const open = lesson && !free.length ? [element("p", "Edit the text to solve this lesson.", "hint")] : [];
    const kept = fixed.length ? [element("p", "You cannot change these values in this lesson.", "hint fixed"), ...fixed.map(([name, rows]) => group(name, rows, false))] : [];
    this.parent.replaceChildren(...open, ...parts, ...kept);
    $("around").hidden = !around;
  }

  // The rows of sliders by the names of their groups.
  groups(sliders, { isFixed = false }) {
    const groups = new Map();
    for (const slider of sliders) {
      if (!groups.has(slider.group)) groups.set(slider.group, []);
      groups.get(slider.group).push(this.row(slider, (value) => this.move(slider, value), { isFixed }));
    }
    return [...groups];
  }

  move(slider, value) {
    const text = written(slider, value) + slider.unit.replace("packets", " packets").replace("%", "");
    // An IOS line has its unit in the command.
    const isBare = /^\d+$/.test(slider.id) && !slider.id.includes(".");
    const insert = isBare ? written({ ...slider, whole: true }, value) : text.trim();
    const { from, to } = slider;
    const shift = insert.length - (to - from);
    for (const other of this.sliders) {
      if (other.from > from) Object.assign(other, { from: other.from + shift, to: other.to + shift });
    }
    slider.to = from + insert.length;
    this.onText(from, to, insert);
    return `${written(slider, value)} ${slider.unit}`.trim();
  }

  around({ rate: wire, classes }) {
    const rows = [this.row({ id: "line", label: "rate of the line", value: wire, unit: "", shown: rate(wire) }, (value) => {
      const bits = Math.max(1, Math.round(Number(value.toPrecision(3))));
      this.onAround({ rate: `${bits}b/s` });
      return rate(bits);
    })];
    for (const { queue, load } of classes) {
      rows.push(this.row({ id: `load ${queue}`, label: `load of ${queue}`, value: Math.max(load, 1), unit: "", shown: rate(load) }, (value) => {
        const bits = Number(value.toPrecision(3));
        this.onAround({ loads: { [queue]: bits } });
        return rate(bits);
      }));
    }
    rows.push(this.row({ id: "ring", label: "transmit ring", value: 4, unit: "packets", shown: "as configured" }, (value) => {
      const ring = Math.max(1, Math.round(value));
      this.onAround({ ring });
      return `${ring} packets`;
    }));
    return rows;
  }

  row(slider, onMove, { isFixed = false } = {}) {
    const scale = range(slider);
    const label = element("label", "", isFixed ? "slider fixed" : "slider");
    const output = element("output", slider.shown ?? `${digits(slider.value, 6)} ${slider.unit}`.trim());
    const input = element("input");
    Object.assign(input, { type: "range", min: "0", max: String(PLACES), step: "1", value: String(Math.round(scale.placeOf(slider.value))), disabled: isFixed });
    input.dataset.id = slider.id;
    // The accessible name contains the group, which distinguishes equal labels, but not the value.
    input.setAttribute("aria-label", slider.group ? `${slider.label}, ${slider.group}` : slider.label);
    input.setAttribute("aria-valuetext", output.textContent);
    input.addEventListener("input", () => {
      output.textContent = onMove(scale.at(Number(input.value)));
      input.setAttribute("aria-valuetext", output.textContent);
    });
    input.addEventListener("change", () => this.onEnd());
    label.append(element("span", slider.label), output, input);
    return label;
  }
}

function group(name, rows, isOpen) {
  const part = element("details");
  part.open = isOpen;
  part.append(element("summary", name), ...rows);
  return part;
}
