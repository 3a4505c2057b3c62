// The diagnostics of the text, in a list below it.
import { $, element } from "./page.js";

// The maximum number of listed diagnostics.
const MOST = 30;

// Whether a comment `# perhop: ignore RULE`, on the line or on the line before it, hides a diagnostic.
export function isHidden(text, { line, severity, rule }) {
  if (!line || severity === "error") return false;
  const id = typeof rule === "string" ? rule : rule?.id;
  const near = text.split("\n").slice(Math.max(0, line - 2), line);
  return near.some((line) => /[!#]\s*perhop:\s*ignore\s+(.*)/.exec(line)?.[1].split(/[,\s]+/).includes(id));
}

export function list(diagnostics) {
  const place = $("diagnostics");
  place.replaceChildren(...diagnostics.slice(0, MOST).map(({ severity, line, message, help, router }) => {
    const item = element("li", "", severity);
    item.append(element("b", `${severity}${line ? `, line ${line}` : ""}`), ` ${message}${help ?? router ? ` (${help ?? router})` : ""}`);
    return item;
  }));
  // A list that scrolls must be reachable with the keyboard.
  if (place.scrollHeight > place.clientHeight) place.tabIndex = 0;
  else place.removeAttribute("tabindex");
}
