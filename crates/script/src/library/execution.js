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

  // An object whose properties are what the user that runs has set; `words` say what that is.
  const named = (values, set, words) => {
    const refused = () => {
      throw new TypeError(`${words.one} is set by its name: ${words.all}.name = value`);
    };
    return new Proxy(Object.create(null), {
      get: (_, name) => (typeof name === "string" ? values()[name] : undefined),
      has: (_, name) => Object.hasOwn(values(), name),
      ownKeys: () => Object.keys(values()),
      getOwnPropertyDescriptor(_, name) {
        const own = Object.getOwnPropertyDescriptor(values(), name);
        return own && { ...own, configurable: true };
      },
      set(_, name, value) {
        if (!["string", "number", "boolean"].includes(typeof value)) {
          throw new TypeError(`${words.one} is a string, a number or a boolean, and ${String(name)} is not`);
        }
        set(name, value);
        return true;
      },
      deleteProperty(_, name) {
        set(name, undefined);
        return true;
      },
      defineProperty: refused,
      setPrototypeOf: refused,
      preventExtensions: refused,
    });
  };
  // `vu.tags = {...}` replaces all.
  const replaceable = (own, words) => ({
    get: () => own,
    set(values) {
      if (typeof values !== "object" || values === null) {
        throw new TypeError(`${words.all}: expected an object of names and values`);
      }
      const given = Object.entries(values);
      for (const name of Object.keys(own)) delete own[name];
      for (const [name, value] of given) own[name] = value;
    },
    enumerable: true,
  });
  const OF_TAGS = { one: "a tag", all: "tags" };
  const OF_METADATA = { one: "metadata", all: "metadata" };
  const tags = replaceable(named(host.userTags, host.setUserTag, OF_TAGS), OF_TAGS);
  const metadata = replaceable(named(host.userMetadata, host.setUserMetadata, OF_METADATA), OF_METADATA);

  const vu = facts({
    idInTest: "userInTest",
    iterationInInstance: "iteration",
    iterationInScenario: "iterationInScenario",
  });
  Object.defineProperty(vu, "idInInstance", { get: () => host.user(), enumerable: true });
  Object.defineProperty(vu, "tags", tags);
  vu.metrics = Object.defineProperties({}, { tags, metadata });

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
