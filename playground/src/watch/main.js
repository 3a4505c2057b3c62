// The page of --watch=web: the events of the process, shown with parts of the playground.
import { status } from "../page.js";
import { Connection } from "./connection.js";
import { Forwarding } from "./forwarding.js";
import { Simulation } from "./simulation.js";
import { Sweep } from "./sweep.js";

const VIEWS = { simulation: Simulation, forwarding: Forwarding, sweep: Sweep };

const connection = new Connection();
const view = new VIEWS[document.querySelector("main").dataset.kind](connection);
globalThis.perhopView = view; // for tests
connection.open({
  on: (event) => view.take(event),
  onBegin: () => view.begin(),
  onEnd: () => { if (!view.isDone) status("The process has ended, or does not answer.", "bad"); },
});

let hasFailed = false;
addEventListener("error", ({ message }) => {
  if (!hasFailed && message) status(`Internal error of the page: ${message}`, "bad");
  hasFailed = true;
});
