// What scripts import from https://jslib.k6.io/k6-summary: our own, after its documentation, over what `handleSummary` gets.
(function () {
  "use strict";

  const codes = { bold: 1, faint: 2, red: 31, green: 32, cyan: 36 };
  const painter = (isOn) => (text, ...names) =>
    isOn ? `\u001b[${names.map((own) => codes[own]).join(";")}m${text}\u001b[0m` : text;

  // A number without zeros at its end.
  const short = (value, digits) => String(Number(value.toFixed(digits)));

  function bytes(value) {
    const units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let at = 0;
    while (Math.abs(value) >= 1000 && at < units.length - 1) {
      value /= 1000;
      at += 1;
    }
    return at === 0 ? `${Math.round(value)} B` : `${value.toFixed(value < 10 ? 1 : 0)} ${units[at]}`;
  }

  const units = { s: [0.001, "s"], ms: [1, "ms"], us: [1000, "µs"] };

  // A time in ms, in the unit that is asked for, or in the one that suits it.
  function time(ms, unit) {
    if (units[unit]) return (ms * units[unit][0]).toFixed(2) + units[unit][1];
    if (ms === 0) return "0s";
    if (ms < 0.001) return `${Math.trunc(ms * 1e6)}ns`;
    if (ms < 1) return `${short(ms * 1000, 2)}µs`;
    if (ms < 1000) return `${short(ms, 2)}ms`;
    const seconds = ms / 1000;
    if (seconds < 60) return `${short(seconds, 2)}s`;
    const minutes = Math.trunc(seconds / 60);
    const rest = Math.trunc(seconds % 60);
    return minutes < 60 ? `${minutes}m${rest}s` : `${Math.trunc(minutes / 60)}h${minutes % 60}m${rest}s`;
  }

  function humanizeValue(value, metric, timeUnit) {
    if (metric.type === "rate") return `${(Math.trunc(value * 100 * 100) / 100).toFixed(2)}%`;
    if (metric.contains === "data") return bytes(value);
    if (metric.contains === "time") return time(value, timeUnit);
    return Number.isInteger(value) ? String(value) : short(value, 6);
  }

  // The values of a metric as texts, in the order in which they are shown.
  function shown(metric, stats, unit) {
    const text = (value) => humanizeValue(value, metric, unit);
    const { values } = metric;
    switch (metric.type) {
      case "counter":
        return [text(values.count), `${text(values.rate)}/s`];
      case "gauge":
        return [text(values.value), `min=${text(values.min)}`, `max=${text(values.max)}`];
      case "rate":
        return [text(values.rate), `✓ ${values.passes}`, `✗ ${values.fails}`];
      default:
        return stats.map((stat) => `${stat}=${stat === "count" ? values[stat] : text(values[stat])}`);
    }
  }

  const failed = (metric) => Object.values(metric.thresholds ?? {}).some((own) => !own.ok);
  // Lines of columns of the same width.
  const columns = (rows) => {
    const widths = [];
    for (const row of rows) row.forEach((own, at) => (widths[at] = Math.max(widths[at] ?? 0, own.length)));
    return rows.map((row) => row.map((own, at) => own.padEnd(widths[at])).join(" ").trimEnd());
  };

  function checkLines(group, indent, paint) {
    const lines = [];
    if (group.name !== "") lines.push(`${indent}█ ${group.name}`, "");
    const inner = group.name === "" ? indent : `${indent}  `;
    for (const { name, passes, fails } of group.checks ?? []) {
      if (fails === 0) {
        lines.push(paint(`${inner}✓ ${name}`, "green"));
        continue;
      }
      const percent = Math.floor((100 * passes) / (passes + fails));
      lines.push(paint(`${inner}✗ ${name}`, "red"));
      lines.push(paint(`${inner} ↳  ${percent}% — ✓ ${passes} / ✗ ${fails}`, "red"));
    }
    if (lines.length > 0 && lines.at(-1) !== "") lines.push("");
    for (const own of group.groups ?? []) lines.push(...checkLines(own, inner, paint));
    return lines;
  }

  function metricLines(data, indent, paint, unit) {
    const stats = data.options?.summaryTrendStats ?? ["avg", "min", "med", "max", "p(90)", "p(95)"];
    const names = Object.keys(data.metrics).sort();
    // A metric of some tags stands below the one that it is of.
    const label = (name) => (name.includes("{") ? `  { ${name.slice(name.indexOf("{") + 1, -1)} }` : name);
    const width = Math.max(0, ...names.map((name) => label(name).length)) + 3;
    const kinds = new Map();
    for (const name of names) {
      const kind = data.metrics[name].type === "trend" ? "trend" : "other";
      kinds.set(kind, [...(kinds.get(kind) ?? []), name]);
    }
    const texts = new Map();
    for (const own of kinds.values()) {
      const lines = columns(own.map((name) => shown(data.metrics[name], stats, unit)));
      own.forEach((name, at) => texts.set(name, lines[at]));
    }
    return names.map((name) => {
      const metric = data.metrics[name];
      const hasThresholds = Object.keys(metric.thresholds ?? {}).length > 0;
      const mark = !hasThresholds ? " " : failed(metric) ? paint("✗", "red") : paint("✓", "green");
      return `${indent}${mark} ${label(name).padEnd(width, ".")}: ${paint(texts.get(name), "cyan")}`;
    });
  }

  function textSummary(data, { indent = " ", enableColors = true, summaryTimeUnit } = {}) {
    const paint = painter(enableColors);
    const unit = summaryTimeUnit ?? data.options?.summaryTimeUnit;
    const checks = data.root_group ? checkLines(data.root_group, `${indent}    `, paint) : [];
    return [...checks, ...metricLines(data, `${indent}  `, paint, unit)].join("\n");
  }

  const marks = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  const escaped = (text) => text.replace(/[&<>"']/g, (own) => marks[own]);

  // Each threshold is a test case.
  function jUnit(data, { name = "k6 thresholds", classname = "Unnamed folder" } = {}) {
    const cases = Object.entries(data.metrics).flatMap(([metric, own]) =>
      Object.entries(own.thresholds ?? {}).map(([threshold, { ok }]) => {
        const attributes = `name="${escaped(`${metric} - ${threshold}`)}" classname="${escaped(classname)}"`;
        const failure = '<failure message="threshold exceeded" />';
        return { ok, text: ok ? `<testcase ${attributes} />` : `<testcase ${attributes}>${failure}</testcase>` };
      }),
    );
    const failures = cases.filter((own) => !own.ok).length;
    const counts = `tests="${cases.length}" failures="${failures}"`;
    return [
      '<?xml version="1.0"?>',
      `<testsuites ${counts}>`,
      `<testsuite name="${escaped(name)}" ${counts}>`,
      ...cases.map((own) => own.text),
      "</testsuite>",
      "</testsuites>",
    ].join("\n");
  }

  return { textSummary, jUnit, humanizeValue };
});
