// Tables that sort and copy, pictures that are shown again, and the choice between light and dark.
(() => {
  "use strict";

  window.perhopCopy = async (text, button) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A browser may refuse access to the clipboard for a page from a file; selection works everywhere.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1200);
  };

  const number = (text) => {
    const found = text.replace(/[,\u2009]/g, "").match(/^[-−<]?\s*\d+(\.\d+)?(e[-+]?\d+)?/i);
    return found ? Number(found[0].replace("−", "-").replace("<", "")) : null;
  };
  const value = (row, column) => row.cells[column]?.dataset.sort ?? row.cells[column]?.textContent.trim() ?? "";

  function sort(table, column, button) {
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th").forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [row, value(row, column), number(value(row, column))]);
    rows.sort(([, a, x], [, b, y]) => {
      const order = x !== null && y !== null ? x - y : x !== null ? -1 : y !== null ? 1 : a.localeCompare(b, "en");
      return down ? -order : order;
    });
    body.append(...rows.map(([row]) => row));
  }

  document.querySelectorAll("table.data").forEach((table) => {
    table.querySelectorAll("th button").forEach((button) => {
      const column = button.closest("th").cellIndex;
      button.addEventListener("click", () => sort(table, column, button));
    });
    const copy = table.closest(".table")?.querySelector("button.copy");
    copy?.addEventListener("click", () => {
      const rows = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t"));
      window.perhopCopy(rows.join("\n"), copy);
    });
  });

  const root = document.documentElement;
  const themes = ["auto", "light", "dark"];
  const theme = document.getElementById("theme");
  const show = (name) => {
    if (name === "auto") delete root.dataset.theme;
    else root.dataset.theme = name;
    theme.textContent = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" }[name];
    document.dispatchEvent(new Event("perhop:theme"));
  };
  theme?.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % themes.length];
    show(next);
  });
  // A picture that repeats an earlier one is drawn when it comes into view.
  const drawLike = (picture) => {
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `#${picture.dataset.like}`);
    picture.replaceChildren(use);
  };
  const alike = [...document.querySelectorAll("svg[data-like]")];
  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      drawLike(target);
    }
  }, { rootMargin: "300px" });
  alike.forEach((picture) => watcher.observe(picture));

  // One part of a long report is shown at a time, so that a link leads to the beginning of its part even if earlier parts are not drawn yet.
  const views = [...document.querySelectorAll(".view")];
  if (views.length > 1) {
    const links = [...document.querySelectorAll(".top nav a")];
    const route = () => {
      const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
      const view = named?.closest(".view") ?? views[0];
      root.classList.add("routed");
      views.forEach((one) => one.classList.toggle("shown", one === view));
      links.forEach((link) => {
        if (link.hash === `#${view.id}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      });
      const place = named && named !== view ? named : null;
      if (place) place.scrollIntoView({ behavior: "instant" });
      else scrollTo({ top: 0, behavior: "instant" });
      document.dispatchEvent(new Event("perhop:shown"));
    };
    addEventListener("hashchange", route);
    route();
  }

  // If the address of the page points into a folded part, this part is unfolded.
  const unfold = () => {
    const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    for (let one = named?.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    if (named?.closest("details")) named.scrollIntoView({ behavior: "instant" });
  };
  addEventListener("hashchange", unfold);
  unfold();

  // All parts are printed, including pictures that were never in view; folded parts only if the reader has opened them.
  const routed = root.classList.contains("routed");
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details.printed:not([open])")];
    unfolded.forEach((one) => { one.open = true; });
    root.classList.remove("routed");
    alike.forEach(drawLike);
  });
  addEventListener("afterprint", () => {
    unfolded.forEach((one) => { one.open = false; });
    root.classList.toggle("routed", routed);
  });
})();
