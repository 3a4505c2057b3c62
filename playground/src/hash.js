// The seed of a student and the check number of a run: FNV-1a with 32 bits (Fowler, Noll, Vo), as in
// perhop.lessons.seeds.

const SEEDS = 1_000_000;

function fnv1a(text) {
  let found = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) found = Math.imul(found ^ byte, 0x01000193) >>> 0;
  return found;
}

// The name without spaces around it, and with single spaces between its parts.
export const plainName = (name) => name.normalize("NFC").split(/[ \t\r\n\u00a0\u3000]+/).filter(Boolean).join(" ");
export const seedOf = (name) => 1 + (fnv1a(plainName(name)) % SEEDS);
export const checkNumber = (summary) => fnv1a(summary).toString(16).padStart(8, "0");
