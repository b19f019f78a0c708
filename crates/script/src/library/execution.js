(function (host, modules) {
  "use strict";

  const { frozen } = modules.frozen;

  // An object of what is asked for each time when it is read.
  const facts = (names) => {
    const own = {};
    for (const [name, fact] of Object.entries(names)) {
      Object.defineProperty(own, name, { get: () => host.facts()[fact], enumerable: true });
    }
    return own;
  };

  const refused = () => {
    throw new TypeError("a tag is set by its name: tags.name = value");
  };
  // An object whose properties are the tags of the user that runs.
  const tags = new Proxy(Object.create(null), {
    get: (_, name) => (typeof name === "string" ? host.userTags()[name] : undefined),
    has: (_, name) => Object.hasOwn(host.userTags(), name),
    ownKeys: () => Object.keys(host.userTags()),
    getOwnPropertyDescriptor(_, name) {
      const own = Object.getOwnPropertyDescriptor(host.userTags(), name);
      return own && { ...own, configurable: true };
    },
    set(_, name, value) {
      if (!["string", "number", "boolean"].includes(typeof value)) {
        throw new TypeError(`tag ${String(name)}: a tag is a string, a number or a boolean`);
      }
      host.setUserTag(name, value);
      return true;
    },
    deleteProperty(_, name) {
      host.setUserTag(name, undefined);
      return true;
    },
    defineProperty: refused,
    setPrototypeOf: refused,
    preventExtensions: refused,
  });

  // `vu.tags = {...}` replaces all.
  const allTags = {
    get: () => tags,
    set(values) {
      if (typeof values !== "object" || values === null) throw new TypeError("tags are an object of names and values");
      const given = Object.entries(values);
      for (const name of Object.keys(tags)) delete tags[name];
      for (const [name, value] of given) tags[name] = value;
    },
    enumerable: true,
  };

  const vu = facts({
    idInTest: "userInTest",
    iterationInInstance: "iteration",
    iterationInScenario: "iterationInScenario",
  });
  Object.defineProperty(vu, "idInInstance", { get: () => host.user(), enumerable: true });
  Object.defineProperty(vu, "tags", allTags);
  vu.metrics = Object.defineProperty({}, "tags", allTags);
  Object.defineProperty(vu.metrics, "metadata", {
    get() {
      throw new TypeError("squall keeps no metadata beside tags: set vu.metrics.tags");
    },
  });

  return {
    vu,
    scenario: facts({
      name: "scenario",
      executor: "executor",
      startTime: "scenarioStart",
      progress: "progress",
      iterationInInstance: "scenarioIteration",
      iterationInTest: "scenarioIterationInTest",
    }),
    instance: facts({
      iterationsInterrupted: "iterationsInterrupted",
      iterationsCompleted: "iterationsCompleted",
      vusActive: "usersActive",
      vusInitialized: "usersInitialized",
      currentTestRunDuration: "testRun",
    }),
    test: {
      abort: (why) => host.abort(why),
      fail: (why) => host.failTest(why),
      get options() {
        return frozen(JSON.parse(host.options()));
      },
    },
  };
});
