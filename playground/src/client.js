// The page's interface to the worker: each question has a promise, and each run has events.

export class Client {
  #waiting = new Map();
  #next = 0;

  constructor(script) {
    this.worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => this.#take(data);
    this.worker.onerror = (event) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(event.message));
    };
  }

  load(module) {
    return this.#post({ module });
  }
  ask(question) {
    return this.#post({ question });
  }
  // Starts a run. `on` receives the start and every step. The promise resolves at the end of the run; its
  // value is undefined if another run has begun.
  run(question, on) {
    return this.#post({ question: { ask: "start", ...question } }, on);
  }
  stop() {
    this.worker.postMessage({ stop: true });
  }

  #post(message, on) {
    const id = ++this.#next;
    this.worker.postMessage({ id, ...message });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject, on }));
  }

  #take({ id, kind, ...rest }) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    if (kind === "started" || kind === "step") return waiting.on?.(kind, rest);
    this.#waiting.delete(id);
    if (kind === "error") waiting.reject(Object.assign(new Error(rest.error.message), rest.error));
    else waiting.resolve(kind === "stopped" ? undefined : rest);
  }
}
