import { Abort, state } from "../state.mjs";

export const scenario = {
  get name() { return state.scenario; },
  get executor() { return state.options.scenarios?.[state.scenario]?.executor ?? "shared-iterations"; },
  get iterationInTest() { return state.inScenario; },
  get iterationInInstance() { return state.inScenario; },
  progress: 0,
  startTime: Date.now(),
};
export const instance = { currentTestRunDuration: 0, vusActive: 1, vusInitialized: 1, iterationsCompleted: 0, iterationsInterrupted: 0 };
const tags = new Proxy({}, {
  get: (_, name) => state.tags[name],
  set: (_, name, value) => ((state.tags[name] = String(value)), true),
  deleteProperty: (_, name) => delete state.tags[name],
  ownKeys: () => Reflect.ownKeys(state.tags),
  getOwnPropertyDescriptor: (_, name) => Object.getOwnPropertyDescriptor(state.tags, name),
});
export const vu = {
  get idInTest() { return state.user; },
  get idInInstance() { return state.user; },
  get iterationInInstance() { return state.iteration; },
  get iterationInScenario() { return state.inScenario; },
  tags,
  metrics: { tags, metadata: {} },
};
export const test = {
  abort(why) {
    throw new Abort(why);
  },
  fail() {},
  get options() { return state.options; },
};
export default { scenario, instance, vu, test };
