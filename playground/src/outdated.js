// Results of an earlier text are dimmed, unless new results arrive almost at once.

const AFTER_MS = 300;
const root = document.documentElement;
let wanted = "", timer;

const show = () => { root.dataset.outdated = wanted; };

// Dims outdated results. `what` is `all`, `verdicts` (while the charts fill with the new run), or empty (no
// results are outdated).
export function outdated(what) {
  wanted = what;
  if (what && !root.dataset.outdated) {
    timer ??= setTimeout(show, AFTER_MS);
    return;
  }
  clearTimeout(timer);
  timer = undefined;
  show();
}
