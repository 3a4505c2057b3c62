// The tabs of the page, with the mouse and with the keyboard.
import { $ } from "./page.js";

// `onChoice` is called for each choice.
export function tabs(onChoice) {
  const all = [...document.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const other of all) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      $(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
    onChoice();
  };
  for (const tab of all) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", ({ key }) => {
      if (!["ArrowLeft", "ArrowRight"].includes(key)) return;
      const other = all[(all.indexOf(tab) + 1) % all.length];
      choose(other);
      other.focus();
    });
  }
}
