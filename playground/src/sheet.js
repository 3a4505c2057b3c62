// Result sheets: students export them, and teachers read them (perhop.lessons.sheets).
import { plainName } from "./hash.js";

const VERSION = 1;

export function sheetOf(name, version, entries) {
  return `${JSON.stringify({ "perhop-sheet": VERSION, perhop: version, name: plainName(name), lessons: entries }, null, 1)}\n`;
}

// Returns a sheet, or the reason why the text is not a sheet. The results in a sheet are not trusted: the
// teacher's page runs every scenario again.
export function readSheet(text, known) {
  const found = JSON.parse(text);
  if (found?.["perhop-sheet"] !== VERSION) throw new Error("it is not a result sheet of this version");
  if (typeof found.name !== "string" || !Array.isArray(found.lessons)) throw new Error("it has no name or no lessons");
  const entries = found.lessons.filter((entry) => known.includes(entry?.lesson) && typeof entry.scenario === "string");
  return { name: found.name, version: String(found.perhop), entries };
}

// A cell that a spreadsheet does not read as a formula (OWASP, "CSV Injection"), quoted if necessary.
function cell(value) {
  const text = String(value);
  const plain = /^[=+@\t\r-]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export const csvOf = (rows) => rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
