import { state } from "../state.mjs";

export function check(value, sets, tags) {
  let all = true;
  for (const [name, own] of Object.entries(sets ?? {})) {
    let ok = false;
    try {
      ok = Boolean(typeof own === "function" ? own(value) : own);
    } finally {
      state.count("checks", { check: name, group: state.group(), ...tags }, Number(ok));
    }
    all &&= ok;
  }
  return all;
}

export function group(name, run) {
  state.groups.push(name);
  try {
    return run();
  } finally {
    state.count("group_duration", { group: state.group() }, 0);
    state.groups.pop();
  }
}

export function fail(why) {
  throw new Error(why ?? "");
}

// Time does not matter to counts.
export function sleep() {}

export function randomSeed() {}

export default { check, group, fail, sleep, randomSeed };
