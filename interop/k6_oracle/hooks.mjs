// How Node finds and reads what scripts import: k6's modules are our own, all other files are modules of ECMAScript.
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = new URL("./", import.meta.url).href;

export async function resolve(name, context, next) {
  if (/^https:\/\/jslib\.k6\.io\/k6-utils\//.test(name)) return own("k6-utils");
  if (/^https:\/\/jslib\.k6\.io\/k6-summary\//.test(name)) return own("k6-summary");
  if (name === "k6" || name.startsWith("k6/")) return own(name);
  if (/^\.{0,2}\//.test(name) && context.parentURL?.startsWith("file:")) {
    const path = fileURLToPath(new URL(name, context.parentURL));
    const found = [path, `${path}.js`].find((each) => existsSync(each) && statSync(each).isFile());
    if (found !== undefined) return { url: pathToFileURL(found).href, shortCircuit: true };
  }
  return next(name, context);
}

function own(name) {
  const file = name === "k6" ? "k6" : name.replace(/^k6\//, "");
  return { url: `${here}modules/${file}.mjs`, shortCircuit: true };
}

export async function load(url, context, next) {
  if (!url.startsWith("file:") || url.startsWith(here) && !url.startsWith(`${here}scripts/`) || url.includes("/node_modules/")) {
    return next(url, context);
  }
  const from = url.split("?")[0];
  const text = readFileSync(fileURLToPath(from), "utf8");
  // On the first line, so that the lines are the author's.
  const head = `const open = __openFrom(${JSON.stringify(from)}); `;
  return { format: "module", source: head + text, shortCircuit: true };
}
