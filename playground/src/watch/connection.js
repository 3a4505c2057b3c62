// The page's connection to the server: events in their order, and requests.

export class Connection {
  #token = new URLSearchParams(location.search).get("token") ?? "";
  #failures = 0;

  // Calls `on` for each event, `onBegin` before the server repeats all events, and `onEnd` after the last
  // event.
  open({ on, onBegin, onEnd }) {
    const source = new EventSource(`/events?token=${encodeURIComponent(this.#token)}`);
    source.addEventListener("open", () => {
      this.#failures = 0;
      onBegin();
    });
    source.addEventListener("message", ({ data }) => on(JSON.parse(data)));
    source.addEventListener("error", () => {
      this.#failures += 1;
      if (source.readyState !== EventSource.CLOSED && this.#failures < 2) return;
      source.close();
      onEnd();
    });
  }

  async ask(question) {
    const answer = await fetch(`/ask?token=${encodeURIComponent(this.#token)}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question),
    });
    const value = await answer.json().catch(() => ({ error: { message: `refused (${answer.status})` } }));
    if (value.error) throw new Error(value.error.message);
    const { columns = {}, ...rest } = value;
    // JSON has no NaN, so a missing value arrives as null.
    for (const name of Object.keys(columns)) columns[name] = columns[name].map((value) => value ?? NaN);
    return { value: rest, columns };
  }
}
