(function (host, modules) {
  "use strict";

  const { frozen } = modules.frozen;

  // What is behind the array of this name, which the first of all users makes.
  const find = (name, make) => {
    const array = host.sharedArray(name);
    if (host.sharedLength(array) !== undefined) return array;
    let isWhole = false;
    let made;
    try {
      const values = make();
      if (!Array.isArray(values)) throw new TypeError(`the function of SharedArray "${name}" has to return an array`);
      for (let at = 0; at < values.length; at++) host.sharedPush(array, JSON.stringify(values[at]) ?? "null");
      isWhole = true;
    } finally {
      made = host.sharedEnd(array, isWhole);
    }
    return made;
  };

  class SharedArray {
    constructor(name, make) {
      if (typeof name !== "string" || name === "") {
        throw new TypeError("SharedArray takes a name, which is not empty, and a function that returns an array");
      }
      if (typeof make !== "function") {
        throw new TypeError(`SharedArray "${name}" takes a function that returns an array, after its name`);
      }
      const array = find(name, make);
      const length = host.sharedLength(array);
      // The number of an element that a property stands for; below 0: of none.
      const number = (property) => {
        if (typeof property !== "string") return -1;
        const own = property >>> 0;
        return own < length && String(own) === property ? own : -1;
      };
      const element = (at) => frozen(JSON.parse(host.sharedRow(array, at)));
      const refused = () => {
        throw new TypeError(`SharedArray "${name}" cannot be changed: all users share it`);
      };
      return new Proxy([], {
        get(target, property) {
          if (property === "length") return length;
          const at = number(property);
          return at < 0 ? target[property] : element(at);
        },
        has: (target, property) => number(property) >= 0 || property in target,
        ownKeys: () => [...Array.from({ length }, (_, at) => String(at)), "length"],
        getOwnPropertyDescriptor(_, property) {
          if (property === "length") return { value: length, writable: true, enumerable: false, configurable: false };
          const at = number(property);
          if (at < 0) return undefined;
          return { value: element(at), writable: false, enumerable: true, configurable: true };
        },
        set: refused,
        deleteProperty: refused,
        defineProperty: refused,
        setPrototypeOf: refused,
        preventExtensions: refused,
      });
    }
  }
  return { SharedArray };
});
