// Texts on a canvas, fitted to the available width. Measured widths are cached, because each frame draws the
// same texts.

// The maximum number of cached texts.
const MOST_KEPT = 2000;

function kept(known, context, words, most, make) {
  const key = `${context.font}|${Math.round(most)}|${words}`;
  if (!known.has(key)) {
    if (known.size > MOST_KEPT) known.clear();
    known.set(key, make());
  }
  return known.get(key);
}

// Texts that are cut to a width.
const cut = new Map();
export function clipped(context, words, most) {
  if (most === undefined) return words;
  return kept(cut, context, words, most, () => {
    let fits = words;
    while (fits.length > 1 && context.measureText(fits).width > most) fits = `${fits.slice(0, -2)}…`;
    return fits;
  });
}

// Texts in one or two lines, broken between words.
const broken = new Map();
export function halves(context, words, most) {
  return kept(broken, context, words, most, () => {
    if (context.measureText(words).width <= most) return [words];
    const spaces = [...words.matchAll(/ /g)].map(({ index }) => index);
    const end = spaces.findLast((at) => context.measureText(words.slice(0, at)).width <= most);
    return end === undefined ? [words] : [words.slice(0, end), words.slice(end + 1)];
  });
}
