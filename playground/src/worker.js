// The engine in its worker. The worker answers questions. It runs scenarios in slices, so that it can also
// answer questions during a run.
import { Engine, steps } from "./module.js";

const breath = new MessageChannel();
let engine;
let current = 0;

const pause = () => new Promise((resolve) => {
  breath.port1.onmessage = resolve;
  breath.port2.postMessage(0);
});

async function run(id, question) {
  const turn = ++current;
  const began = performance.now();
  postMessage({ id, kind: "started", value: engine.ask(question).value });
  for (const { fraction, answer: { value, columns } } of steps(engine)) {
    postMessage({ id, kind: "step", fraction, value, columns });
    await pause();
    if (turn !== current) return postMessage({ id, kind: "stopped" });
  }
  const { value } = engine.ask({ ask: "finish" });
  postMessage({ id, kind: "done", value, took: performance.now() - began });
}

onmessage = async ({ data: { id, module, question, stop } }) => {
  try {
    if (stop) current += 1;
    else if (module) {
      engine = await Engine.load(module);
      postMessage({ id, kind: "answer", value: engine.ask({ ask: "about" }).value });
    } else if (question.ask === "start") await run(id, question);
    else {
      const answer = engine.ask(question);
      postMessage({ id, kind: "answer", value: answer.value, columns: answer.columns },
        Object.values(answer.columns).map((column) => column.buffer));
    }
  } catch (error) {
    postMessage({ id, kind: "error", error: { message: error.message, help: error.help ?? "", diagnostics: error.diagnostics ?? [] } });
  }
};
