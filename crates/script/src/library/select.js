// Finds a part of a JSON value by a path as gjson has them: names with dots between them, indexes, `#` for all elements (at the
// end: their number), `#(name=="x")` for the first element that meets a condition, `#(...)#` for all of them, and `*` and `?`
// in names. `\` takes the meaning from what follows it. Returns undefined where there is nothing.
(function () {
  "use strict";

  const operators = ["==", "!=", "<=", ">=", "!%", "<", ">", "=", "%"];

  function fail(path, why) {
    throw new SyntaxError(`selector "${path}": ${why}; expected names, indexes, # and #(condition) with dots between them`);
  }

  // A pattern with `*` and `?` as an expression; without them, the name itself.
  function pattern(raw) {
    let name = "";
    let source = "";
    let isPattern = false;
    for (let at = 0; at < raw.length; at++) {
      let letter = raw[at];
      if (letter === "*" || letter === "?") {
        isPattern = true;
        source += letter === "*" ? "[^]*" : "[^]";
        continue;
      }
      if (letter === "\\" && at + 1 < raw.length) letter = raw[++at];
      name += letter;
      source += letter.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&");
    }
    return isPattern ? new RegExp(`^${source}$`) : name;
  }

  // The index behind the closing parenthesis of the one that opens at a place.
  function close(path, from) {
    let depth = 0;
    let quoted = false;
    for (let at = from; at < path.length; at++) {
      const letter = path[at];
      if (letter === "\\") at++;
      else if (letter === '"') quoted = !quoted;
      else if (quoted) continue;
      else if (letter === "(" || letter === "[") depth++;
      else if ((letter === ")" || letter === "]") && --depth === 0) return at + 1;
    }
    return fail(path, "a condition is not closed");
  }

  function condition(path, text) {
    let at = 0;
    let quoted = false;
    for (let depth = 0; at < text.length; at++) {
      const letter = text[at];
      if (letter === "\\") at++;
      else if (letter === '"') quoted = !quoted;
      else if (quoted) continue;
      else if (letter === "(" || letter === "[") depth++;
      else if (letter === ")" || letter === "]") depth--;
      else if (depth === 0 && "=!<>%".includes(letter)) break;
    }
    const left = parse(text.slice(0, at).trim());
    if (at >= text.length) return { left, operator: "exists" };
    const operator = operators.find((own) => text.startsWith(own, at));
    if (operator === undefined) fail(path, `a condition has no operator: ${text}`);
    const raw = text.slice(at + operator.length).trim();
    let right = raw;
    try {
      right = JSON.parse(raw);
    } catch {
      // A word without quotes is a text.
    }
    return { left, operator: operator === "=" ? "==" : operator, right };
  }

  function parse(path) {
    const parts = [];
    for (let at = 0; at < path.length; ) {
      if (path[at] === "#" && (path[at + 1] === "(" || path[at + 1] === "[")) {
        const end = close(path, at + 1);
        const isAll = path[end] === "#";
        parts.push({ condition: condition(path, path.slice(at + 2, end - 1)), isAll });
        at = end + (isAll ? 1 : 0);
      } else {
        const from = at;
        while (at < path.length && path[at] !== ".") at += path[at] === "\\" ? 2 : 1;
        const raw = path.slice(from, at);
        if (/^[@!{[]/.test(raw) || /(^|[^\\])\|/.test(raw)) fail(path, `"${raw}" is something of gjson that squall does not have`);
        parts.push(raw === "#" ? { isEach: true } : { name: pattern(raw) });
      }
      if (at < path.length) {
        if (path[at] !== ".") fail(path, `a dot is missing before "${path.slice(at)}"`);
        at++;
      }
    }
    return parts;
  }

  function holds({ left, operator, right }, element) {
    const value = left.length === 0 ? element : find(element, left, 0);
    if (operator === "exists") return value !== undefined;
    if (value === undefined) return false;
    if (operator === "%" || operator === "!%") {
      if (typeof value !== "string") return false;
      const own = pattern(String(right));
      const matches = typeof own === "string" ? own === value : own.test(value);
      return matches === (operator === "%");
    }
    if (operator === "==") return value === right;
    if (operator === "!=") return value !== right;
    if (typeof value !== typeof right) return false;
    switch (operator) {
      case "<":
        return value < right;
      case "<=":
        return value <= right;
      case ">":
        return value > right;
      default:
        return value >= right;
    }
  }

  function member(value, name) {
    if (value === null || typeof value !== "object") return undefined;
    if (typeof name !== "string") {
      const found = Object.keys(value).find((key) => name.test(key));
      return found === undefined ? undefined : value[found];
    }
    if (Array.isArray(value) && !/^\d+$/.test(name)) return undefined;
    return Object.hasOwn(value, name) ? value[name] : undefined;
  }

  const each = (list, parts, at) => list.map((own) => find(own, parts, at)).filter((own) => own !== undefined);

  function find(value, parts, at) {
    if (at === parts.length || value === undefined) return value;
    const part = parts[at];
    if (part.name !== undefined) return find(member(value, part.name), parts, at + 1);
    if (!Array.isArray(value)) return undefined;
    if (part.isEach) return at + 1 === parts.length ? value.length : each(value, parts, at + 1);
    if (part.isAll) return each(value.filter((own) => holds(part.condition, own)), parts, at + 1);
    return find(value.find((own) => holds(part.condition, own)), parts, at + 1);
  }

  return (value, path) => find(value, parse(path), 0);
})();
