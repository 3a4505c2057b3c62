// The schema of the state in a link. A link may be from an unknown person, so only keys of the schema are
// accepted.

const MOST_TEXT = 2_000_000, MOST_ENTRIES = 1000, MOST_NAME = 1000;

const isText = (most) => (one) => typeof one === "string" && one.length <= most;
const isName = isText(MOST_NAME);
const isNumber = (one) => Number.isFinite(one) && one >= 0;
const isPlain = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
const isMapOf = (is) => (one) => isPlain(one) && Object.keys(one).length <= MOST_ENTRIES && Object.entries(one).every(([key, value]) => isName(key) && is(value));
const optional = (is) => (one) => one === undefined || one === null || is(one);

// The keys of a question `around` except `ask` and `text`: the configuration is in the editor.
const AROUND = { interface: optional(isName), rate: optional(isName), ring: optional(isNumber), loads: optional(isMapOf(isNumber)) };
const STATE = {
  text: isText(MOST_TEXT),
  around: optional(isPlain),
  seed: optional((one) => Number.isSafeInteger(one) && one >= 0),
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
  met: optional((one) => typeof one === "boolean"),
  measured: optional((one) => Array.isArray(one) && one.length <= MOST_ENTRIES && one.every((each) => each === null || Number.isFinite(each))),
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
    if (entries.length) state.lessons.entries = Object.fromEntries(entries.map(([id, one]) => [id, checked(one, ENTRY, "lessons")]));
  }
  return state;
}
