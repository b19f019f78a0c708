(function (host) {
  "use strict";

  function check(value, sets, tags) {
    if (sets === null || typeof sets !== "object") return true;
    let all = true;
    for (const name of Object.keys(sets)) {
      const own = sets[name];
      let result = own;
      if (typeof own === "function") {
        try {
          result = own(value);
        } catch (error) {
          host.check(name, false, tags);
          throw error;
        }
        if (result instanceof Promise) {
          host.check(name, false, tags);
          throw new TypeError(`check "${name}": async functions cannot be checks`);
        }
      }
      const ok = Boolean(result);
      host.check(name, ok, tags);
      if (!ok) all = false;
    }
    return all;
  }

  function group(name, run) {
    if (typeof run !== "function") throw new TypeError("group() requires a callback as a second argument");
    if (Object.prototype.toString.call(run) === "[object AsyncFunction]") {
      throw new TypeError("group() does not support async functions as arguments");
    }
    host.enter(String(name));
    try {
      return run();
    } finally {
      host.leave();
    }
  }

  return {
    check,
    group,
    fail(why) {
      throw new Error(why === undefined ? "" : String(why));
    },
    sleep(seconds) {
      host.sleep(Number(seconds));
    },
    randomSeed(seed) {
      host.seed(Number(seed));
    },
  };
});
