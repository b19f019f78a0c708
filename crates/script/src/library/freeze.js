// Freezes what users share: all that they can reach of it. Afterwards a write to it throws, and says what to do.
(function (share, roots) {
  "use strict";

  // Taken and without effect, as in engines that do not have them: traces of all users are made alike.
  for (const name of ["stackTraceLimit", "prepareStackTrace"]) {
    const value = Error[name];
    Object.defineProperty(Error, name, { get: () => value, set() {} });
  }

  function ownArguments() {
    return arguments;
  }
  // What no name leads to: prototypes of what only the language itself makes.
  const hidden = [
    function* () {},
    async function () {},
    async function* () {},
    [].values(),
    new Map().values(),
    new Set().values(),
    ""[Symbol.iterator](),
    "".matchAll(/a/g),
    [].values().map(() => 0),
    Iterator.from({ next() {} }),
    Iterator.concat?.([]),
    new WeakRef({}),
    Object.getOwnPropertyDescriptor(ownArguments(), "callee").get,
  ];
  const seen = new Set();
  const todo = [...roots, ...hidden];
  while (todo.length > 0) {
    const own = todo.pop();
    if (own === null || (typeof own !== "object" && typeof own !== "function") || seen.has(own)) continue;
    seen.add(own);
    todo.push(Object.getPrototypeOf(own));
    for (const key of Reflect.ownKeys(own)) {
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(own, key);
      todo.push(value, get, set);
    }
  }
  seen.forEach(share);
});
