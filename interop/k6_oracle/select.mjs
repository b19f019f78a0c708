// The paths that Response.json() takes, as far as the scripts here use them: names, numbers, `#`.

export function select(value, path) {
  const [first, ...others] = path.split(".");
  const rest = others.join(".");
  if (value === null || value === undefined) return undefined;
  if (first === "#" && Array.isArray(value)) {
    return rest === "" ? value.length : value.map((own) => select(own, rest)).filter((own) => own !== undefined);
  }
  const own = value[first];
  return rest === "" ? own : select(own, rest);
}
