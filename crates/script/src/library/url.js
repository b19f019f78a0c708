// `URL` and `URLSearchParams`, as globals and as the module that k6's library has of them.
(function (host) {
  "use strict";

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};
    constructor(init = "", changed) {
      if (changed !== undefined) this.#changed = changed;
      if (typeof init === "object" && init !== null) {
        const pairs = typeof init[Symbol.iterator] === "function" ? Array.from(init) : Object.entries(init);
        this.#pairs = pairs.map((pair) => {
          const own = Array.from(pair);
          if (own.length !== 2) throw new TypeError("URLSearchParams takes pairs of a name and a value");
          return own.map(String);
        });
      } else {
        this.#pairs = host.formPairs(String(init).replace(/^\?/, ""));
      }
    }
    #change(pairs) {
      this.#pairs = pairs;
      this.#changed(this.toString());
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#change([...this.#pairs, [String(name), String(value)]]);
    }
    delete(name, value) {
      const goes = ([own, text]) => own === String(name) && (value === undefined || text === String(value));
      this.#change(this.#pairs.filter((pair) => !goes(pair)));
    }
    get(name) {
      return this.getAll(name)[0] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([own]) => own === String(name)).map(([, value]) => value);
    }
    has(name, value) {
      return this.getAll(name).some((own) => value === undefined || own === String(value));
    }
    set(name, value) {
      const first = this.#pairs.findIndex(([own]) => own === String(name));
      if (first < 0) return this.append(name, value);
      const others = this.#pairs.filter(([own], at) => at === first || own !== String(name));
      this.#change(others.map((pair, at) => (at === first ? [String(name), String(value)] : pair)));
    }
    sort() {
      const order = ([a], [b]) => (a < b ? -1 : a > b ? 1 : 0);
      this.#change([...this.#pairs].sort(order));
    }
    forEach(callback, self) {
      for (const [name, value] of this) callback.call(self, value, name, this);
    }
    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    *keys() {
      for (const [name] of this.#pairs) yield name;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return this.#pairs.map((pair) => pair.map((own) => host.formText(own)).join("=")).join("&");
    }
  }

  class URL {
    #parts;
    #params = null;
    constructor(url, base) {
      this.#parts = host.url(String(url), base === undefined ? undefined : String(base));
    }
    static canParse(url, base) {
      try {
        return Boolean(new URL(url, base));
      } catch {
        return false;
      }
    }
    get href() {
      return this.#parts.href;
    }
    set href(url) {
      this.#parts = host.url(String(url));
      this.#params = null;
    }
    get origin() {
      return this.#parts.origin;
    }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.search, (text) => {
        this.#parts = host.urlWith(this.href, "search", text);
      });
      return this.#params;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
    static {
      const names = ["protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
      for (const name of names) {
        Object.defineProperty(URL.prototype, name, {
          get() {
            return this.#parts[name];
          },
          set(text) {
            this.#parts = host.urlWith(this.href, name, String(text));
            if (name === "search") this.#params = null;
          },
          enumerable: true,
          configurable: true,
        });
      }
    }
  }

  Object.assign(globalThis, { URL, URLSearchParams });
  return { URL, URLSearchParams };
});
