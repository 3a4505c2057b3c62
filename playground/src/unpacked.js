// The page contains data that are gzipped and encoded with the digits of RFC 1924. A full stop replaces `<`,
// which would begin a tag. Four bytes need five digits; with base64 they would need 5.33.

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";
const LAST = DIGITS.length - 1;

function bytesOf(text) {
  const values = new Uint8Array(128);
  for (let value = 0; value <= LAST; value += 1) values[DIGITS.charCodeAt(value)] = value;
  const words = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
  for (let at = 0, place = 0; at < text.length; at += 5, place += 4) {
    let word = 0;
    // If the last group is short, it is padded with the greatest digit.
    for (let end = at; end < at + 5; end += 1) word = 85 * word + (end < text.length ? values[text.charCodeAt(end)] : LAST);
    words.setUint32(place, word);
  }
  return new Uint8Array(words.buffer, 0, Math.floor(4 * text.length / 5));
}

export function unpacked(text) {
  const stream = new Blob([bytesOf(text.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
