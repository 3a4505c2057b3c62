// The playground. The worker runs the text on the left. The middle of the page draws the run, and the right
// side shows the verdicts.
import { Charts, Series } from "./charts.js";
import { Client } from "./client.js";
import { rolesOf, rolesOfQueues } from "./colors.js";
import { isHidden, list } from "./diagnostics.js";
import "./echarts.js";
import { Editor } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import { exporting } from "./exports.js";
import { count, time } from "./format.js";
import { Lessons } from "./lessons.js";
import { Memory } from "./memory.js";
import { $, element, isDark, later, legend, onTheme, options, palette, say, soon, status, stored } from "./page.js";
import { outdated } from "./outdated.js";
import { Player } from "./player.js";
import { firstPort, portOf } from "./port.js";
import { save } from "./saving.js";
import { Scene } from "./scene.js";
import { packed, unpacked } from "./share.js";
import { SliderPanel } from "./slider-panel.js";
import { tabs } from "./tabs.js";
import { Teacher } from "./teacher.js";
import { guarantee, verdicts } from "./verdict.js";
import { showVerdicts } from "./verdict-list.js";

const INTERVALS = 120, TYPING_MS = 250;
const judging = stored("judging");

const state = { around: { loads: {} }, seed: null, port: null, probe: 0, isRouter: false };
let client, editor, scene, charts, memory, player, sliders, lessons;
let current, before, isPinned = false, gesture = false, turn = 0, hasFailed = false;

// --- From the text to a run ---

async function take({ isNew = false } = {}) {
  const mine = ++turn;
  const text = editor.text;
  outdated("all");
  // A changed text is not an example, so the menu shows no example.
  $("examples").value = String(EXAMPLES.findIndex(([, example]) => example === text));
  lessons.expect(text);
  try {
    const { value: found } = await client.ask({ ask: "check", text });
    if (mine !== turn) return;
    state.isRouter = found.kind === "router";
    editor.kind = found.kind;
    const remarks = found.diagnostics.filter((diagnostic) => !isHidden(text, diagnostic));
    editor.show(remarks);
    list(remarks);
    if (!found.runs) {
      const refused = found.platform && !found.platform.supported;
      const none = found.kind === "router" ? "No interface of this configuration can be run." : "The scenario cannot be run yet.";
      const why = refused ? `perhop does not simulate ${found.platform.system}.` : none;
      status(why, "bad");
      lessons.expect(text, why);
      return;
    }
    const asked = state.isRouter ? await around(text, found.interfaces) : null;
    if (mine !== turn) return;
    sliders.load(text, asked, { isNew, lesson: lessons.current });
    await run(asked ? JSON.stringify(asked.scenario) : text, asked);
  } catch (error) {
    if (mine !== turn) return;
    editor.show(error.diagnostics ?? []);
    list(error.diagnostics?.length ? error.diagnostics : [{ severity: "error", message: error.message, help: error.help }]);
    status(error.message, "bad");
    lessons.expect(text, "The scenario cannot be run yet.");
  }
}

async function around(text, interfaces) {
  const { value } = await client.ask({ ...state.around, ask: "around", text });
  // The loads of classes are set once, so a change of the policy does not change them.
  for (const { queue, load } of value.classes) state.around.loads[queue] ??= load;
  $("interfaces").replaceChildren(...interfaces.filter(({ queues }) => queues).map(({ name, policy }) =>
    new Option(policy ? `${name} (${policy})` : name, name, false, name === value.interface)));
  return value;
}

async function run(text, asked) {
  const mine = turn;
  const next = { text, asked, written: editor.text };
  const ended = await client.run({ text, seed: state.seed, intervals: INTERVALS }, (kind, { value, columns, fraction }) => {
    if (mine !== turn) return;
    if (kind === "started") begin(next, value);
    else {
      next.series.add(columns);
      $("progress").value = fraction;
      refresh();
    }
  });
  if (!ended || mine !== turn) return;
  next.summary = JSON.parse(ended.value.summary);
  Object.assign(next, { bytes: ended.value.summary, tables: ended.value.tables, isDone: true });
  const seconds = next.started.duration;
  status(`${seconds} s simulated in ${time(ended.took / 1000)}: ${count(next.summary.packet_hops)} packets over links`);
  $("tables").replaceChildren(...next.tables.map((name) => new Option(name, name, false, name === "classes")));
  // If another run starts in the meantime, these ratings are not shown.
  const { value: calls } = await client.ask({ ask: "calls", ...judging.telephony, queues: asked?.queues ?? {} }).catch(() => ({}));
  next.calls = calls;
  await meets(next);
  if (mine !== turn) return;
  outdated("");
  document.documentElement.dataset.ran = String(mine);
  judge();
  refresh();
  guarantees(next);
  showMemory();
}

// The guarantees of the scenario, computed after the results are shown.
async function guarantees(run) {
  const { value } = await client.ask({ ask: "bounds" }).catch(() => ({}));
  if (!value || run !== current) return;
  run.bounds = value;
  judge();
}

// Whether the run meets the goal of the lesson that is open.
async function meets({ written, asked, started, bytes }) {
  const { current: lesson } = lessons;
  if (!lesson) return;
  if (asked) return lessons.expect(written, "Answer a lesson with its scenario, not with a router configuration.");
  const { value } = await client.ask({ ask: "judge", exercise: lesson.asked, start: lesson.start, text: written });
  if (lesson !== lessons.current) return;
  if (lessons.judge(value, { text: written, seed: started.seed, summary: bytes })) say(`Lesson ${lesson.number} is met.`);
}

function begin(next, started) {
  if (!isPinned && current?.isDone && !gesture && current.written !== next.written) before = current;
  next.started = started;
  next.series = new Series(started);
  current = next;
  memory.hide();
  outdated("verdicts");
  $("seed").value = started.seed;
  const ports = started.ports.map(({ name }) => name);
  const known = ports.indexOf(state.port);
  const number = known >= 0 ? known : firstPort(started);
  options($("ports"), ports, number);
  options($("probes"), started.probes, state.probe);
  state.probe = Math.min(state.probe, started.probes.length - 1);
  $("name").textContent = started.name;
  show(number);
}

function show(number) {
  const { started } = current;
  const port = portOf(started, number);
  state.port = started.ports[number].name;
  const probe = started.probes.indexOf(state.port);
  if (probe >= 0) {
    state.probe = probe;
    $("probes").value = String(probe);
  }
  const roles = rolesOf(started.classes);
  scene.load(port, started.classes, started.causes, started.classes.map((name) => roles[name]));
  legend(started.classes, roles);
  player.load(number, started.duration, port);
}

// Shows the packet memory of the displayed port. The worker repeats the run for it, so the run must have
// ended.
function showMemory() {
  const { started, isDone } = current;
  if (!isDone) return;
  const port = portOf(started, $("ports").selectedIndex);
  if (!started.resolved.policies?.[port.policy]?.queueing?.memory) return memory.hide();
  const colors = rolesOfQueues(port.queues.map(({ name }) => name), rolesOf(started.classes));
  memory.load({ port: port.number, bits: port.bits, duration: started.duration, causes: started.causes, colors }, player.at);
}

// --- Results of a run ---

const refresh = soon(() => {
  if (!current?.series) return;
  const { classes, probes, ports } = current.started;
  const queues = ports.find(({ name }) => name === probes[state.probe])?.queues ?? [];
  const isShown = before && before.started.duration === current.started.duration && $("overlay").checked;
  const colors = rolesOf(classes);
  charts.draw(current.series, isShown ? before.series : null, { colors, queueColors: rolesOfQueues(queues, colors), probe: state.probe, at: player.at });
  memory.show(player.at);
  document.documentElement.dataset.overlaid = String(Boolean(isShown));
});

// The assumptions and omissions of a router's inferred traffic, on which the verdicts depend.
function premises({ asked }) {
  const { assumed = [], load, not_looked_at: leftOut = [], missing = [] } = asked ?? {};
  // The sentence about the load begins with its subject and a colon, which becomes the heading.
  const loads = load ? [load.split(": ")] : [];
  const lines = [...loads.map(([head, ...text]) => [head, text.join(": ")]), ...leftOut.map((remark) => ["not looked at", remark]), ...assumed.map((remark) => ["assumed", remark]), ...missing.map((remark) => ["no traffic", remark])];
  $("premises").hidden = !lines.length;
  $("premises").querySelector("summary").textContent = `Assumptions and ignored lines: ${lines.length}`;
  $("premises").querySelector("ul").replaceChildren(...lines.map(([head, text]) => {
    const item = element("li");
    item.append(element("b", `${head}: `), text);
    return item;
  }));
}

function judge() {
  premises(current);
  const roles = rolesOf(current.started.classes);
  const earlier = before && $("overlay").checked ? verdicts(before.summary, judging, before.calls) : [];
  // The classes of servers' replies are shown only if some of their packets are lost.
  const shown = verdicts(current.summary, judging, current.calls).filter(({ name, isLossless }) => !(name.endsWith(" (back)") && isLossless));
  showVerdicts(shown, roles, { earlier, sure: (name) => (current.bounds ? guarantee(current.bounds, name) : "") });
}

// --- Controls ---

const typed = later(() => take({ isNew: true }), TYPING_MS);
function typing() {
  outdated("all");
  typed();
}

function changed(work) {
  if (!gesture && !isPinned && current?.isDone) before = current;
  gesture = true;
  work();
  settle();
}
const settle = later(() => take(), 60);

function load(text, seed = null) {
  [current, before, isPinned, gesture] = [undefined, undefined, false, false];
  Object.assign(state, { around: { loads: {} }, seed, port: null, probe: 0 });
  editor.text = text;
  return take({ isNew: true });
}

// Loads a text outside of lessons.
function loadOther(text) {
  lessons.leave();
  return load(text);
}

async function share() {
  const { around: asked, seed, port } = state;
  const fragment = await packed({ text: editor.text, around: asked, seed, port, at: player.at, place: player.place, lessons: lessons.state });
  history.replaceState(null, "", `#s=${fragment}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    say("The link is in the address bar.");
  }
  status("The link in the address bar has the complete state.");
}

async function restore() {
  const found = /^#s=([\w-]+)$/.exec(location.hash);
  if (!found) return false;
  try {
    const { text, around: asked, seed, port, at, place, lessons: learned } = await unpacked(found[1]);
    editor.text = text;
    lessons.restore(learned);
    Object.assign(state, { around: { loads: {}, ...asked }, seed: seed ?? null, port: port ?? null });
    player.begin(at, place);
    await take({ isNew: true });
    return true;
  } catch (error) {
    status(`The link cannot be read: ${error.message}`, "bad");
    return false;
  }
}

function wire() {
  tabs(() => editor.view.requestMeasure());
  const other = Object.assign(new Option("Example …", -1), { hidden: true });
  $("examples").append(other, ...EXAMPLES.map(([name], index) => new Option(name, index)));
  $("examples").addEventListener("change", ({ target }) => loadOther(EXAMPLES[target.value][1]));
  $("open").addEventListener("change", async ({ target }) => {
    if (target.files[0]) await loadOther(await target.files[0].text());
    target.value = "";
  });
  $("share").addEventListener("click", share);
  $("keep").addEventListener("click", () => {
    if (!current?.isDone) return;
    [before, isPinned] = [current, true];
    $("overlay").checked = true;
    say("This run is kept; the next runs are drawn over it.");
    status("Run kept; the next runs are drawn over it.");
    refresh();
  });
  $("overlay").addEventListener("change", () => { judge(); refresh(); });
  $("seed").addEventListener("change", ({ target }) => changed(() => {
    const seed = Number(target.value);
    state.seed = Number.isSafeInteger(seed) && seed >= 0 ? seed : null;
    gesture = false;
  }));
  $("interfaces").addEventListener("change", ({ target }) => {
    state.around = { interface: target.value, loads: {} };
    state.port = null;
    take({ isNew: true });
  });
  $("ports").addEventListener("change", ({ target }) => { show(Number(target.value)); refresh(); showMemory(); });
  $("probes").addEventListener("change", ({ target }) => { state.probe = Number(target.value); refresh(); });
  exporting(() => ({ run: current, text: editor.text, isRouter: state.isRouter, client, charts }));
  onTheme(redraw);
  addEventListener("hashchange", restore);
}

function redraw() {
  memory.draw();
  if (current?.started) show($("ports").selectedIndex);
  if (current?.isDone) judge();
  refresh();
}

async function begins() {
  client = new Client($("worker").textContent);
  const ready = client.load($("engine").textContent);
  scene = new Scene($("scene"), $("tip"), palette, isDark);
  player = new Player(scene, client, { say, onTime: refresh });
  memory = new Memory(client, { palette, isDark, onTime: (at) => player.seek(at), onError: (error) => status(error.message, "bad") });
  charts = new Charts($("charts"), palette, isDark, (at) => player.seek(at));
  const { value: about } = await ready;
  editor = new Editor($("editor"), about.schema, (text, isTyped) => isTyped && typing());
  sliders = new SliderPanel($("sliders"), {
    onText: (from, to, insert) => changed(() => editor.replace(from, to, insert)),
    onAround: (change) => changed(() => { state.around = { ...state.around, ...change, loads: { ...state.around.loads, ...change.loads } }; }),
    onEnd: () => { gesture = false; },
  });
  lessons = new Lessons(stored("course-data"), about.version, {
    onOpen: (text, seed) => load(text, seed),
    onSeed: (seed) => { state.seed = seed; take(); },
    onSheet: (sheet) => save("sheet.json", sheet, "application/json"),
  });
  if ($("sheets")) new Teacher(lessons, client, { onEnd: () => take() });
  wire();
  if (!(await restore())) await load(EXAMPLES[0][1]);
  player.loop();
}

addEventListener("error", ({ message }) => {
  if (!hasFailed) status(`Internal error of the page: ${message}`, "bad");
  hasFailed = true;
});
begins().catch((error) => status(`The page cannot start: ${error.message}`, "bad"));
