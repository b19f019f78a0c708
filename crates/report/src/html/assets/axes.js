// Axes, and what is drawn of a line, in all of squall's pages.

const MARGIN = { left: 70, right: 12, top: 10, bottom: 22 };

/** Ticks of a linear axis from 0 on, up to the first that is not below the highest value: about `wanted` round numbers. */
function ticks(highest, wanted = 4, unit) {
  if (unit === 'share') return wanted < 4 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  const base = unit === 'bytes' || unit === 'size' ? 1024 ** Math.floor(Math.log(Math.max(highest, 1)) / Math.log(1024)) : 1;
  const rough = Math.max(highest, 1e-9) / wanted / base;
  const power = 10 ** Math.floor(Math.log10(rough));
  // There is no half of a user, and no part of a microsecond.
  const isWhole = unit === 'count' || unit === 'time';
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).filter((n) => !isWhole || Number.isInteger(n)).find((n) => n >= rough * 0.999) * base;
  const all = [0];
  while (all[all.length - 1] < highest * 0.9999) all.push(all.length * step);
  return all;
}

/** Ticks of the axis of time, at round seconds and minutes. */
function timeTicks(from, to, wanted) {
  // Minutes are written with whole seconds.
  const parts = to < 600 ? [0.1, 0.2, 0.5] : [];
  const steps = [...parts, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
  const step = steps.find((n) => (to - from) / n <= wanted) || 86400;
  const all = [];
  for (let n = Math.ceil(from / step - 1e-9) * step; n <= to + 1e-9; n += step) all.push(n);
  return all;
}

/** A scale of values: where one lies from the bottom (0) to the top (1). */
function scale(lines, logarithmic, unit, height = 200) {
  const shown = lines.flatMap((line) => line.shown.map(([, value]) => value)).filter((value) => value !== null);
  const highest = Math.max(...shown, 0);
  if (logarithmic) {
    const positive = shown.filter((value) => value > 0);
    const low = Math.floor(Math.log10(Math.min(...positive, 1e9)) * 2) / 2;
    const high = Math.max(Math.ceil(Math.log10(Math.max(highest, 1)) * 2) / 2, low + 0.5);
    const all = [];
    for (let n = Math.ceil(low); n <= high; n += 1) all.push(10 ** n);
    // Of few tenfolds also their middles.
    const few = all.length < 3;
    for (let n = Math.floor(low); few && n < high; n += 1) if (n + Math.log10(3) > low && n + Math.log10(3) < high) all.push(3 * 10 ** n);
    return { at: (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low), ticks: all };
  }
  const lowest = Math.min(...shown, 0);
  const all = ticks(Math.max(highest, -lowest) || 1, height < 130 ? 2 : 4, unit);
  const top = all[all.length - 1];
  // A gauge may be below 0.
  const bottom = lowest < 0 ? -top : 0;
  if (lowest < 0) all.unshift(...all.slice(1).map((tick) => -tick).reverse());
  // A worker's CPU time may be measured as a little more than there is.
  return { at: (value) => (unit === 'share' ? Math.min(value / top, 1) : (value - bottom) / (top - bottom)), ticks: all };
}

/** What is drawn of a line: moves where values are missing. */
function path(shown, x, y) {
  let [d, drawing] = ['', false];
  shown.forEach(([at, value], index) => {
    if (value === null) {
      drawing = false;
      return;
    }
    d += `${drawing ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    const next = shown[index + 1];
    if (!drawing && (!next || next[1] === null)) d += 'h0.01';
    drawing = true;
  });
  return d;
}

/** An area under a line, on top of `base` (a function of the moment). */
function area(shown, x, y, lower) {
  if (shown.length === 0) return '';
  const upper = shown.map(([at, value]) => `${x(at).toFixed(1)} ${y(value || 0).toFixed(1)}`);
  const back = shown.map(([at], index) => `${x(at).toFixed(1)} ${y(lower ? lower[index] : 0).toFixed(1)}`).reverse();
  return `M${upper.join('L')}L${back.join('L')}Z`;
}

/** How metrics over time are drawn: in which unit, and what is said of it. */
const METRIC_KINDS = {
  counter: ['rate', 'What was counted a second.'], gauge: ['number', 'The last value of each interval.'],
  rate: ['share', 'The share of values that were true.'], trend: ['number', 'The mean of the values.'],
};
const METRIC_FORMS = [['c1'], ['c4', '5 3'], ['c3', '8 3'], ['c6', '5 2'], ['c2', '2 2'], ['c5', '10 3 2 3']];

/** Metrics over time ({name, scenario, tags: pairs, kind}) by name: a chart for each, with lines for its scenarios and tags. */
function metricGroups(metrics) {
  const byName = new Map();
  for (const own of metrics) {
    const key = JSON.stringify([own.kind, own.name]);
    byName.set(key, [...(byName.get(key) || []), own]);
  }
  return [...byName.values()].map((all) => {
    const [{ name: title, kind }, scenarios] = [all[0], new Set(all.map(({ scenario }) => scenario))];
    const [unit, told] = METRIC_KINDS[kind];
    const lines = all.slice(0, METRIC_FORMS.length).map((metric, at) => {
      const tags = metric.tags.map(([tag, value]) => `${tag}=${value}`).join(', ');
      const name = [scenarios.size > 1 && metric.scenario, tags].filter(Boolean).join(' ') || title;
      return { metric, name, color: METRIC_FORMS[at][0], dash: METRIC_FORMS[at][1] };
    });
    const more = all.length - lines.length;
    return { title, kind, unit, lines, about: more > 0 ? `${told} ${count(more)} more of this name are not drawn.` : told };
  });
}
