// What all modules of the oracle share: what was counted, and what runs now.
import { CookieJar } from "./cookies.mjs";

// Ends the test.
export class Abort extends Error {}

export const state = {
  options: {},
  // Whether the script's top level runs.
  init: true,
  user: 0,
  iteration: 0,
  inScenario: 0,
  scenario: "default",
  tags: {},
  groups: [],
  root: "",
  timers: new Set(),
  jar: new CookieJar(),
  expected: undefined,
  counts: {},
  logs: [],
  errors: [],

  // Adds a value to those of a metric with these tags: how many there were, and their sum.
  count(metric, tags, value) {
    const names = Object.keys(tags).sort();
    const key = [metric, ...names.map((name) => `${name}=${tags[name]}`)].join(" ");
    const own = (this.counts[key] ??= [0, 0]);
    own[0]++;
    own[1] += value;
  },
  group() {
    return this.root + this.groups.map((name) => `::${name}`).join("");
  },
};
