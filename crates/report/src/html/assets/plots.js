// Plots that are not over time: distributions, the heat map's cells, latency against load, small curves, and a bar of shares.

/** The beginning of a bin, in µs. */
const binStart = (bin) => 10 ** (bin / words.bins_per_decade);

/** A distribution over a logarithmic axis: bars for latencies, an outline for corrected ones. */
function histogram(latency, corrected) {
  const [first, last] = range([latency, corrected]);
  const [width, height] = [560, 220];
  const x = (bin) => MARGIN.left + ((bin - first) / (last - first)) * (width - MARGIN.left - MARGIN.right);
  const inner = height - MARGIN.top - MARGIN.bottom;
  const highest = Math.max(...[latency, corrected].filter(Boolean).flatMap((own) => own.bins.slice(1)));
  const top = ticks(highest, 4, 'count').pop();
  const y = (value) => MARGIN.top + inner * (1 - value / top);
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': told(latency, corrected) });
  for (const tick of ticks(highest, 4, 'count')) {
    root.append(svg('line.grid', { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) }),
      svg('text.tick', { x: MARGIN.left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, exact(tick)));
  }
  decades(first, last).forEach((bin) => root.append(svg('line.grid', { x1: x(bin), x2: x(bin), y1: MARGIN.top, y2: MARGIN.top + inner }),
    svg('text.tick', { x: x(bin), y: height - 6, 'text-anchor': bin === last ? 'end' : 'middle' }, tickText(binStart(bin), 'time'))));
  latency.bins.slice(1).forEach((value, at) => {
    const bin = latency.bins[0] + at;
    if (value > 0) root.append(svg('rect.area.c1.solid', { x: x(bin) + 0.5, y: y(value), width: Math.max(0.5, x(bin + 1) - x(bin) - 1), height: Math.max(1, y(0) - y(value)) }));
  });
  if (corrected) {
    let d = `M${x(corrected.bins[0])} ${y(0)}`;
    corrected.bins.slice(1).forEach((value, at) => {
      d += `L${x(corrected.bins[0] + at)} ${y(value)}L${x(corrected.bins[0] + at + 1)} ${y(value)}`;
    });
    root.append(svg('path.line.c4', { d: `${d}L${x(corrected.bins[0] + corrected.bins.length - 1)} ${y(0)}`, 'stroke-dasharray': '5 3' }));
  }
  const all = [latency, corrected].filter(Boolean);
  const held = (own, bin) => (bin < own.bins[0] ? 0 : own.bins[1 + bin - own.bins[0]] || 0);
  // A bin may be less than the microsecond wide that is shown.
  const named = (from, to) => (from === to ? from : `${from} to ${to}`);
  const rows = [...Array(last - first).keys()].map((at) => first + at).filter((bin) => all.some((own) => held(own, bin) > 0))
    .map((bin) => [named(time(binStart(bin)), time(binStart(bin + 1))), ...all.map((own) => count(held(own, bin)))]);
  return plotFigure('How many responses took how long', root, corrected,
    () => table('Responses by latency', ['latency', 'responses', ...(corrected ? ['corrected'] : [])], rows));
}

/** Latency by percentile, on the scale of 1/(1 - p) that shows the slow ones. */
function percentileCurve(latency, corrected, total) {
  const [width, height] = [560, 220];
  // So many responses have no finer percentile than this one.
  const finest = Math.min(Math.max(Math.log10(Math.max(total, 10)), 2), 5.2);
  const x = (p) => MARGIN.left + (Math.min(-Math.log10(Math.max(1 - p / 100, 1e-9)), finest) / finest) * (width - MARGIN.left - MARGIN.right);
  const own = [latency, corrected].filter(Boolean);
  const lines = own.map((one) => ({ shown: one.percentiles.map((value) => [0, Math.max(value, 1)]) }));
  const axis = scale(lines, true, 'time');
  const inner = height - MARGIN.top - MARGIN.bottom;
  const y = (value) => MARGIN.top + inner * (1 - axis.at(value));
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': told(latency, corrected) });
  for (const tick of axis.ticks) {
    if (axis.at(tick) < -0.01 || axis.at(tick) > 1.01) continue;
    root.append(svg('line.grid', { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) }),
      svg('text.tick', { x: MARGIN.left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, tickText(tick, 'time')));
  }
  for (const p of [0, 50, 90, 99, 99.9, 99.99, 99.999].filter((one) => -Math.log10(1 - one / 100) <= finest)) {
    root.append(svg('line.grid', { x1: x(p), x2: x(p), y1: MARGIN.top, y2: MARGIN.top + inner }),
      svg('text.tick', { x: x(p), y: height - 6, 'text-anchor': x(p) + 24 > width ? 'end' : 'middle' }, p === 0 ? 'min' : `p${p}`));
  }
  own.forEach((one, at) => {
    const d = one.percentiles.map((value, n) => `${n ? 'L' : 'M'}${x(words.percentiles[n])} ${y(Math.max(value, 1))}`);
    root.append(svg(`path.line.${at ? 'c4' : 'c1'}`, { d: d.join(''), 'stroke-dasharray': at ? '5 3' : null }));
  });
  const rows = words.percentiles.map((p, n) => [p === 0 ? 'min' : p === 100 ? 'max' : `p${p}`, ...own.map((one) => time(one.percentiles[n]))]);
  return plotFigure('Latency by percentile', root, corrected,
    () => table('Latency by percentile', ['percentile', 'latency', ...(corrected ? ['corrected'] : [])], rows));
}

const decades = (first, last) => [...Array(12).keys()].map((n) => n * words.bins_per_decade).filter((bin) => bin >= first && bin <= last);

/** The first bin that something is in, and the one behind the last, with a decade's line at least. */
function range(all) {
  const own = all.filter(Boolean);
  const first = Math.min(...own.map((one) => one.bins[0]));
  const last = Math.max(...own.map((one) => one.bins[0] + one.bins.length - 1));
  return [Math.floor((first - 1) / 10) * 10, Math.ceil((last + 1) / 10) * 10];
}

function told(latency, corrected) {
  const of = (own) => [50, 95, 99, 100].map((p) => `${p === 100 ? 'max' : `p${p}`} ${time(own.percentiles[words.percentiles.indexOf(p)])}`).join(', ');
  return `latency: ${of(latency)}${corrected ? `; corrected: ${of(corrected)}` : ''}; the table below has the numbers`;
}

function plotFigure(title, root, corrected, rows) {
  const swatch = (color, dash) => svg('svg.swatch', { width: 22, height: 10, 'aria-hidden': 'true' },
    svg(`line.line.${color}`, { x1: 1, x2: 21, y1: 5, y2: 5, 'stroke-dasharray': dash }));
  const legend = corrected ? el('div.legend', null, el('span', null, swatch('c1'), 'latency'), el('span', null, swatch('c4', '5 3'), 'corrected latency')) : null;
  return el('figure.plot-figure', null, el('figcaption', null, el('h3', null, title), legend), root, lazy('Values as a table', rows));
}

/** Cells of the heat map: how many responses of an interval took how long; the more, the stronger the colour. */
function heat() {
  const columns = curves.all.heat;
  const own = columns.filter((column) => column.length > 1).map((bins) => ({ bins }));
  if (own.length === 0) return null;
  const [first, last] = range(own);
  const most = Math.max(...own.map(({ bins }) => Math.max(...bins.slice(1))));
  const at = (us) => (Math.log10(Math.max(us, 1)) * words.bins_per_decade - first) / (last - first);
  const draw = (x, y, width, height) => {
    const canvas = el('canvas', { 'aria-hidden': 'true' });
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const to = canvas.getContext('2d');
    to.scale(ratio, ratio);
    to.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--heat');
    columns.forEach((bins, index) => {
      const [left, right] = [x(index * curves.seconds), x(Math.min((index + 1) * curves.seconds, elapsed))];
      if (right < MARGIN.left || left > width - MARGIN.right) return;
      const from = Math.max(left, MARGIN.left);
      bins.slice(1).forEach((value, n) => {
        if (!value) return;
        to.globalAlpha = most > 1 ? 0.12 + (0.88 * Math.log(value)) / Math.log(most) : 1;
        const top = y(binStart(bins[0] + n + 1));
        to.fillRect(from, top, Math.max(Math.min(right, width - MARGIN.right) - from, 1), y(binStart(bins[0] + n)) - top + 0.5);
      });
    });
    return canvas;
  };
  return { draw, axis: { at, ticks: decades(first, last).map(binStart) }, most };
}

/** What the load was in each interval of the result, and how long responses took in it. */
function loadPoints() {
  const { second, seconds, users, p50_us: p50, p99_us: p99 } = run.series;
  const planned = (unit) => (run.meta.scenarios || []).filter((own) => own.planned && own.planned.unit === unit).map((own) => own.name);
  const [closed, open] = [planned('users'), planned('arrivals').filter((name) => run.series.scenarios[name])];
  const isUsers = closed.length > 0 || open.length === 0;
  const arrivals = (at) => open.reduce((sum, name) => sum + run.series.scenarios[name].iterations_started[at], 0) / seconds;
  // Of the recording also the 95th percentile is known.
  const p95 = curves && curves.seconds === seconds ? second.map((start) => curves.all.p95[start / seconds]) : null;
  const all = second.map((start, at) => ({ x: isUsers ? users[at] : arrivals(at), low: p50[at], high: p95 ? p95[at] : p99[at], rate: run.series.requests[at] / seconds, isWhole: start + seconds * 0.95 <= elapsed }));
  return { name: isUsers ? 'users' : 'arrivals/s', high: p95 ? 'p95' : 'p99', points: all.filter((own) => own.isWhole && own.low > 0 && own.high > 0) };
}

/** Latency against load: a mark for each interval, and a line of the medians of the intervals of a like load. */
function againstLoad() {
  const { name, high, points: all } = loadPoints();
  const [least, most] = [Math.min(...all.map((own) => own.x)), Math.max(...all.map((own) => own.x))];
  if (all.length < 3) return null;
  if (most - least < 1) return el('p', null, `The load was the same all the time (${exact(Math.round(most * 10) / 10)} ${name}): it shows no effect of load on latency.`);
  // Letters of a phone's picture can be read.
  const [width, height] = [phone.matches ? 480 : 1120, 300];
  const across = ticks(most, phone.matches ? 4 : 8, name === 'users' ? 'count' : undefined);
  const x = (value) => MARGIN.left + (value / across[across.length - 1]) * (width - MARGIN.left - MARGIN.right);
  const inner = height - MARGIN.top - BOTTOM;
  const values = all.flatMap((own) => [own.low, own.high]);
  const limits = run.thresholds.filter((own) => own.subject === '' && own.unit === 'us' && own.limit <= 3 * Math.max(...values));
  const axis = scale([{ shown: [...values, ...limits.map(({ limit }) => limit)].map((value) => [0, value]) }], Math.max(...values) > 30 * Math.min(...values), 'time');
  const y = (value) => MARGIN.top + inner * (1 - axis.at(value));
  const bins = likeLoads(all, least, most);
  const median = (list) => [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) / 2)];
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Latency against ${name}: the table below has the numbers` });
  for (const tick of axis.ticks.filter((own) => axis.at(own) > -0.01 && axis.at(own) < 1.01)) {
    root.append(svg('line.grid', { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) }), svg('text.tick', { x: MARGIN.left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, tickText(tick, 'time')));
  }
  across.forEach((tick, at) => root.append(svg('text.tick', { x: x(tick), y: height - 21, 'text-anchor': at === across.length - 1 ? 'end' : 'middle' }, exact(tick))));
  root.append(svg('text.tick', { x: width / 2, y: height - 6, 'text-anchor': 'middle' }, name));
  drawLimits(root, limits, axis, width, y);
  for (const [of, color, form] of [['low', 'c3', 'h0.01'], ['high', 'c1', 'm-2.5 -2.5l5 5m0 -5l-5 5']]) {
    root.append(svg(`path.dots.${color}${of === 'low' ? '.round' : ''}`, { d: all.map((own) => `M${x(own.x).toFixed(1)} ${y(own[of]).toFixed(1)}${form}`).join('') }),
      svg(`path.line.${color}`, { d: path(bins.map((bin) => [median(bin.map((own) => own.x)), median(bin.map((own) => own[of]))]), x, y), 'stroke-dasharray': of === 'low' ? '5 3' : null }));
  }
  const range = (list) => [Math.min(...list), Math.max(...list)].map((value) => exact(Math.round(value * 10) / 10));
  const rows = bins.map((bin) => {
    const [from, to] = range(bin.map((own) => own.x));
    const of = (field) => median(bin.map((own) => own[field]));
    return [from === to ? from : `${from} to ${to}`, count(bin.length), rate(bin.reduce((sum, own) => sum + own.rate, 0) / bin.length), time(of('low')), time(of('high')), time(Math.max(...bin.map((own) => own.high)))];
  });
  const swatch = (color, dash) => svg('svg.swatch', { width: 22, height: 10, 'aria-hidden': 'true' }, svg(`line.line.${color}`, { x1: 1, x2: 21, y1: 5, y2: 5, 'stroke-dasharray': dash }));
  const legend = el('div.legend', null, el('span', null, swatch('c3', '5 3'), 'p50 (dots)'), el('span', null, swatch('c1'), `${high} (crosses)`));
  return el('figure.plot-figure', null, el('figcaption', null, legend), root,
    lazy('Values as a table', () => table(`Latency by ${name}`, [name, 'intervals', 'requests/s', 'median p50', `median ${high}`, `highest ${high}`], rows)));
}

/** Intervals of a like load, at most twelve groups, by their load. */
function likeLoads(all, least, most) {
  const groups = Array.from({ length: 12 }, () => []);
  all.forEach((own) => groups[Math.min(11, Math.floor(((own.x - least) / (most - least)) * 12))].push(own));
  return groups.filter((group) => group.length > 0);
}

/** Small curves: values over the whole run, each up to its own highest one. */
function spark(lines, seconds, label) {
  const [width, height] = [96, 22];
  const last = Math.max(Math.ceil(elapsed / seconds), 1);
  const x = (at) => 1 + ((at + 0.5) / last) * (width - 2);
  return svg('svg.spark', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, lines.map(({ values, color }) => {
    const highest = Math.max(...values, 1e-9);
    const shown = values.map((value, at) => [at, value === 0 && color === 'c2' ? null : value]);
    return svg(`path.line.${color}`, { d: path(shown, x, (value) => height - 2 - (value / highest) * (height - 4)), 'stroke-dasharray': color === 'c2' ? '2 2' : null });
  }));
}

/** Shares of a whole, as one bar, each named with its share. */
function shares(parts, label) {
  const bar = el('div.shares', { role: 'img', 'aria-label': `${label}: ${parts.map((part) => `${part.name} ${percent(part.share)}`).join(', ')}` });
  for (const part of parts) {
    const piece = el(`div.piece.${part.color}`, { title: `${part.name} ${percent(part.share)}` });
    piece.style.flexGrow = String(part.share);
    if (part.share > 0.08) piece.append(el('span', null, part.share > 0.16 ? `${part.name} ${percent(part.share)}` : percent(part.share)));
    bar.append(piece);
  }
  return bar;
}
