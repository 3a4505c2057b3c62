// The state in the fragment of the URL: deflated JSON in base64 with the URL-safe alphabet (RFC 4648 §5).

import { validated } from "./state.js";

// The maximum number of characters of a link, and the maximum number of bytes of the state in it.
export const MOST_LETTERS = 1 << 20, MOST_BYTES = 4 << 20;

export async function packed(state) {
  const content = new TextEncoder().encode(JSON.stringify(state));
  const bytes = new Uint8Array(await new Response(new Blob([content]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer());
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Inflates piece by piece, and stops at the limit.
async function inflated(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const pieces = [];
  for (let length = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(pieces).arrayBuffer());
    length += value.length;
    if (length > MOST_BYTES) {
      await reader.cancel();
      throw new Error(`the link has more than ${MOST_BYTES} bytes`);
    }
    pieces.push(value);
  }
}

export async function unpacked(text) {
  if (text.length > MOST_LETTERS) throw new Error(`the link has more than ${MOST_LETTERS} letters`);
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return validated(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await inflated(bytes))));
}
