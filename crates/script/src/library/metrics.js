(function (host) {
  "use strict";

  const kinds = ["counter", "gauge", "rate", "trend"];

  class Metric {
    #number;
    #isRate;
    constructor(kind, name, isTime) {
      if (typeof name !== "string" || !/^[a-zA-Z_][a-zA-Z0-9_]{1,127}$/.test(name)) {
        throw new TypeError(`invalid metric name: '${name}'`);
      }
      this.#number = host.metric(kinds.indexOf(kind), name, Boolean(isTime));
      this.#isRate = kind === "rate";
      this.name = name;
    }
    add(value, tags) {
      const number = this.#isRate ? (value ? 1 : 0) : value === true ? 1 : Number(value);
      if (Number.isNaN(number)) {
        host.warn(`the value ${String(value)} of metric ${this.name} is not a number, and is not counted`);
        return false;
      }
      host.add(this.#number, number, tags);
      return true;
    }
  }

  const made = (kind) => class extends Metric {
    constructor(name, isTime) {
      super(kind, name, isTime);
    }
  };
  return { Counter: made("counter"), Gauge: made("gauge"), Rate: made("rate"), Trend: made("trend") };
});
