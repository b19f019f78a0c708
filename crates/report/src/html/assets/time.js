// What happened when: load, users, errors and latency over one axis.

/** A line of the result's own series; null: there is none. */
function ofSeries(name, field, color, more) {
  const { second, seconds, [field]: values } = run.series;
  return second.length === 0 ? null : { name, values, starts: second, seconds, color, ...more };
}

/** The lines of percentiles of something over time; what is 0 had no response. */
function percentileLines(line, seconds, more) {
  const known = (values) => (values || []).map((value) => value || null);
  const all = [
    { name: 'p50', values: known(line.p50), color: 'c3' },
    { name: 'p90', values: known(line.p90), color: 'c5', dash: '8 3' },
    { name: 'p95', values: known(line.p95), color: 'c1' },
    { name: 'p99', values: known(line.p99), color: 'c6', dash: '5 2' },
    { name: 'max', values: known(line.max), color: 'c7', dash: '1 4' },
    { name: 'corrected p99', values: known(line.corrected_p99), color: 'c4', dash: '10 3 2 3' },
  ];
  return all.filter(({ values }) => values.length > 0).map((own) => ({ seconds, ...own, ...more }));
}

/** The whole run over time, from the recording, or from the result alone. */
function whole() {
  if (curves) {
    const all = curves.all;
    return {
      count: { name: 'requests', values: all.count, seconds: curves.seconds, color: 'c1', per: true },
      errors: { name: 'errors', values: pad(all.errors, all.count.length), seconds: curves.seconds, color: 'c2', per: true, fill: true },
      latency: percentileLines(all, curves.seconds),
      bytes: [
        { name: 'received', values: all.bytes_in, seconds: curves.seconds, color: 'c1', per: true },
        { name: 'sent', values: all.bytes_out, seconds: curves.seconds, color: 'c4', dash: '5 3', per: true },
      ],
    };
  }
  const of = (name, field, color, more) => ofSeries(name, field, color, more);
  const positive = (line) => line && { ...line, values: line.values.map((value) => value || null) };
  return {
    count: of('requests', 'requests', 'c1', { per: true }),
    errors: of('errors', 'errors', 'c2', { per: true, fill: true }),
    latency: [of('p50', 'p50_us', 'c3'), of('p90', 'p90_us', 'c5', { dash: '8 3' }), of('p99', 'p99_us', 'c6', { dash: '5 2' }), of('max', 'max_us', 'c7', { dash: '1 4' })].map(positive).filter(Boolean),
    bytes: [of('received', 'bytes_in', 'c1', { per: true }), of('sent', 'bytes_out', 'c4', { dash: '5 3', per: true })].filter(Boolean),
  };
}

/** A list that is as long as the others: what is missing at its end is 0. */
const pad = (values, length) => [...values, ...Array(Math.max(0, length - values.length)).fill(0)];

/** Thresholds that a chart can show. */
const limitsOf = (unit, isMeant) => run.thresholds.filter((own) => own.unit === unit && isMeant(own));
const ofPhase = (own) => /\bphase *:/.test(own.subject);

function timeSection() {
  const all = whole();
  if (!all.count || elapsed < 1) return null;
  const plans = (run.meta.scenarios || []).map((scenario) => `${scenario.name}: ${scenario.load}`).join('; ');
  const isAll = (own) => own.subject === '';
  const own = [
    chart({ title: 'Latency', unit: 'time', series: all.latency, log: spread(all.latency), height: 230, named: true, limits: limitsOf('us', isAll), about: 'Percentiles of the complete responses of each interval, merged from histograms and never averaged.' }),
    chart({ title: 'Requests/s', unit: 'rate', limits: limitsOf('per_second', isAll), about: plans ? `Planned: ${plans}.` : null, series: [all.count, dropped()].filter(Boolean) }),
    ...arrivalsChart(), ...usersChart(), ...errorChart(all),
    chart({ title: 'Bytes/s', unit: 'bytes', series: all.bytes, height: 120 }),
  ];
  const late = curves && curves.late > 0 ? el('p.note', null, `${plural(curves.late, 'slice')} of a worker and second came too late to be drawn in the curves of rows.`) : null;
  return section('time', 'Over time', 'Over time', zoomBar(), legendOfMarks(), late, ...own.map((one) => one.figure));
}

/** Errors as a share of requests, with thresholds on it. */
function errorChart({ count: done, errors }) {
  const limits = limitsOf('share', (own) => own.metric === 'error_rate');
  if (limits.length === 0 && !errors.values.some((value) => value > 0)) return [];
  const values = done.values.map((number, at) => (number > 0 ? (errors.values[at] || 0) / number : null));
  return [chart({ title: 'Error rate', unit: 'share', height: 130, limits, series: [{ name: 'errors', values, seconds: done.seconds, starts: done.starts, color: 'c2', fill: true }] })];
}

/** Whether latencies are so far apart that a logarithmic axis shows more. */
function spread(lines) {
  const all = lines.filter((line) => line.name !== 'max').flatMap((line) => line.values).filter((value) => value > 0);
  return all.length > 0 && Math.max(...all) > 30 * Math.min(...all);
}

function dropped() {
  const line = ofSeries('arrivals dropped', 'arrivals_dropped', 'c2', { dash: '2 2', per: true });
  return line && line.values.some((value) => value > 0) ? line : null;
}

/** Scenarios with a planned load of a kind, and their lines together. */
function ofScenarios(name, planned, field, color, more) {
  const loads = (run.meta.scenarios || []).filter((scenario) => scenario.planned && scenario.planned.unit === planned).map((scenario) => scenario.name);
  const { second, seconds, scenarios } = run.series;
  const lists = loads.filter((own) => scenarios[own]).map((own) => scenarios[own][field]);
  if (lists.length === 0 || second.length === 0) return null;
  const values = second.map((_, at) => lists.reduce((sum, list) => sum + list[at], 0));
  return { name, values, starts: second, seconds, color, ...more };
}

/** What is known of the plan by what was seen alone: scenarios with a load of a kind that came after others. */
function planNote(unit, field) {
  const later = (run.meta.scenarios || []).filter(({ planned }) => planned && planned.unit === unit && planned.after.length > 0);
  const { second, scenarios } = run.series;
  const told = later.map(({ name, planned }) => {
    const began = second[((scenarios[name] || {})[field] || []).findIndex((value) => value > 0)];
    const others = planned.after.join(', ');
    return began === undefined ? `${name} comes after ${others}, and did not begin` : `${name} comes after ${others}, and is planned from ${moment(began)} on, when it began`;
  });
  return told.length > 0 ? `${told.join('; ')}.` : '';
}

function arrivalsChart() {
  const planned = ofScenarios('planned', 'arrivals', 'planned_arrivals', 'c7', { dash: '6 4', per: true });
  if (!planned) return [];
  const started = ofScenarios('started', 'arrivals', 'iterations_started', 'c1', { per: true });
  return [chart({ title: 'Arrivals/s, planned and actual', unit: 'rate', series: [planned, started, dropped()].filter(Boolean), height: 140, about: `Where fewer start than were planned, the load was not the plan’s: see validity. ${planNote('arrivals', 'planned_arrivals')}`.trim() })];
}

function usersChart() {
  const planned = ofScenarios('planned users', 'users', 'planned_users', 'c7', { dash: '6 4' });
  const series = [planned, ofSeries('active users', 'users', 'c1'), ofSeries('peak concurrent requests', 'in_flight', 'c4', { dash: '5 3' })].filter(Boolean);
  const title = series.length > 1 ? 'Virtual users and concurrent requests' : 'Virtual users';
  const about = planNote('users', 'planned_users');
  return series.length > 0 ? [chart({ title, unit: 'count', series, height: 140, about })] : [];
}

/** The machine that squall ran on: each metric is drawn where the system has told it. */
function hostCharts() {
  const { second, values } = run.series_host;
  if (second.length < 2) return [];
  const seconds = second[1] - second[0];
  const known = (list) => list.some((value) => value > 0);
  const line = (name, list, color, more) => ({ name, values: list, starts: second, seconds, color, ...more });
  const gauge = (name, key, color, more) => known(values[key] || []) && line(name, values[key], color, more);
  const share = (name, key, color, more) => known(values[key] || []) && line(name, values[key].map((ticks, at) => (values.cpu_ticks[at] > 0 ? ticks / values.cpu_ticks[at] : null)), color, more);
  const charts = [
    { title: 'The machine: CPU', unit: 'share', about: 'Of all its processors, squall and all other programs together. At 100% everything on this machine is delayed.', series: [share('busy', 'cpu_busy_ticks', 'c1'), share('taken by other guests', 'steal_ticks', 'c2', { dash: '2 2' })] },
    { title: 'The machine: memory', unit: 'size', series: [gauge('squall', 'rss_bytes', 'c1'), gauge('TCP sockets of all programs', 'tcp_memory_bytes', 'c4', { dash: '5 3' })] },
    { title: 'The machine: network', unit: 'bytes', about: 'Bytes a second of all interfaces but loopback, both ways.', series: [gauge('network', 'network_bytes', 'c1', { per: true })] },
  ];
  return charts.map((own) => ({ ...own, height: 120, series: own.series.filter(Boolean) })).filter((own) => own.series.length > 0).map(chart);
}

/** The heat map as a chart. */
function heatChart() {
  const map = curves && elapsed >= 1 && heat();
  return map ? chart({
    title: 'Latency heatmap', unit: 'time', series: [], paint: map, height: 220,
    about: `Darker = more responses (max ${count(map.most)} per cell). Two bands are two kinds of responses; a column that rises and fades is a stall.`,
    rows: heatRows,
  }).figure : null;
}

/** What most responses took in each interval. */
function heatRows() {
  const rows = curves.all.heat.map((bins, at) => {
    const total = bins.slice(1).reduce((sum, value) => sum + value, 0);
    const most = bins.slice(1).reduce((best, value, n) => (value > best[1] ? [n, value] : best), [0, 0]);
    const bin = bins[0] + most[0];
    return total === 0 ? null : [moment(at * curves.seconds), count(total), `${time(binStart(bin))} to ${time(binStart(bin + 1))}`, percent(most[1] / total)];
  });
  return table('Responses by interval', ['from', 'responses', 'most of them took', 'their share'], rows.filter(Boolean));
}

function zoomBar() {
  const number = (label, get) => el('input', { type: 'number', min: 0, max: Math.ceil(elapsed), step: 'any', 'aria-label': label, value: get(), onchange: apply });
  const apply = () => zoom(Number(from.value), Number(to.value));
  const from = number('from second', () => 0);
  const to = number('to second', () => Math.round(elapsed * 10) / 10);
  listeners.add(() => {
    [from.value, to.value] = [Math.round(view.from * 10) / 10, Math.round(view.to * 10) / 10];
    announce(`${moment(view.from)} to ${moment(view.to)} shown`);
  });
  const steady = run.steady && run.steady.found ? el('button.small', { type: 'button', onclick: () => zoom(run.steady.from_s, run.steady.to_s) }, 'steady part') : null;
  return el('div.zoom', { role: 'group', 'aria-label': 'Part of the run that is shown' },
    el('span', null, 'Show seconds '), from, el('span', null, ' to '), to,
    el('button.small', { type: 'button', onclick: () => zoom(0, elapsed) }, 'whole run'), steady,
    el('p.hint', null, 'Drag in a chart to zoom, double-click for all. With the keyboard: arrows move the moment, + and − zoom, 0 shows all.'));
}

function legendOfMarks() {
  const parts = run.meta.started_unix ? [`Times of day are ${ZONE}.`] : [];
  if (run.steady && run.steady.found) parts.push(`The shaded part is steady: ${moment(run.steady.from_s)} to ${moment(run.steady.to_s)}, ${rate(run.steady.rate)}.`);
  const all = marks();
  if (all.length > 0) parts.push(`Marks: ${all.slice(0, 20).map((mark) => `${mark.text} at ${moment(mark.at)}`).join(', ')}${all.length > 20 ? ` and ${all.length - 20} more` : ''}.`);
  return parts.length > 0 ? el('p.note', null, parts.join(' ')) : null;
}
