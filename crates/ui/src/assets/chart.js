// What is known of the run, as the server has sent it, and charts of it over time. All charts share one axis and one
// moment that is pointed at; without one, their legends show the latest second.

const served = read('served');
const run = { about: null, now: null, points: [], metrics: [], rows: [], latest: 0 };
const view = { minute: false, cursor: null };
const charts = new Set();

/** A text that changes only where it has: what is selected or read aloud stays. */
function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** From and to which second the charts go. */
function span() {
  const seen = run.now ? run.now.seconds : 0;
  if (view.minute) return [Math.max(0, seen - 60), Math.max(60, seen)];
  const length = run.about && run.about.length_s !== null ? run.about.length_s + run.now.stood_still_s : 60;
  return [0, Math.max(length, seen, 1)];
}

const shownMoment = (seconds) => clock(seconds, span()[1]);
const perSecond = (name) => (point) => point[name] / point.seconds;
const latency = (name) => (point) => point[name] || null;

/** Points of a length that says something: of a run that is over the last second may be a small part of one. */
function whole(points = run.points) {
  const { result } = run.about;
  return result ? points.filter((point) => point.second + 0.5 <= result.elapsed_s) : points;
}

/** What charts show: from and to which second, and the points. */
const THE_RUN = { span, points: whole };

/** The point that covers a second, or the latest one. */
function pointAt(second, points = whole()) {
  if (second === null) return points[points.length - 1];
  return points.findLast((point) => second >= point.second && second < point.second + point.seconds);
}

/** The points of a line within the span: the middle of each interval, and its value; what is planned goes on to the end. */
function shownOf(line, points, [from, to]) {
  const inside = points.filter((point) => point.second + point.seconds > from && point.second < to);
  const shown = inside.map((point) => [point.second + point.seconds / 2, line.of(point)]);
  const last = inside.length > 0 ? inside[inside.length - 1].second : -1;
  if (line.ahead !== undefined) {
    for (const moment of run.ahead || []) {
      const at = moment[0] + run.now.stood_still_s;
      if (at > last + 1 && at <= to) shown.push([at, moment[line.ahead]]);
    }
  }
  return shown;
}

/**
 * A chart. `lines` are {name, color, dash, fill, of, ahead}: `of` is the value at a point, `ahead` its place in what is
 * planned yet; `note` is what is to be said of it now, `over` what is shown.
 */
function chart({ title, unit, lines, height = 170, hasLog, note = () => '', over = THE_RUN }) {
  const own = { log: false };
  const plot = el('div.plot', {
    tabindex: 0, role: 'slider', 'aria-label': `${title}: moment`, 'aria-valuemin': 0, 'aria-valuemax': 1,
    'aria-valuenow': 0, 'aria-valuetext': 'the latest second',
  });
  const values = lines.map(() => el('output.value'));
  const legend = el('div.legend', null, lines.map((line, at) => el('span.key', null,
    svg('svg.swatch', { width: 22, height: 10, 'aria-hidden': 'true' },
      svg(`line.line.${line.color}`, { x1: 1, x2: 21, y1: 5, y2: 5, 'stroke-dasharray': line.dash })),
    line.name, values[at])));
  const logButton = hasLog ? el('button.small', { type: 'button', 'aria-pressed': 'false', onclick: () => {
    own.log = !own.log;
    logButton.setAttribute('aria-pressed', String(own.log));
    own.draw();
  } }, 'logarithmic') : null;
  const told = el('p.note');
  const numbers = el('details', { ontoggle: () => numbers.open && numbers.lastChild.replaceChildren(tableOf(title, unit, lines, over.points())) },
    el('summary', null, 'Values as a table'), el('div'));
  own.figure = el('figure.chart', null,
    el('figcaption', null, el('h3', null, title), el('div.bar', null, legend, logButton), told), plot, numbers);
  const text = (value) => (value === null || value === undefined ? '–' : UNITS[unit].show(value));

  own.point = () => {
    const point = pointAt(view.cursor, over.points());
    const told = lines.map((line, at) => {
      const value = text(point ? line.of(point) : null);
      set(values[at], value);
      return `${line.name} ${value}`;
    });
    const [from, to] = over.span();
    plot.setAttribute('aria-valuemax', Math.ceil(to));
    plot.setAttribute('aria-valuenow', Math.round(view.cursor === null ? Math.max(0, run.now ? run.now.seconds - 1 : 0) : view.cursor));
    plot.setAttribute('aria-valuetext', `${view.cursor === null ? 'the latest second' : shownMoment(view.cursor)}: ${told.join(', ')}`);
    if (!own.cursor) return;
    const seen = view.cursor !== null && view.cursor >= from && view.cursor <= to;
    own.cursor.setAttribute('visibility', seen ? 'visible' : 'hidden');
    if (seen) ['x1', 'x2'].forEach((name) => own.cursor.setAttribute(name, own.x(view.cursor)));
  };

  own.draw = () => {
    const width = plot.clientWidth;
    if (!width || !run.now) return;
    set(told, note());
    told.hidden = told.textContent === '';
    const [from, to] = over.span();
    const inner = height - MARGIN.top - MARGIN.bottom;
    own.x = (at) => MARGIN.left + ((at - from) / (to - from)) * (width - MARGIN.left - MARGIN.right);
    const drawn = lines.map((line) => ({ ...line, shown: shownOf(line, over.points(), [from, to]) }));
    const axis = scale(drawn, own.log, unit, height);
    const y = (value) => MARGIN.top + inner * (1 - axis.at(value));
    const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' });
    for (const tick of axis.ticks) {
      const at = y(tick);
      if (at < MARGIN.top - 1 || at > MARGIN.top + inner + 1) continue;
      root.append(svg('line.grid', { x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at }),
        svg('text.tick', { x: MARGIN.left - 6, y: at + 4, 'text-anchor': 'end' }, tickText(tick, unit)));
    }
    for (const tick of timeTicks(from, to, Math.max(2, width / 110))) {
      root.append(svg('text.tick', { x: own.x(tick), y: height - 6, 'text-anchor': 'middle' }, shownMoment(tick)));
    }
    for (const line of drawn) {
      if (line.fill) root.append(svg(`path.area.${line.color}`, { d: area(line.shown, own.x, y) }));
      root.append(svg(`path.line.${line.color}`, { d: path(line.shown, own.x, y), 'stroke-dasharray': line.dash }));
    }
    own.cursor = svg('line.cursor', { y1: MARGIN.top, y2: MARGIN.top + inner, visibility: 'hidden' });
    root.append(own.cursor);
    plot.replaceChildren(root);
    own.point();
  };
  interact(plot, over);
  charts.add(own);
  sizes.observe(plot);
  own.remove = () => {
    charts.delete(own);
    sizes.unobserve(plot);
  };
  return own;
}

function tableOf(title, unit, lines, points) {
  const text = (value) => (value === null || value === undefined ? '–' : UNITS[unit].show(value));
  const rows = points.map((point) => [shownMoment(point.second), ...lines.map((line) => text(line.of(point)))]);
  return table(title, ['from', ...lines.map((line) => line.name)], rows);
}

function pointTo(second) {
  view.cursor = second === null ? null : Math.max(0, Math.min(span()[1], second));
  charts.forEach((own) => own.point());
}

/** Pointer and keys: a moment is pointed at, and arrows move it; Escape shows the latest second again. */
function interact(plot, over) {
  plot.addEventListener('pointermove', (event) => {
    const box = plot.getBoundingClientRect();
    const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
    const [from, to] = over.span();
    pointTo(from + Math.max(0, Math.min(1, share)) * (to - from));
  });
  plot.addEventListener('pointerleave', () => document.activeElement !== plot && pointTo(null));
  plot.addEventListener('blur', () => pointTo(null));
  plot.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 10 : 1;
    const here = view.cursor === null ? Math.max(0, run.now.seconds - 0.5) : view.cursor;
    const keys = {
      ArrowLeft: () => pointTo(here - step), ArrowDown: () => pointTo(here - step),
      ArrowRight: () => pointTo(here + step), ArrowUp: () => pointTo(here + step),
      Home: () => pointTo(over.span()[0]), End: () => pointTo(null), Escape: () => pointTo(null),
    };
    if (!run.now || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}

const sizes = new ResizeObserver(() => charts.forEach((own) => own.draw()));

/** The last seconds of a row: its latency, and marks where there were errors. */
function spark(curve, width = 150, height = 26) {
  const root = svg('svg.spark', { width, height, 'aria-hidden': 'true' });
  const highest = Math.max(...curve.map(([, , p95]) => p95), 1);
  // A short curve is not squeezed into a corner, and a long one goes up to two minutes.
  const x = (at) => width - 1 - (curve.length - 1 - at) * ((width - 2) / (Math.max(curve.length, 30) - 1));
  const shown = curve.map(([number, , p95], at) => [at, number > 0 && p95 > 0 ? p95 : null]);
  root.append(svg('path.line.c1', { d: path(shown, x, (value) => height - 3 - (value / highest) * (height - 6)) }));
  curve.forEach(([, errors], at) => errors > 0 && root.append(svg('line.error', { x1: x(at), x2: x(at), y1: height - 4, y2: height })));
  return root;
}
