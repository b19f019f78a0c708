// Requests by name, each with its last seconds as a small curve.

const CURVE = 120;
/** Seconds over which a row's rate is taken. */
const RATE_OVER = 5;

/** Takes in what is new of the rows: all curves end in the same second. */
function takeRows({ latest, changed, left_out: leftOut }) {
  const passed = run.rows.length > 0 ? Math.max(0, latest - run.latest) : 0;
  run.rows.forEach((row) => {
    for (let second = 0; second < Math.min(passed, CURVE); second += 1) row.curve.push([0, 0, 0, 0, 0]);
    row.curve.splice(0, Math.max(0, row.curve.length - CURVE));
  });
  for (const { tail, ...own } of changed) {
    const row = run.rows[own.at] || (run.rows[own.at] = { curve: [] });
    Object.assign(row, own);
    row.curve.splice(Math.max(0, row.curve.length - tail.length), tail.length, ...tail);
  }
  [run.latest, run.leftOut] = [latest, leftOut];
}

const lately = (row) => row.curve.slice(-RATE_OVER);
const rowRate = (row) => lately(row).reduce((sum, [number]) => sum + number, 0) / Math.max(1, Math.min(RATE_OVER, row.curve.length));

const COLUMNS = [
  { title: 'name', key: (row) => row.label.toLowerCase() },
  { title: 'scenario', key: (row) => row.scenario.toLowerCase() },
  { title: 'count', key: (row) => -row.count, text: (row) => count(row.count) },
  { title: 'rate', key: (row) => -rowRate(row), text: (row) => rate(rowRate(row)) },
  { title: 'errors', key: (row) => -row.errors, text: (row) => (row.errors > 0 ? `${count(row.errors)}, ${percent(row.errors / Math.max(1, row.count))}` : '0') },
  { title: 'p50', key: (row) => -row.latency_us[0], text: (row) => latencyOf(row, 0) },
  { title: 'p95', key: (row) => -row.latency_us[1], text: (row) => latencyOf(row, 1) },
  { title: 'p99', key: (row) => -row.latency_us[2], text: (row) => latencyOf(row, 2) },
  { title: 'max', key: (row) => -row.latency_us[3], text: (row) => latencyOf(row, 3) },
];
const latencyOf = (row, at) => (row.latency_us[3] > 0 ? time(row.latency_us[at]) : '–');

/** What the charts of a row show: the seconds that are known of it. */
const secondsOf = (row) => ({
  span: () => [Math.max(0, run.latest + 1 - CURVE), Math.max(run.latest + 1, 30)],
  points: () => whole(row.curve.map(([done, errors, p95, p50, p99], at) => ({ second: run.latest + 1 - row.curve.length + at, seconds: 1, done, errors, p50, p95, p99 }))),
});

/** A row's own curves. */
function rowCharts(row) {
  const over = secondsOf(row);
  const own = [
    chart({ title: `${row.label}: ${row.kind === 'request' ? 'requests' : 'done'} and errors/s`, unit: 'rate', height: 130, over, lines: [
      { name: row.kind === 'request' ? 'requests' : 'done', color: 'c1', of: perSecond('done') },
      { name: 'errors', color: 'c2', dash: '2 2', fill: true, of: perSecond('errors') }] }),
    chart({ title: `${row.label}: latency`, unit: 'time', height: 170, hasLog: true, over, lines: [
      { name: 'p50', color: 'c3', of: latency('p50') },
      { name: 'p95', color: 'c1', of: latency('p95') },
      { name: 'p99', color: 'c6', dash: '5 2', of: latency('p99') }] }),
  ];
  return { node: el('div.details', null, el('p.note', null, 'The last two minutes; the report has all of the run.'), own.map(({ figure }) => figure)), charts: own };
}

/** A row of the table, and the one under it that it opens; `opened` has those that are open. */
function rowLine(row, opened) {
  const key = JSON.stringify([row.scenario, row.kind, row.label]);
  const cells = COLUMNS.slice(2).map(() => el('td.number'));
  const curve = el('td');
  const inner = el('td', { colspan: COLUMNS.length + 1 });
  const under = el('tr.under', { hidden: true }, inner);
  const button = el('button.name', { type: 'button', 'aria-expanded': 'false' }, row.label);
  let made = [];
  const close = () => {
    made.forEach((own) => own.remove());
    made = [];
    inner.replaceChildren();
  };
  const show = () => {
    under.hidden = !opened.has(key);
    button.setAttribute('aria-expanded', String(!under.hidden));
    close();
    if (under.hidden) return;
    const { node, charts: own } = rowCharts(row);
    made = own;
    inner.append(node);
  };
  const line = el('tr.opens', null, el('th', { scope: 'row' }, button), el('td', null, row.scenario), cells, curve);
  line.addEventListener('click', (event) => {
    if (!event.target.closest('button') && String(window.getSelection())) return;
    opened.has(key) ? opened.delete(key) : opened.add(key);
    show();
  });
  show();
  return { nodes: [line, under], cells, curve, close };
}

function rowsPart() {
  const opened = new Set();
  const order = { by: null, turned: false };
  const body = el('tbody');
  const known = [];
  const filter = el('input', { type: 'search', 'aria-label': 'Filter by name', placeholder: 'Filter by name', oninput: () => show() });
  const rest = el('p.note');
  const heads = COLUMNS.map((column, at) => {
    const button = el('button', { type: 'button', onclick: () => {
      order.turned = order.by === at && !order.turned;
      order.by = at;
      heads.forEach((head, other) => head.setAttribute('aria-sort', other !== at ? 'none' : (at > 1) !== order.turned ? 'descending' : 'ascending'));
      show();
    } }, column.title);
    return el(at > 1 ? 'th.number' : 'th', { scope: 'col', 'aria-sort': 'none' }, button);
  });
  const show = () => {
    run.rows.forEach((row, at) => {
      const own = known[at] || (known[at] = rowLine(row, opened));
      COLUMNS.slice(2).forEach((column, cell) => set(own.cells[cell], column.text(row)));
      own.cells[2].classList.toggle('short', row.errors > 0);
    });
    known.length = run.rows.length;
    const wanted = filter.value.toLowerCase();
    const places = run.rows.map((_, at) => at).filter((at) => run.rows[at].label.toLowerCase().includes(wanted));
    if (order.by !== null) {
      const keys = run.rows.map(COLUMNS[order.by].key);
      const turn = order.turned ? -1 : 1;
      places.sort((a, b) => turn * (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b));
    }
    places.forEach((at) => known[at].curve.replaceChildren(spark(run.rows[at].curve)));
    const nodes = places.flatMap((at) => known[at].nodes);
    const same = nodes.length === body.children.length && nodes.every((node, at) => body.children[at] === node);
    if (!same) body.replaceChildren(...nodes);
    set(rest, run.leftOut > 0 ? `${count(run.leftOut)} more names count in the result.` : run.rows.length === 0 ? 'None has ended yet.' : '');
  };
  run.forget = () => known.splice(0).forEach((own) => own.close());
  const whole = el('table.rows', null, el('caption.unseen', null, 'Requests by name; a row opens its own curves'),
    el('thead', null, el('tr', null, heads, el('th', { scope: 'col' }, 'p95, the last two minutes'))), body);
  return shown(el('div', null, el('div.bar', null, filter), el('div.wide', { tabindex: 0, role: 'group', 'aria-label': 'Requests by name' }, whole), rest), show);
}
