import { state } from "../state.mjs";

class Metric {
  constructor(name) {
    if (!state.init) throw new Error("metrics are made at the top level of scripts");
    this.name = name;
  }
  add(value) {
    state.count(this.name, {}, Number(value));
  }
}

export class Counter extends Metric {}
export class Trend extends Metric {}
export class Rate extends Metric {
  add(value) {
    super.add(Boolean(value));
  }
}
export class Gauge extends Metric {
  add(value) {
    delete state.counts[this.name];
    super.add(value);
  }
}
export default { Counter, Gauge, Rate, Trend };
