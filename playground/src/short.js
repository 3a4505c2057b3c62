// Names that are cut to the available width, so that different names remain different.

const GAP = "…";
// If at most this number of letters are between the beginning of a word and the difference in it, the word is
// shown from its beginning.
const LONG = 3;

const common = (a, b) => {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
};

// The longest fitting text that `make` returns for up to `most` letters; `otherwise` if no text fits.
function longest(most, make, fits, otherwise = make(1)) {
  let length = most;
  while (length > 0 && !fits(make(length))) length -= 1;
  return length > 0 ? make(length) : otherwise;
}

const WAYS = [
  // Keep the beginning.
  (name, names, fits) => longest(name.length - 1, (length) => name.slice(0, length) + GAP, fits),
  // Keep the part that differs from the most similar name, and as much of the beginning as fits.
  (name, names, fits) => {
    const alike = Math.max(...names.filter((other) => other !== name).map((other) => common(other, name)));
    // The text is shown from the beginning of the word with the difference, unless this beginning is too far
    // away.
    const word = name.slice(0, alike).search(/[\p{L}\p{N}]*$/u);
    const rest = name.slice(alike - word <= LONG ? word : alike);
    if (fits(GAP + rest)) return longest(name.length - rest.length - 1, (length) => name.slice(0, length) + GAP + rest, fits, GAP + rest);
    return longest(rest.length - 1, (length) => GAP + rest.slice(0, length) + GAP, fits);
  },
  // Keep the end.
  (name, names, fits) => longest(name.length - 1, (length) => GAP + name.slice(-length), fits),
  // Keep the beginning, and add the number of the name.
  (name, names, fits) => longest(name.length - 1, (length) => `${name.slice(0, length)}${GAP}${names.indexOf(name) + 1}`, fits),
];

// Returns the cut names in the order of `names`. `fits` returns whether there is room for a text.
export function shortened(names, fits) {
  const all = [...new Set(names)];
  const labels = new Map(all.map((name) => [name, name]));
  let cut = all.filter((name) => !fits(name));
  for (const way of WAYS) {
    for (const name of cut) labels.set(name, way(name, all, fits));
    cut = cut.filter((name) => all.some((other) => other !== name && labels.get(other) === labels.get(name)));
  }
  return names.map((name) => labels.get(name));
}
