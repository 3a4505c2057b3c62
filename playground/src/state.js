// The schema of the state in a link. A link may be from an unknown person, so only keys of the schema are
// accepted.

const MOST_TEXT = 2_000_000, MOST_ENTRIES = 1000, MOST_NAME = 1000;

const isText = (most) => (value) => typeof value === "string" && value.length <= most;
const isName = isText(MOST_NAME);
const isNumber = (value) => Number.isFinite(value) && value >= 0;
const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isMapOf = (is) => (map) => isPlain(map) && Object.keys(map).length <= MOST_ENTRIES && Object.entries(map).every(([key, value]) => isName(key) && is(value));
const optional = (is) => (value) => value === undefined || value === null || is(value);

// The keys of a question `around` except `ask` and `text`: the configuration is in the editor.
const AROUND = { interface: optional(isName), rate: optional(isName), ring: optional(isNumber), loads: optional(isMapOf(isNumber)) };
const STATE = {
  text: isText(MOST_TEXT),
  around: optional(isPlain),
  seed: optional((value) => Number.isSafeInteger(value) && value >= 0),
  port: optional(isName),
  at: optional(isNumber),
  place: optional(isNumber),
  lessons: optional(isPlain),
};
const ENTRY = {
  lesson: optional(isName),
  scenario: isText(MOST_TEXT),
  seed: optional(isNumber),
  check: optional(isName),
  met: optional((value) => typeof value === "boolean"),
  measured: optional((value) => Array.isArray(value) && value.length <= MOST_ENTRIES && value.every((each) => each === null || Number.isFinite(each))),
};
const LESSONS = { lesson: optional(isName), student: optional(isName), texts: optional(isMapOf(isText(MOST_TEXT))), entries: optional(isMapOf(isPlain)) };

// Returns the keys of `schema` in `found`. Throws an error with the position for a value of the wrong kind.
function checked(found, schema, place) {
  if (!isPlain(found)) throw new Error(`the link has no ${place}`);
  const kept = {};
  for (const [key, is] of Object.entries(schema)) {
    const value = Object.hasOwn(found, key) ? found[key] : undefined;
    if (!is(value)) throw new Error(`the link has an invalid \`${key}\` in its ${place}`);
    if (value !== undefined && value !== null) kept[key] = value;
  }
  return kept;
}

export function around(found) {
  const kept = checked(found, AROUND, "traffic");
  return { ...kept, loads: kept.loads ?? {} };
}

export function validated(found) {
  const state = checked(found, STATE, "scenario");
  state.around = around(state.around ?? {});
  if (state.lessons) {
    state.lessons = checked(state.lessons, LESSONS, "lessons");
    const entries = Object.entries(state.lessons.entries ?? {});
    if (entries.length) state.lessons.entries = Object.fromEntries(entries.map(([id, entry]) => [id, checked(entry, ENTRY, "lessons")]));
  }
  return state;
}
