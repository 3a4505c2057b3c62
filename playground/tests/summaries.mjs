// Runs scenarios in the module under Node.js. Reads {module, runs: [{text, seed, times}]} from standard input, and
// writes for each run its summary and the least time that it took, milliseconds.
import { readFileSync } from "node:fs";
import { Engine, steps } from "../src/module.js";

const { module, runs } = JSON.parse(readFileSync(0, "utf8"));
const engine = await Engine.fromBytes(readFileSync(module));
const results = runs.map(({ text, seed, times }) => {
  let [summary, least] = ["", Infinity];
  for (let turn = 0; turn < times; turn += 1) {
    const began = performance.now();
    engine.ask({ ask: "start", text, seed, intervals: 120 });
    for (const _ of steps(engine)) { }
    summary = engine.ask({ ask: "finish" }).value.summary;
    least = Math.min(least, performance.now() - began);
  }
  return { summary, least };
});
process.stdout.write(JSON.stringify(results));
