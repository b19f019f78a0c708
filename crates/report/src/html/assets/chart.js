// Charts over time: seconds of the run, and the time of day below them. All share one axis: what is zoomed or pointed at in one is in all. A chart is drawn again
// when its width, the zoom or what it shows changes; a legend names each line and its value at the cursor, and a
// table behind each chart has the numbers.

const view = { from: 0, to: elapsed, cursor: null };
const charts = new Set();
const listeners = new Set();
/** Room below a chart for both. */
const BOTTOM = 36;

/** Points of a series within the view: the middle of each interval, and its value. */
function points(series) {
  const { seconds, values, per } = series;
  const all = [];
  values.forEach((value, at) => {
    const start = series.starts ? series.starts[at] : at * seconds;
    const length = Math.min(seconds, elapsed - start);
    if (length <= 0 || start + length < view.from || start > view.to) return;
    // A last interval that is not whole would look like a fall.
    if (length < seconds * 0.95 && elapsed >= 2 * seconds) return;
    all.push([start + length / 2, value === null ? null : per ? value / length : value, start]);
  });
  return all;
}

/** The value of a series at a moment; null: none. */
function valueAt(series, moment) {
  const near = series.shown.find(([, , start]) => moment >= start && moment < start + series.seconds);
  return near ? near[1] : null;
}

/** Marks of the run: the steady part, and moments with a name. */
function marks() {
  const all = [];
  const [from, to] = run.meta.constant_s || [null, null];
  if (from !== null && from > 0) all.push({ at: from, text: 'constant load begins' });
  if (to !== null && to < elapsed - 1) all.push({ at: to, text: 'constant load ends' });
  for (const mark of run.marks) all.push({ at: mark.at_s, text: mark.text });
  return all.filter((mark) => mark.at >= 0 && mark.at <= elapsed).sort((a, b) => a.at - b.at);
}

function drawMarks(root, x, height, named) {
  const steady = run.steady;
  if (steady && steady.found) {
    const [from, to] = [Math.max(steady.from_s, view.from), Math.min(steady.to_s, view.to)];
    if (to > from) root.append(svg('rect.steady', { x: x(from), y: MARGIN.top, width: x(to) - x(from), height }));
  }
  let last = -100;
  for (const { at, text } of marks().filter((mark) => mark.at >= view.from && mark.at <= view.to)) {
    root.append(svg('line.mark', { x1: x(at), x2: x(at), y1: MARGIN.top, y2: MARGIN.top + height }));
    const room = text.length * 6.2 + 8;
    if (!named || x(at) - last < 6) continue;
    const before = x(at) + room > x(view.to);
    if (before && x(at) - room < last) continue;
    root.append(svg('text.mark', { x: x(at) + (before ? -4 : 4), y: MARGIN.top + 9, 'text-anchor': before ? 'end' : 'start' }, text));
    last = before ? x(at) : x(at) + room;
  }
}

/** Thresholds within a chart: a line each, at its edge if it is far above. */
function drawLimits(root, limits, axis, width, y) {
  limits.forEach(({ limit, text, passed }, at) => {
    const beyond = axis.at(limit) > 1;
    const height = y(beyond ? axis.ticks[axis.ticks.length - 1] : limit);
    const label = `${beyond ? '↑ ' : ''}${text}`;
    const below = height < MARGIN.top + 14;
    root.append(svg(`line.limit${passed ? '' : '.failed'}`, { x1: MARGIN.left, x2: width - MARGIN.right, y1: height, y2: height }),
      svg(`text.limit${passed ? '' : '.failed'}`, { x: at % 2 ? width - MARGIN.right - 4 : MARGIN.left + 4, y: below ? height + 12 : height - 4, 'text-anchor': at % 2 ? 'end' : 'start' }, label));
  });
}

/**
 * A chart. `series` are {name, values, seconds, color, dash, per, starts, fill, low}, where what is filled begins at `low`; `unit` is one of UNITS; `stack`
 * puts one upon the other; `paint(canvas, x, height)` draws behind the lines; `limits` are thresholds.
 */
function chart({ title, about, unit, series, log, stack, height = 160, paint, named, rows, limits = [] }) {
  const own = { series, hidden: new Set(), log: !!log, width: 0 };
  const plot = el('div.plot', {
    tabindex: 0, role: 'slider', 'aria-label': `${title}: moment`, 'aria-valuemin': 0,
    'aria-valuemax': Math.ceil(elapsed), 'aria-valuenow': 0, 'aria-valuetext': 'no moment chosen',
  });
  const legend = el('div.legend');
  const labels = series.map((line, at) => {
    const value = el('output.value');
    const swatch = svg('svg.swatch', { width: 22, height: 10, 'aria-hidden': 'true' },
      svg(`line.line.${line.color}`, { x1: 1, x2: 21, y1: 5, y2: 5, 'stroke-dasharray': line.dash }));
    const button = el('button', {
      type: 'button', 'aria-pressed': 'true', onclick: () => {
        own.hidden.has(at) ? own.hidden.delete(at) : own.hidden.add(at);
        button.setAttribute('aria-pressed', String(!own.hidden.has(at)));
        own.draw();
      },
    }, swatch, line.name, value);
    legend.append(button);
    return value;
  });
  const logButton = log === undefined ? null : el('button.small', {
    type: 'button', 'aria-pressed': String(own.log), onclick: () => {
      own.log = !own.log;
      logButton.setAttribute('aria-pressed', String(own.log));
      own.draw();
    },
  }, 'logarithmic');
  const values = lazy('Values as a table', () => tableOf(title, series, unit, rows));
  const figure = el('figure.chart', null,
    el('figcaption', null, el('h3', null, title), about ? el('p.about', null, about) : null, el('div.bar', null, legend, logButton)),
    plot, values);

  own.point = () => {
    own.visible.forEach((line) => {
      labels[line.index].textContent = view.cursor === null ? '' : text(valueAt(line, view.cursor));
    });
    const told = own.visible.map((line) => `${line.name} ${text(valueAt(line, view.cursor ?? -1))}`);
    plot.setAttribute('aria-valuenow', Math.round(view.cursor ?? 0));
    plot.setAttribute('aria-valuetext', view.cursor === null ? 'no moment chosen' : `${[moment(view.cursor), timeOfDay(view.cursor)].filter(Boolean).join(', ')}: ${told.join(', ')}`);
    if (!own.cursor) return;
    const seen = view.cursor !== null && view.cursor >= view.from && view.cursor <= view.to;
    own.cursor.setAttribute('visibility', seen ? 'visible' : 'hidden');
    if (seen) {
      own.cursor.setAttribute('x1', own.x(view.cursor));
      own.cursor.setAttribute('x2', own.x(view.cursor));
    }
  };
  const text = (value) => (value === null || value === undefined ? '–' : UNITS[unit].show(value));

  own.draw = () => {
    own.width = plot.clientWidth || own.width;
    if (!own.width) return;
    const [width, inner] = [own.width, height - MARGIN.top - BOTTOM];
    own.x = (at) => MARGIN.left + ((at - view.from) / (view.to - view.from)) * (width - MARGIN.left - MARGIN.right);
    own.visible = series.map((line, index) => ({ ...line, index, shown: points(line), lower: line.low && points({ ...line, values: line.low }).map(([, value]) => value) })).filter((line) => !own.hidden.has(line.index));
    const tops = stack ? stacked(own.visible) : own.visible;
    // A threshold that is not far above is in the chart.
    const highest = Math.max(0, ...tops.flatMap((line) => line.shown.map(([, value]) => value || 0)));
    const near = limits.filter(({ limit }) => limit <= 3 * highest).map(({ limit }) => ({ shown: [[0, limit]] }));
    const axis = paint ? paint.axis : scale([...tops, ...near], own.log, unit, height);
    const y = (value) => MARGIN.top + inner * (1 - axis.at(value));
    const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' });
    drawMarks(root, own.x, inner, named);
    for (const tick of axis.ticks) {
      const at = y(tick);
      if (at < MARGIN.top - 1 || at > MARGIN.top + inner + 1) continue;
      root.append(svg('line.grid', { x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at }),
        svg('text.tick', { x: MARGIN.left - 6, y: at + 4, 'text-anchor': 'end' }, tickText(tick, unit)));
    }
    for (const tick of timeTicks(view.from, view.to, Math.max(2, width / 110))) {
      // One at the end would reach beyond the picture.
      const isLast = own.x(tick) > width - 28;
      const place = { x: isLast ? width - 1 : own.x(tick), 'text-anchor': isLast ? 'end' : 'middle' };
      root.append(svg('text.tick', { ...place, y: height - 21 }, moment(tick)), svg('text.tick', { ...place, y: height - 7 }, timeOfDay(tick)));
    }
    for (const line of tops) {
      if (stack || line.fill) root.append(svg(`path.area.${line.color}`, { d: area(line.shown, own.x, y, line.lower) }));
      root.append(svg(`path.line.${line.color}`, { d: path(line.shown, own.x, y), 'stroke-dasharray': line.dash }));
    }
    drawLimits(root, limits, axis, width, y);
    own.cursor = svg('line.cursor', { y1: MARGIN.top, y2: MARGIN.top + inner, visibility: 'hidden' });
    own.selection = svg('rect.selection', { y: MARGIN.top, height: inner, width: 0 });
    root.append(own.selection, own.cursor);
    plot.replaceChildren(root);
    if (paint) plot.prepend(paint.draw(own.x, y, width, height));
    own.point();
  };
  interact(plot, own);
  charts.add(own);
  sizes.observe(plot);
  own.plot = plot;
  own.figure = figure;
  return own;
}

/** Lines upon each other: each begins where the one before ends. */
function stacked(lines) {
  const sums = new Map();
  return lines.map((line) => {
    const lower = line.shown.map(([at]) => sums.get(at) || 0);
    const shown = line.shown.map(([at, value, start], index) => [at, lower[index] + (value || 0), start]);
    shown.forEach(([at, value]) => sums.set(at, value));
    return { ...line, shown, lower };
  });
}

function tableOf(title, series, unit, rows) {
  if (rows) return rows();
  const all = series.map((line) => ({ ...line, shown: points(line) }));
  const starts = [...new Set(all.flatMap((line) => line.shown.map(([, , start]) => start)))].sort((a, b) => a - b);
  const by = all.map((line) => new Map(line.shown.map(([, value, start]) => [start, value])));
  const cells = starts.map((start) => [moment(start), timeOfDay(start), ...by.map((values) => {
    const value = values.get(start);
    return value === undefined || value === null ? '–' : UNITS[unit].show(value);
  })]);
  return table(title, ['from', 'time of day', ...series.map((line) => line.name)], cells);
}

/** Zooms to a part of the run. */
function zoom(from, to) {
  const least = Math.min(elapsed, Math.max(curves ? curves.seconds : 1, 1) * 3);
  const length = Math.min(elapsed, Math.max(to - from, least));
  view.from = Math.max(0, Math.min(from, elapsed - length));
  view.to = view.from + length;
  charts.forEach((own) => own.draw());
  listeners.forEach((listener) => listener());
}

function point(at) {
  view.cursor = at === null ? null : Math.max(0, Math.min(elapsed, at));
  charts.forEach((own) => own.visible && own.point());
}

/** Pointer and keys: point, drag to zoom, arrows to move, plus and minus to zoom, 0 for all. */
function interact(plot, own) {
  let began = null;
  const at = (event) => {
    const x = event.clientX - plot.getBoundingClientRect().left;
    const share = (x - MARGIN.left) / (own.width - MARGIN.left - MARGIN.right);
    return view.from + Math.max(0, Math.min(1, share)) * (view.to - view.from);
  };
  plot.addEventListener('pointerdown', (event) => {
    if (event.button === 0 && event.pointerType !== 'touch') [began] = [at(event), plot.setPointerCapture(event.pointerId)];
  });
  plot.addEventListener('pointermove', (event) => {
    const now = at(event);
    point(now);
    if (began === null) return;
    const [left, right] = [Math.min(own.x(began), own.x(now)), Math.max(own.x(began), own.x(now))];
    own.selection.setAttribute('x', left);
    own.selection.setAttribute('width', right - left);
  });
  plot.addEventListener('pointerup', (event) => {
    const [from, to] = [began, at(event)];
    began = null;
    if (from === null) return point(to);
    own.selection.setAttribute('width', 0);
    if (Math.abs(own.x(to) - own.x(from)) > 8) zoom(Math.min(from, to), Math.max(from, to));
  });
  plot.addEventListener('pointerleave', () => began === null && document.activeElement !== plot && point(null));
  plot.addEventListener('dblclick', () => zoom(0, elapsed));
  plot.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = (own.series[0] ? own.series[0].seconds : 1) * (event.shiftKey ? 10 : 1);
    const here = view.cursor === null ? (view.from + view.to) / 2 : view.cursor;
    const length = view.to - view.from;
    const keys = {
      ArrowLeft: () => point(here - step), ArrowDown: () => point(here - step),
      ArrowRight: () => point(here + step), ArrowUp: () => point(here + step),
      Home: () => point(view.from), End: () => point(view.to),
      '+': () => zoom(here - length / 4, here + length / 4), '-': () => zoom(here - length, here + length),
      0: () => zoom(0, elapsed), Escape: () => zoom(0, elapsed),
    };
    const does = keys[event.key === '=' ? '+' : event.key];
    if (!does) return;
    event.preventDefault();
    does();
    if (view.cursor !== null && (view.cursor < view.from || view.cursor > view.to)) zoom(view.cursor - length / 2, view.cursor + length / 2);
  });
}

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) charts.forEach((own) => own.plot === target && own.width !== target.clientWidth && own.draw());
});
const redraw = () => charts.forEach((own) => own.draw());
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
matchMedia('print').addEventListener('change', redraw);
window.addEventListener('beforeprint', redraw);
// What belongs on paper is open there.
const closed = new Set();
window.addEventListener('beforeprint', () => document.querySelectorAll('details.prints:not([open])').forEach((own) => {
  own.open = true;
  closed.add(own);
}));
window.addEventListener('afterprint', () => {
  closed.forEach((own) => (own.open = false));
  closed.clear();
});
