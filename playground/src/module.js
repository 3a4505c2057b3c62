// The interface to the WebAssembly module (crates/perhop-web). A question is JSON; an answer is JSON with
// columns.
import { unpacked } from "./unpacked.js";

export class Refused extends Error {
  constructor({ message, help, diagnostics }) {
    super(message);
    Object.assign(this, { help, diagnostics });
  }
}

export class Engine {
  constructor(exports) {
    this.exports = exports;
  }

  static async load(packed) {
    return Engine.fromBytes(await unpacked(packed));
  }

  static async fromBytes(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Engine(instance.exports);
  }

  ask(question) {
    const text = new TextEncoder().encode(JSON.stringify(question));
    const place = this.exports.perhop_input(text.length);
    new Uint8Array(this.exports.memory.buffer, place, text.length).set(text);
    let length;
    try {
      length = this.exports.perhop_answer();
    } catch (trap) {
      throw this.#why(trap);
    }
    return this.#answer(length);
  }

  #why(trap) {
    try {
      this.#answer(this.exports.perhop_panic());
    } catch (error) {
      if (error instanceof Refused && error.message) return error;
    }
    return trap;
  }

  #answer(length) {
    const begin = this.exports.perhop_output();
    const view = new DataView(this.exports.memory.buffer, begin, length);
    const size = view.getUint32(0, true);
    const text = new Uint8Array(this.exports.memory.buffer, begin + 4, size);
    const { ok, error, columns } = JSON.parse(new TextDecoder().decode(text));
    if (error) throw new Refused(error);
    let at = 4 + size;
    const found = {};
    for (const [name, count] of columns) {
      // A copy, because the memory belongs to the module and may move when it grows.
      const values = new Float64Array(count);
      for (let row = 0; row < count; row += 1) values[row] = view.getFloat64(at + 8 * row, true);
      found[name] = values;
      at += 8 * count;
    }
    return { value: ok, columns: found };
  }
}

// The target durations of a step, milliseconds. Shorter steps would cost more, because each step has a small
// fixed cost.
const SHORT_MS = 6, LONG_MS = 18;

// Runs the started scenario in steps; yields the progress and the answer of each step.
export function* steps(engine) {
  let [fraction, part] = [0, 1 / 50];
  while (fraction < 1) {
    const began = performance.now();
    fraction = Math.min(1, fraction + part);
    const answer = engine.ask({ ask: "advance", fraction });
    const took = performance.now() - began;
    if (took < SHORT_MS) part *= 2;
    else if (took > LONG_MS) part /= 2;
    yield { fraction, answer };
  }
}
