// The files that the menu exports: the scenario, the lines of the router, the figures and the picture of the
// displayed run.
import { stringify } from "yaml";
import { $, say, status } from "./page.js";
import { picture, save } from "./saving.js";

const KINDS = {
  scenario: ({ run }) => save("playground.perhop.yaml", run.asked ? stringify(run.asked.scenario) : run.written, "text/yaml"),
  ios: ({ text }) => save("playground.cfg", text, "text/plain"),
  summary: ({ run }) => save("summary.json", run.bytes, "application/json"),
  csv: async ({ client }) => {
    const name = $("tables").value;
    const { value } = await client.ask({ ask: "table", name });
    save(`${name}.csv`, value.csv, "text/csv");
  },
  png: async ({ charts }) => {
    const style = getComputedStyle(document.documentElement);
    const colors = { paper: style.getPropertyValue("--paper"), ink: style.getPropertyValue("--ink") };
    save("playground.png", await picture($("scene"), charts.pictures(), colors), "image/png");
  },
};

// `shown` returns the run, the text and the other inputs of an export.
export function exporting(shown) {
  for (const button of document.querySelectorAll("[data-export]")) {
    button.addEventListener("click", async () => {
      const now = shown();
      if (button.dataset.export === "ios" && !now.isRouter) return say(status("IOS lines need a router configuration; for a scenario, use `perhop convert --to ios`."));
      if (!now.run?.isDone) return;
      await KINDS[button.dataset.export](now);
      $("saving").open = false;
    });
  }
}
