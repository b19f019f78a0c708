// A second, slow interpreter of k6 scripts: Node runs a script's iterations one after another, with our own modules in the place
// of k6's, and prints what it counted as JSON. What it counts is to be what squall counts.
//
// Usage: node oracle.mjs SCRIPT [-i N] [-e NAME=VALUE]...
import { register } from "node:module";
import { pathToFileURL } from "node:url";
import { state, Abort } from "./state.mjs";
import "./globals.mjs";
import "./wire.mjs";

register("./hooks.mjs", import.meta.url);

const { script, iterations } = read(process.argv.slice(2));
let users = 0;

function read(words) {
  const given = { script: undefined, iterations: undefined };
  while (words.length > 0) {
    const word = words.shift();
    if (word === "-i") given.iterations = Number(words.shift());
    else if (word === "-e") {
      const [name, ...value] = words.shift().split("=");
      __ENV[name] = value.join("=");
    } else given.script = word;
  }
  return given;
}

// Each user has the script's top level for itself; files that it imports are shared, as there is one user at a time.
async function user() {
  const own = await import(`${pathToFileURL(script).href}?user=${users++}`);
  return own.default !== null && typeof own.default === "object" ? { ...own.default, ...own } : own;
}

const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

// What setup() returns reaches the others with its keys in order, as k6 writes them.
function sorted(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

// Calls a function, and waits for what it leaves behind.
async function call(run, data) {
  try {
    await run(data);
    while (state.timers.size > 0) await new Promise((done) => state.pause(done, 1));
    return true;
  } catch (error) {
    if (error instanceof Abort) throw error;
    state.errors.push(String(error?.stack ?? error));
    return false;
  }
}

async function scenario(name, own, count, run, data) {
  state.scenario = name;
  state.tags = {};
  state.user++;
  state.inScenario = -1;
  for (state.iteration = 0; state.iteration < count; state.iteration++) {
    state.inScenario++;
    if (!state.options.noCookiesReset) state.jar.clearAll();
    await call(run, copy(data));
    state.count("iterations", {}, 1);
  }
}

async function test() {
  const first = await user();
  state.options = copy(first.options) ?? {};
  let data;
  state.init = false;
  if (first.setup) {
    state.root = "::setup";
    if (!(await call(async () => (data = sorted(copy(await first.setup())))))) return;
  }
  state.root = "";
  const scenarios = iterations === undefined ? state.options.scenarios : undefined;
  for (const [name, own] of Object.entries(scenarios ?? { default: {} })) {
    state.init = true;
    const mine = await user();
    state.init = false;
    const count = iterations ?? own.iterations ?? state.options.iterations ?? 1;
    for (const [key, value] of Object.entries(own.env ?? {})) __ENV[key] = value;
    await scenario(name, own, count, mine[own.exec ?? "default"], data);
  }
  if (first.teardown) {
    state.root = "::teardown";
    await call(first.teardown, copy(data));
  }
}

try {
  await test();
} catch (error) {
  if (!(error instanceof Abort)) state.errors.push(String(error?.stack ?? error));
}
process.stdout.write(`${JSON.stringify({ counts: state.counts, logs: state.logs, errors: state.errors })}\n`, () => process.exit(0));
