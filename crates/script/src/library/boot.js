// Gives each user its own modules, and freezes what users share; without `freeze`: there is one user. `imports` has a number for each import of each module: below 0
// what is built in. `base`: variables of all users, to which each may have more; what a script sets there is the user's own. `origins`: where modules come from.
(function (host, builtIn, factories, imports, base, freeze, origins) {
  "use strict";

  const text = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return value.stack ? `${value}\n${value.stack}` : String(value);
    if (typeof value === "object" && value !== null) {
      try {
        return JSON.stringify(value);
      } catch {
        return String(value);
      }
    }
    return String(value);
  };
  const write = (level) => (...values) => host.log(level, values.map(text).join(" "));
  const log = write(1);
  globalThis.console = { log, info: log, debug: write(0), warn: write(2), error: write(3) };
  globalThis.global = globalThis;
  // What it calls would run in the flow of whichever user frees something; k6's engine does not have it either.
  delete globalThis.FinalizationRegistry;
  Object.defineProperty(globalThis, "__VU", { get: () => host.user(), enumerable: true });
  Object.defineProperty(globalThis, "__ITER", { get: () => host.iteration(), enumerable: true });

  for (const own of builtIn) own.default ??= own;
  freeze?.(host.share, [globalThis, ...builtIn, ...host.hidden]);

  return function instantiate(more) {
    const env = { ...base, ...more };
    const made = new Array(factories.length);
    // Modules that have begun and not ended: they may import each other.
    const begun = new Set();

    const make = (number) => {
      const exports = (made[number] = Object.create(null));
      const read = (name, get) => Object.defineProperty(exports, name, { get, enumerable: true });
      const put = (own) => {
        for (const name of Object.keys(own)) read(name, own[name]);
      };
      put.all = (other) => {
        for (const name of Object.keys(other)) {
          if (name !== "default" && !(name in exports)) read(name, () => other[name]);
        }
      };
      // A module by the number of an import, which is to have these names.
      const find = (at, source, names = []) => {
        const other = imports[number][at];
        const own = other < 0 ? builtIn[-1 - other] : (made[other] ?? make(other));
        const absent = begun.has(other) || "module.exports" in own ? undefined : names.find((name) => !(name in own));
        if (absent !== undefined) {
          throw new SyntaxError(`"${source}" does not export \`${absent}\`: it exports ${Object.keys(own).join(", ")}`);
        }
        return own;
      };
      find.meta = () => ({ resolve: (specifier) => host.resolve(origins[number], specifier) });
      begun.add(number);
      factories[number](find, put, env);
      begun.delete(number);
      return exports;
    };
    return make(0);
  };
});
