// What scripts import from https://jslib.k6.io/k6-utils: our own, after its documentation.
(function (host, modules) {
  "use strict";

  const execution = modules["k6/execution"];
  const k6 = modules.k6;

  const randomIntBetween = (min, max) => Math.floor(Math.random() * (max - min + 1)) + min;
  const randomItem = (list) => list[Math.floor(Math.random() * list.length)];

  function randomString(length, characters = "abcdefghijklmnopqrstuvwxyz") {
    return Array.from({ length }, () => randomItem(characters)).join("");
  }

  function uuidv4(isSecure = false) {
    if (isSecure) return crypto.randomUUID();
    const digit = (mask, set) => ((randomIntBetween(0, 15) & mask) | set).toString(16);
    const form = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
    return form.replace(/[xy]/g, (own) => (own === "x" ? digit(15, 0) : digit(3, 8)));
  }

  // What stands between two texts: the first, or all of them.
  function findBetween(content, left, right, all = false) {
    const found = [];
    for (let at = 0; ; ) {
      const start = content.indexOf(left, at);
      if (start < 0) break;
      const end = content.indexOf(right, start + left.length);
      if (end < 0) break;
      found.push(content.slice(start + left.length, end));
      if (!all) break;
      at = end + right.length;
    }
    return all ? found : (found[0] ?? "");
  }

  const inMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

  function parseDuration(text) {
    if (typeof text !== "string" || text === "") throw new TypeError("parseDuration() takes a text such as 1m30s");
    let rest = text;
    let sum = 0;
    while (rest !== "") {
      const part = /^(\d+(?:\.\d*)?|\.\d+)(ms|d|h|m|s)/.exec(rest);
      if (part === null) {
        throw new TypeError(`parseDuration(): "${text}" is not made of numbers with the units d, h, m, s or ms`);
      }
      sum += Number(part[1]) * inMs[part[2]];
      rest = rest.slice(part[0].length);
    }
    return sum;
  }

  // The stages of the scenario that runs, and the number of the one that it is in.
  function stages() {
    const options = execution.test.options;
    const scenario = options.scenarios?.[execution.scenario.name] ?? options;
    const list = scenario.stages;
    if (!Array.isArray(list) || list.length === 0) {
      throw new Error(`scenario ${execution.scenario.name} has no stages: ramping-vus and ramping-arrival-rate have`);
    }
    const times = list.map((own) => parseDuration(own.duration));
    let passed = execution.scenario.progress * times.reduce((sum, own) => sum + own, 0);
    let at = 0;
    while (at < list.length - 1 && passed >= times[at]) passed -= times[at++];
    return { list, at, start: scenario.startVUs ?? scenario.startRate ?? 1 };
  }

  const getCurrentStageIndex = () => stages().at;

  function tagWithCurrentStageIndex() {
    execution.vu.metrics.tags.stage = String(getCurrentStageIndex());
  }

  function tagWithCurrentStageProfile() {
    const { list, at, start } = stages();
    const before = at === 0 ? start : list[at - 1].target;
    const change = Math.sign(list[at].target - before);
    execution.vu.metrics.tags.stage_profile = ["ramp-down", "steady", "ramp-up"][change + 1];
  }

  // Users that come and go as a normal distribution does, from two deviations before its mean to two after it. A sixth of the
  // time each leads there and away.
  function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
    const edge = Math.ceil(durationSeconds / 6);
    const each = Math.ceil((durationSeconds * 4) / (6 * numberOfStages));
    const stage = (seconds, target) => ({ duration: `${seconds}s`, target });
    const height = (at) => {
      const deviations = -2 + (4 * at) / numberOfStages;
      return Math.round(maxVus * Math.exp(-(deviations ** 2) / 2));
    };
    const bell = Array.from({ length: numberOfStages }, (_, at) => stage(each, height(at + 1)));
    return [stage(edge, height(0)), ...bell, stage(edge, 0)];
  }

  // As the check of k6, and also with async functions: then it is a promise.
  function check(value, sets, tags) {
    const results = {};
    const late = [];
    for (const [name, own] of Object.entries(sets)) {
      const result = typeof own === "function" ? own(value) : own;
      results[name] = result;
      if (result instanceof Promise) late.push(result.then((known) => (results[name] = known)));
    }
    const told = () => k6.check(value, results, tags);
    return late.length === 0 && !(value instanceof Promise) ? told() : Promise.all(late).then(told);
  }

  return {
    randomIntBetween,
    randomItem,
    randomString,
    uuidv4,
    findBetween,
    parseDuration,
    getCurrentStageIndex,
    tagWithCurrentStageIndex,
    tagWithCurrentStageProfile,
    normalDistributionStages,
    check,
  };
});
