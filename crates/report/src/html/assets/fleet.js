// The fleet: how much of the load was driven, its zones side by side, its nodes, and a chart with a line for each of
// them, so that one bad node does not hide in the sum.

/** Nodes whose rows are shown at first, and most that have a line of their own in a chart. */
const NODES_AT_FIRST = 24;
const NODE_LINES = METRIC_FORMS.length;

/** What is drawn by node: what it is called, its metric, its values in the unit of the chart. */
const p95InUs = (own) => (own.p95.length > 0 ? own.p95 : own.value).map((ms) => ms * 1e3);
const NODE_CHARTS = [
  { title: 'Latency p95', metric: 'node_latency', unit: 'time', of: p95InUs },
  { title: 'Send delay p95', metric: 'node_send_delay', unit: 'time', of: p95InUs },
  { title: 'CPU', metric: 'node_cpu', unit: 'share', of: (own) => own.value },
];

/** Whether a metric says what a node or a zone did: it is shown here. */
const isOfNode = ({ name, scenario, tags }) => run.fleet !== null && !scenario && /^(node|zone)_/.test(name) && Boolean(tags.node || tags.zone);

function fleetSection() {
  const { fleet, fleet_words: told } = run;
  if (!fleet) return null;
  const whole = fleet.cells.driven >= fleet.cells.cells;
  const events = fleet.events.map((own) => el('li', null, el('span.tag', null, moment(own.at_s)), own.text));
  return section('fleet', 'Fleet', 'Fleet',
    el('p', null, `${plural(run.nodes.length, 'node')}, ${plural(fleet.shards, 'shard')}; on the loss of a node: ${fleet.on_loss}, after ${exact(fleet.lease_s)} s.`),
    el(whole ? 'p' : 'p.warning', null, `${whole ? '' : '▲ '}Coverage: ${told.coverage}.`),
    events.length > 0 ? [el('h3', null, 'What happened to nodes'), el('ul.examples', null, events)] : null,
    zoneTable(), nodeTables(), nodeCharts(), zoneChart());
}

const ofTimes = (own, requests) => ['p50', 'p95', 'p99'].map((name) => (requests > 0 ? time(own[name]) : '–'));
const errorShare = (own) => (own.errors > 0 ? `${count(own.errors)} (${percent(own.errors / own.requests)})` : '0');

function zoneTable() {
  const { zones } = run.fleet;
  if (zones.length < 2) return null;
  const rows = zones.map((own) => [own.zone, count(own.nodes), count(own.requests), errorShare(own), ...ofTimes(own.latency_us, own.requests)]);
  return [el('h3', null, 'Zones'), table('Zones', ['zone', 'nodes', 'requests', 'errors', 'p50', 'p95', 'p99'], rows)];
}

/** The nodes that need a look first, and all of them where there are more. */
function nodeTables() {
  const { nodes } = run;
  if (nodes.length === 0) return null;
  const { odd } = run.fleet_words;
  const all = nodes.map((own, at) => ({ own, odd: odd[at] || [], rank: [odd[at] ? 0 : 1, own.end === 'done' ? 1 : 0, -own.latency_us.p95] }));
  const resources = lazy('What squall used on each node', () => resourceTable(nodes));
  if (nodes.length <= NODES_AT_FIRST) return [el('h3', null, 'Nodes'), nodeTable('Nodes', all), resources];
  const first = [...all].sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || a.rank[2] - b.rank[2]).slice(0, NODES_AT_FIRST);
  const title = 'Nodes that need a look first';
  return [el('h3', null, title), nodeTable(title, first), lazy(`All ${plural(nodes.length, 'node')}`, () => nodeTable('All nodes', all)), resources];
}

/** What each node measured, and below it what is to be said of it. */
function nodeTable(title, all) {
  const machines = new Map(run.meta.nodes.map((own) => [own.node, own]));
  const head = ['node', 'requests', 'errors', 'p50', 'p95', 'p99', 'send delay p99', 'CPUs used', 'machine busy'];
  const rows = all.flatMap(({ own, odd }) => {
    const { cpus = 0 } = machines.get(own.node) || {};
    const name = own.zone ? [own.node, el('span.tag', null, own.zone)] : own.node;
    const end = own.end === 'done' ? [] : [el('span.word.failed', null, `✘ ${own.end}${own.ended_s === null ? '' : ` at ${moment(own.ended_s)}`}`)];
    const told = [...end, ...odd.map((text) => el('span.doubt', null, `▲ ${text}`))];
    const numbers = [name, count(own.requests), errorShare(own), ...ofTimes(own.latency_us, own.requests), time(own.generator.send_delay_us.p99),
      `${own.cpu_cores.toFixed(2)}${cpus > 0 ? ` of ${cpus}` : ''}`, percent(own.host_busy)];
    return told.length > 0 ? [numbers, { across: told }] : [numbers];
  });
  return table(title, head, rows);
}

/** What squall used on each node, and what its machine had. */
function resourceTable(nodes) {
  const head = ['node', 'memory', 'ports', 'receive delay p99', 'ready, but no CPU', 'preempted', 'shards at first', 'seconds with load'];
  const rows = nodes.map(({ node, generator, host_metrics: host, shards: had, seconds }) => [node, bytes(generator.peak_rss_bytes),
    host.ports_limit > 0 ? `${count(host.ports_used || 0)} of ${count(host.ports_limit)}` : '–', time(generator.receive_delay_us.p99),
    time(generator.starved_s * 1e6), count(generator.preempted), count(had), count(seconds)]);
  return table('What squall used on each node', head, rows);
}

/** A chart by node for each measure that is known over time, of which one is shown. */
function nodeCharts() {
  if (elapsed < 1) return null;
  const known = NODE_CHARTS.map((own) => ({ ...own, tracks: run.series_metrics.filter((track) => track.name === own.metric && isOfNode(track) && track.tags.node) })).filter(({ tracks }) => tracks.length > 0);
  if (known.length === 0) return null;
  const figures = known.map(nodeChart);
  const buttons = known.map(({ title }, at) => el('button.small', { type: 'button', 'aria-pressed': String(at === 0), onclick: () => show(at) }, title));
  const show = (chosen) => {
    figures.forEach((figure, at) => (figure.hidden = at !== chosen));
    buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(at === chosen)));
  };
  show(0);
  return el('div', null, el('div.bar.choice', { role: 'group', 'aria-label': 'What is drawn by node' }, 'By node: ', buttons), figures);
}

function nodeChart({ title, unit, of, tracks }) {
  const { seconds } = run.series;
  const lines = tracks.map((own) => {
    const values = of(own);
    return { name: own.tags.node, values, starts: own.second, seconds, mean: values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length) };
  });
  const odd = oddNodes();
  const [chosen, others] = apart(lines, odd);
  const series = chosen.map((line, at) => ({ ...line, name: odd.has(line.name) ? `▲ ${line.name}` : line.name, color: METRIC_FORMS[at][0], dash: METRIC_FORMS[at][1] }));
  if (others.length > 0) series.push(band(others, seconds));
  const without = run.nodes.length - tracks.length;
  const told = [others.length > 0 ? `Lines of their own have the nodes that are other than the rest, the highest and the lowest; the band holds the other ${plural(others.length, 'node')}.` : 'A line for each node.',
    without > 0 ? `${plural(without, 'node')} more have no curve.` : null];
  return chart({ title: `${title} by node`, unit, series, height: 200, about: told.filter(Boolean).join(' ') }).figure;
}

/** The names of the nodes that are other than the rest. */
const oddNodes = () => new Set(Object.keys(run.fleet_words.odd).map((at) => run.nodes[at].node));

/** The lines that are drawn by themselves: those of nodes that are other than the rest, the highest and the lowest; and all others. */
function apart(lines, odd) {
  if (lines.length <= NODE_LINES) return [lines, []];
  const sorted = [...lines].sort((a, b) => b.mean - a.mean);
  const wanted = [...sorted.filter((own) => odd.has(own.name)), ...sorted.slice(0, 2), ...sorted.slice(-1), ...sorted];
  const chosen = [...new Set(wanted)].slice(0, NODE_LINES - 1);
  return [chosen, lines.filter((own) => !chosen.includes(own))];
}

/** What lies between the lowest and the highest of some lines. */
function band(lines, seconds) {
  const by = new Map();
  for (const { values, starts } of lines) {
    values.forEach((value, at) => {
      const [low, high] = by.get(starts[at]) || [value, value];
      by.set(starts[at], [Math.min(low, value), Math.max(high, value)]);
    });
  }
  const starts = [...by.keys()].sort((a, b) => a - b);
  return { name: `${plural(lines.length, 'other')}, up to`, values: starts.map((own) => by.get(own)[1]), low: starts.map((own) => by.get(own)[0]), starts, seconds, color: 'c7', fill: true };
}

/** Latency by zone side by side. */
function zoneChart() {
  const tracks = run.series_metrics.filter((own) => own.name === 'zone_latency' && isOfNode(own));
  if (elapsed < 1 || tracks.length < 2) return null;
  const { seconds } = run.series;
  const series = tracks.slice(0, METRIC_FORMS.length).map((own, at) => ({
    name: own.tags.zone, values: p95InUs(own), starts: own.second, seconds, color: METRIC_FORMS[at][0], dash: METRIC_FORMS[at][1],
  }));
  const more = tracks.length - series.length;
  return chart({ title: 'Latency p95 by zone', unit: 'time', series, height: 160, about: more > 0 ? `${plural(more, 'zone')} more are not drawn.` : null }).figure;
}

/** The machines that the run ran on, as facts of the plan. */
function machineFacts() {
  const { nodes } = run.meta;
  const named = (own) => `${own.host}: ${own.cpu || 'unknown processor'}, ${plural(own.cpus, 'CPU')}, ${bytes(own.memory_bytes)}`;
  if (nodes.length !== 1) return [['machines', plural(nodes.length, 'node')], ['squall', run.meta.squall]];
  const [own] = nodes;
  return [['machine', named(own)], ['system', own.os], ['squall', `${run.meta.squall}, ${plural(own.workers, 'worker')}, ${own.io}`]];
}

/** The machines of a fleet as a table. */
function machineTable() {
  const { nodes } = run.meta;
  if (nodes.length < 2) return null;
  const clockText = (own) => (own.clock_offset_us === null ? '–' : `${own.clock_offset_us < 0 ? '−' : '+'}${time(Math.abs(own.clock_offset_us))} ± ${time(own.clock_error_us)}`);
  return lazy('The machines', () => table('Machines', ['node', 'zone', 'machine', 'processor', 'system', 'squall', 'I/O', 'weight', 'clock', 'CPUs', 'memory', 'workers'],
    nodes.map((own) => [own.node, own.zone || '–', own.host, own.cpu || '–', own.os || '–', own.squall || run.meta.squall, own.io || '–', exact(own.weight), clockText(own), count(own.cpus), bytes(own.memory_bytes), count(own.workers)]), 7));
}
