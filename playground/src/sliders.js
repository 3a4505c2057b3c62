// The important numbers of a text, with their positions. A slider replaces only the text at its position.
import { isMap, isScalar, isSeq, parseDocument } from "yaml";

const QUANTITY = /^(\d+(?:\.\d+)?)\s*(ps|ns|us|ms|s|min|h|d|b\/s|kb\/s|Mb\/s|Gb\/s|B|kB|MB|KiB|MiB|packets|packet|pps|packets\/s)?$/;
const SKIPPED = new Set(["perhop", "seed", "replications", "duration", "between", "name", "dscp", "id", "source-port", "destination-port", "address", "precedence", "start", "start-within", "stop", "warmup", "cost"]);
// Labels of packet sizes, because their keys alone would not be clear.
const SIZES = { ip: "packet with IP headers", payload: "payload of a packet", wire: "packet on the wire" };
const WHOLE = new Set(["", "packets", "packet", "B"]);

function number(path, key, text, from, to, group, label) {
  const found = QUANTITY.exec(text);
  if (!found) return null;
  const value = Number(found[1]);
  const unit = found[2] ?? "";
  const isPart = unit === "" && value > 0 && value < 1;
  if (value === 0 && key !== "loss") return null;
  return { id: path.join("."), group, label, value, unit, from, to, isPart: isPart || key === "loss", key };
}

const nameOf = (node) => {
  const name = isMap(node) ? node.get("name") : undefined;
  return typeof name === "string" ? name : "";
};
const title = (parts) => parts.filter(Boolean).join(" · ");

// The sliders of a scenario, in groups: links and rings, policies, traffic.
export function ofScenario(text) {
  const document = parseDocument(text);
  if (document.errors.length || !isMap(document.contents)) return [];
  const found = [];
  // `steps` has the key and the name of each element on the path to a node.
  const walk = (node, path, steps, names, group) => {
    if (isMap(node)) {
      const name = nameOf(node);
      const own = name && path.length > 1 ? [...names, name] : names;
      for (const { key, value } of node.items) {
        if (!SKIPPED.has(String(key))) walk(value, [...path, String(key)], [...steps, [String(key), nameOf(value)]], own, group);
      }
    } else if (isSeq(node)) {
      node.items.forEach((item, index) => walk(item, [...path, index], [...steps, [String(index), nameOf(item)]], names, group));
    } else if (isScalar(node) && node.range && node.value !== null && typeof node.value !== "boolean") {
      const key = String(path.findLast((part) => typeof part === "string"));
      // A list element without a name is labeled with its number from 1, a drop precedence with its number from 0.
      const counted = (part, at) => (typeof path[at + 1] === "number" && !steps[at + 1][1] ? `${part} ${path[at + 1] + 1}` : part);
      const place = path.findLast((part, at) => typeof part === "number" && path[at - 1] === "precedences");
      const near = path.map((part, at) => (part === "precedences" ? "" : counted(part, at))).slice(2).filter((part) => typeof part === "string").slice(-2);
      const words = SIZES[key] ?? near.filter((part) => !["", "ip", "packet", "queueing", "classes"].includes(part) || part === key).join(" ");
      const label = title([...names, place === undefined ? "" : `precedence ${place}`, words]);
      const [from, to] = node.range;
      const slider = number(path, key, String(node.source ?? node.value).trim(), from, to, group, label);
      if (slider) found.push({ ...slider, steps });
    }
  };
  const section = (key, group, named) => {
    const node = document.contents.get(key);
    const steps = (step, inner) => [[key, ""], [String(step), nameOf(inner)]];
    if (isSeq(node)) node.items.forEach((item, index) => walk(item, [key, index], steps(index, item), named(item), group));
    else if (isMap(node)) for (const { key: name, value } of node.items) walk(value, [key, String(name)], steps(name, value), [], `${group} ${name}`);
  };
  section("links", "Links and rings", (link) => [link.get?.("between")?.toJSON?.()?.join(" – ") ?? ""]);
  section("policies", "Policy", () => []);
  section("traffic", "Traffic", () => []);
  return found;
}

// Whether an exercise allows changes of a slider's number. Its `change` has paths of keys, or of names in
// place of keys. The engine uses the same rule (`within` in crates/perhop-measure/src/exercise.rs).
export function isAllowed({ steps = [] }, change) {
  let rest = change;
  for (const names of steps) {
    if (rest.includes("")) return true;
    rest = rest.flatMap((path) => within(path, names));
  }
  return rest.includes("");
}

function within(path, names) {
  for (const name of names.filter(Boolean)) {
    if (path === name) return [""];
    if (path.startsWith(`${name}.`)) return [path.slice(name.length + 1)];
  }
  return [];
}

const COMMANDS = [
  [/^(\s*)(bandwidth)( percent| remaining percent| remaining ratio)? (\d+)/, "kb/s"],
  [/^(\s*)(priority)( percent)? (\d+)/, "kb/s"],
  [/^(\s*)(police)( cir| rate)? (\d+)/, "b/s"],
  [/^(\s*)(shape)( average| peak) (\d+)/, "b/s"],
  [/^(\s*)(queue-limit)() (\d+)/, "packets"],
  [/^(\s*)(tx-ring-limit)() (\d+)/, "packets"],
  [/^(\s*)(fair-queue)() (\d+)/, ""],
];
const THRESHOLDS = /^(\s*random-detect (?:dscp|precedence) (\S+) )(\d+) (\d+)( (\d+))?/;

// The sliders of a router's configuration: numbers of policies and rings.
export function ofRouter(text) {
  const found = [];
  let at = 0;
  let block = "";
  let named = "";
  for (const line of text.split("\n")) {
    if (/^(policy-map|interface)\s/.test(line)) [block, named] = [line.trim(), ""];
    else if (/^\S/.test(line) && !line.startsWith("!")) [block, named] = ["", ""];
    const inner = /^\s+class\s+(\S+)/.exec(line);
    if (inner) named = inner[1];
    const add = (key, value, unit, from) => {
      const group = block.replace("policy-map", "Policy").replace("interface", "Interface");
      found.push({ id: `${at + from}`, group, label: title([named, key]), value: Number(value), unit, from: at + from, to: at + from + value.length, isPart: false, key });
    };
    for (const [pattern, unit] of block ? COMMANDS : []) {
      const match = pattern.exec(line);
      const isMine = match && (block.startsWith("policy-map") || match[2] === "tx-ring-limit");
      if (isMine && match[4] !== "0") add(match[2] + (match[3] ?? ""), match[4], match[3]?.includes("percent") ? "%" : match[3]?.includes("ratio") ? "" : unit, match[0].length - match[4].length);
    }
    const red = block.startsWith("policy-map") && THRESHOLDS.exec(line);
    if (red) {
      add(`${red[2]} minimum`, red[3], "packets", red[1].length);
      add(`${red[2]} maximum`, red[4], "packets", red[1].length + red[3].length + 1);
    }
    at += line.length + 1;
  }
  return found;
}

// A slider has 100 positions, which correspond to a tenth of the value to ten times the value, or to a
// fraction from 0 to 1.
export const PLACES = 100;
export function range({ value, unit, isPart }) {
  if (isPart) return { at: (place) => place / PLACES, placeOf: (number) => number * PLACES };
  if (unit === "%") return { at: (place) => Math.max(1, place), placeOf: (number) => number };
  const least = value / 10;
  return {
    at: (place) => least * 100 ** (place / PLACES),
    placeOf: (number) => (Math.log(number / least) / Math.log(100)) * PLACES,
  };
}

export function written(slider, value) {
  const isWhole = !slider.isPart && (WHOLE.has(slider.unit) || slider.unit === "%") && slider.key !== "weight";
  if (slider.isPart) return String(Number(value.toFixed(2)));
  const short = Number(value.toPrecision(value < 10 ? 2 : 3));
  return isWhole || slider.whole ? String(Math.max(1, Math.round(short))) : String(short);
}
