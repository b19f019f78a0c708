const made = new Map();

export class SharedArray {
  constructor(name, make) {
    if (!made.has(name)) made.set(name, make().map((row) => JSON.stringify(row)));
    return made.get(name).map((row) => deep(JSON.parse(row)));
  }
}

function deep(value) {
  if (value !== null && typeof value === "object") Object.values(value).forEach(deep), Object.freeze(value);
  return value;
}

export default { SharedArray };
