// Bundles the scripts of the page, of its worker and of the view of a run into the folder given, with the notices of all
// that is in them.
import { build } from "esbuild";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const out = resolve(process.argv[2]);
const { metafile } = await build({
  entryPoints: { start: "src/start.js", playground: "src/main.js", worker: "src/worker.js", watch: "src/watch/main.js" },
  absWorkingDir: import.meta.dirname,
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  loader: { ".yaml": "text", ".cfg": "text", ".conf": "text", ".tc": "text" },
  logLevel: "warning",
  metafile: true,
});

const packages = new Set(Object.keys(metafile.inputs).flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));
const notices = [...packages].sort().map((name) => {
  const folder = join(import.meta.dirname, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder, { withFileTypes: true }).filter((file) => file.isFile() && /^(licen[cs]e|notice)/i.test(file.name));
  const texts = files.map((file) => readFileSync(join(folder, file.name), "utf8").trim());
  return `${name} ${version}, ${license}\n\n${texts.join("\n\n")}\n`;
});
writeFileSync(join(out, "notices.txt"), notices.join("\n\n"));
