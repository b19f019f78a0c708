// The globals that k6 has and Node has not, or has otherwise.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { state } from "./state.mjs";

globalThis.__ENV = { ...process.env };
Object.defineProperty(globalThis, "__VU", { get: () => state.user });
Object.defineProperty(globalThis, "__ITER", { get: () => state.iteration });

// Reads a file beside the one that asks for it; the loader gives each file its own.
globalThis.__openFrom = (url) => (path, mode) => {
  if (!state.init) throw new Error("open() is for the top level of scripts");
  const read = readFileSync(resolve(dirname(fileURLToPath(url)), path.replace(/^file:\/\//, "")));
  return mode === "b" ? read.buffer.slice(read.byteOffset, read.byteOffset + read.length) : read.toString();
};

const text = (value) => {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack;
  if (typeof value === "function") return `[object Function]`;
  return JSON.stringify(value) ?? String(value);
};
for (const level of ["log", "info", "warn", "error", "debug"]) {
  console[level] = (...values) => state.logs.push(`${level === "log" ? "info" : level} ${values.map(text).join(" ")}`);
}

// An iteration is over when its timers are.
state.pause = setTimeout;
for (const [set, clear, once] of [["setTimeout", "clearTimeout", true], ["setInterval", "clearInterval", false]]) {
  const [begin, end] = [globalThis[set], globalThis[clear]];
  globalThis[set] = (run, delay, ...values) => {
    const timer = begin(() => {
      if (once) state.timers.delete(timer);
      run(...values);
    }, delay);
    state.timers.add(timer);
    return timer;
  };
  globalThis[clear] = (timer) => {
    state.timers.delete(timer);
    end(timer);
  };
}
