// Completion in a scenario: the keys and names that the JSON Schema allows at the cursor.

const KEY = /^(\s*)((?:- )*)([A-Za-z][\w-]*)?\s*(:)?/;

// The keys around a line, beginning with the outermost; "[]" is an element of a list. Flow style is not
// parsed.
export function pathOf(lines, number) {
  const indentOf = (line) => KEY.exec(line)[1].length + KEY.exec(line)[2].length;
  const path = [];
  let limit = indentOf(lines[number]);
  if (KEY.exec(lines[number])[2]) path.unshift("[]");
  let list = KEY.exec(lines[number])[1].length;
  for (let at = number - 1; at >= 0; at -= 1) {
    if (!lines[at].trim() || lines[at].trim().startsWith("#")) continue;
    const [, space, dashes, key, colon] = KEY.exec(lines[at]);
    const indent = space.length + dashes.length;
    if (dashes && indent === limit && path[0] !== "[]") {
      path.unshift("[]");
      limit = indent;
      list = space.length;
    }
    const parent = path[0] === "[]" ? list : limit;
    if (key && colon && (indent < parent || (path[0] === "[]" && !dashes && indent <= list))) {
      path.unshift(key);
      limit = indent;
      list = space.length;
      if (dashes) path.unshift("[]");
    }
    if (limit === 0 && path[0] !== "[]") break;
  }
  return path;
}

const choices = (schema, node) => {
  const at = node?.$ref ? { ...schema.$defs[node.$ref.split("/").at(-1)], description: node.description } : node;
  if (!at) return [];
  const several = at.anyOf ?? at.oneOf;
  return several ? several.flatMap((alternative) => choices(schema, alternative).map((each) => ({ description: alternative.description, ...each }))) : [at];
};

export function schemaAt(schema, path) {
  let nodes = choices(schema, schema);
  for (const key of path) {
    const next = (node) => {
      if (key === "[]") return node.items;
      return node.properties?.[key] ?? (typeof node.additionalProperties === "object" ? node.additionalProperties : undefined);
    };
    nodes = nodes.map(next).filter(Boolean).flatMap((node) => choices(schema, node));
  }
  return nodes;
}

export function completionsAt(schema, context) {
  const { state, pos } = context;
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  const lines = state.doc.toString().split("\n").slice(0, line.number);
  lines[line.number - 1] = before;
  const path = pathOf(lines, line.number - 1);
  const value = /^\s*(?:- )*([A-Za-z][\w-]*):\s+([\w-]*)$/.exec(before);
  if (value) {
    const nodes = schemaAt(schema, [...path, value[1]]);
    const words = nodes.flatMap((node) => (node.const ? [node.const] : node.enum ?? []).map((label) => ({ label: String(label), info: node.description })));
    return words.length ? { from: pos - value[2].length, options: words } : null;
  }
  const key = /^\s*(?:- )*([\w-]*)$/.exec(before);
  if (!key || (!key[1] && !context.explicit)) return null;
  const options = schemaAt(schema, path).flatMap((node) =>
    Object.entries(node.properties ?? {}).map(([label, property]) => ({
      label, type: "property", apply: `${label}: `, info: property.description ?? node.description,
      boost: node.required?.includes(label) ? 1 : 0,
    })));
  const known = new Set();
  const distinct = options.filter(({ label }) => !known.has(label) && known.add(label));
  return distinct.length ? { from: pos - key[1].length, options: distinct } : null;
}
