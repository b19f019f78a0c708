// The table of requests, groups and iterations, that of checks, and what opens under a row: its own curves.

/** The rows of the result with what belongs to them. */
const allRows = [...run.requests, ...run.groups, ...run.iterations].map((row, at) => ({ row, more: details.rows[at] || {} }));
const many = { scenarios: new Set(allRows.map(({ row }) => row.scenario)).size > 1, kinds: new Set(allRows.map(({ row }) => row.kind)).size > 1 };

const tags = (row) => Object.entries(row.tags || {}).map(([name, text]) => `${name}: ${text}`);
const place = (row) => [many.scenarios ? row.scenario : null, ...row.group, ...tags(row)].filter(Boolean).join(' › ');
/** Latency in which what was given up counts with its wait: the value, and whether it is a lower bound. */
const bounded = (row, name) => {
  const own = row.latency_with_timeouts_us;
  return own ? { value: own[name], atLeast: own.at_least.includes(name) } : { value: row.latency_us.count ? row.latency_us[name] : null, atLeast: false };
};
const boundedText = (row, name) => {
  const own = bounded(row, name);
  return `${own.atLeast ? '≥ ' : ''}${time(own.value)}`;
};

const COLUMNS = [
  { title: 'name', of: ({ row }) => row.name.toLowerCase() },
  { title: 'count', of: ({ row }) => row.count, show: ({ row }) => count(row.count) },
  { title: 'rate', of: ({ row }) => row.rate, show: ({ row }) => rate(row.rate) },
  { title: 'errors', of: ({ row }) => row.errors, show: ({ row }) => errorsText(row), bad: ({ row }) => row.errors > 0 },
  ...['mean', 'p50', 'p95', 'p99', 'max'].map((name) => ({
    title: name, of: ({ row }) => bounded(row, name).value ?? -1, show: ({ row }) => boundedText(row, name),
  })),
];

const errorsText = (row) => (row.errors === 0 ? '0' : `${count(row.errors)} (${percent(row.error_rate)})`);

/** How many rows are shown before all are asked for. */
const ROWS_AT_FIRST = 40;

function rowsSection() {
  if (allRows.length === 0) return null;
  const state = { by: 1, down: true, text: '', kind: '', most: ROWS_AT_FIRST };
  const body = el('tbody');
  const heads = COLUMNS.map((column, at) => {
    const button = el('button', { type: 'button', onclick: () => sort(at) }, column.title, el('span', { 'aria-hidden': 'true' }));
    return el(at === 0 ? 'th' : 'th.number', { scope: 'col' }, button);
  });
  const lines = allRows.map((own) => rowLine(own));
  const shown = el('p.hint', { 'aria-live': 'polite' });
  const all = el('button', { type: 'button', onclick: () => {
    state.most = Infinity;
    arrange();
  } });
  const arrange = () => {
    const column = COLUMNS[state.by];
    heads.forEach((head, at) => {
      head.setAttribute('aria-sort', at !== state.by ? 'none' : state.down ? 'descending' : 'ascending');
      head.querySelector('span').textContent = at !== state.by ? '' : state.down ? ' ▼' : ' ▲';
    });
    const fits = ({ own: { row } }) => (!state.kind || row.kind === state.kind)
      && `${place(row)} ${row.name} ${Object.keys(row.error_kinds).join(' ')}`.toLowerCase().includes(state.text);
    const some = lines.filter(fits).sort((a, b) => {
      const [x, y] = [column.of(a.own), column.of(b.own)];
      return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1);
    });
    body.replaceChildren(...some.slice(0, state.most).flatMap((line) => line.elements()));
    all.hidden = some.length <= state.most;
    all.textContent = `show all ${plural(some.length, 'row')}`;
    shown.textContent = some.length === lines.length ? `${plural(lines.length, 'row')}` : `${some.length} of ${plural(lines.length, 'row')}`;
  };
  const sort = (at) => {
    [state.by, state.down] = [at, at === state.by ? !state.down : at > 0];
    arrange();
  };
  const filter = el('input', { type: 'search', placeholder: 'name, group, scenario or kind of error', 'aria-label': 'Filter rows', oninput: () => {
    state.text = filter.value.toLowerCase();
    arrange();
  } });
  const kinds = el('select', { 'aria-label': 'Kind of rows', onchange: () => {
    state.kind = kinds.value;
    arrange();
  } }, el('option', { value: '' }, 'all kinds'), [...new Set(allRows.map(({ row }) => row.kind))].map((kind) => el('option', { value: kind }, `${kind}s`)));
  arrange();
  const table = el('table.rows', null, el('caption.unseen', null, 'Requests, groups and iterations; a row opens its own curves'),
    el('thead', null, el('tr', null, heads, el('th', { scope: 'col' }, 'p95'), el('th', { scope: 'col' }, 'errors'))), body);
  return section('rows', 'Requests', 'Requests, groups and iterations',
    el('div.bar', null, filter, many.kinds ? kinds : null, copyButton('copy as CSV', rowsCsv), shown),
    el('div.wide', { tabindex: 0, role: 'group', 'aria-label': 'Requests, groups and iterations' }, table), all, atLeastNote());
}

function atLeastNote() {
  return allRows.some(({ row }) => row.latency_with_timeouts_us)
    ? el('p.note', null, `≥: ${words.definitions.latency_with_timeouts}.`) : null;
}

/** A row of the table, and the one under it that it opens; they are made when they are shown. */
function rowLine(own) {
  let made = null;
  return { own, elements: () => (made = made || rowElements(own)) };
}

function rowElements(own) {
  const { row, more } = own;
  const inner = el('td', { colspan: COLUMNS.length + 2 });
  const under = el('tr.under', { hidden: true }, inner);
  const open = () => {
    under.hidden = !under.hidden;
    button.setAttribute('aria-expanded', String(!under.hidden));
    if (!under.hidden && inner.children.length === 0) inner.append(rowDetails(own));
  };
  const button = el('button.name', { type: 'button', 'aria-expanded': 'false' }, row.name || '(no name)');
  const kind = row.kind === 'request' ? null : el('span.tag', null, row.kind);
  const name = el('th', { scope: 'row' }, button, kind, place(row) ? el('div.place', null, place(row)) : null);
  const cells = COLUMNS.slice(1).map((column) => el(column.bad && column.bad(own) ? 'td.number.bad' : 'td.number', null, column.show(own)));
  const line = more.line;
  const curve = (values, color, label) => el('td', null, line && values.some((value) => value > 0) ? spark(values, curves.row_seconds, color, label) : null);
  const tr = el('tr.opens', null, name, cells,
    curve(line ? line.p95 : [], 'c1', `p95 over time, at most ${time(line ? Math.max(...line.p95, 0) : 0)}`),
    curve(line ? line.errors : [], 'c2', `errors over time, ${count(row.errors)} in all`));
  tr.addEventListener('click', (event) => {
    if (event.target.closest('button') || !String(window.getSelection())) open();
  });
  return [tr, under];
}

/** A row's own curves, distribution, phases, errors and statuses. */
function rowDetails({ row, more }) {
  const box = el('div.details');
  if (more.line) {
    const { line } = more;
    const seconds = curves.row_seconds;
    const requests = { name: row.kind === 'request' ? 'requests' : 'done', values: line.count, seconds, color: 'c1', per: true };
    const errors = line.errors.length > 0 ? [{ name: 'errors', values: pad(line.errors, line.count.length), seconds, color: 'c2', per: true, dash: '2 2' }] : [];
    const latency = percentileLines(line, seconds);
    box.append(chart({ title: `${row.name}: done a second`, unit: 'rate', series: [requests, ...errors], height: 120 }).figure);
    if (latency.length > 0) box.append(chart({ title: `${row.name}: latency`, unit: 'time', series: latency, log: spread(latency), height: 170 }).figure);
  } else {
    box.append(el('p.note', null, curves ? 'There are too many rows to draw them all over time.' : 'Made of the result alone: only the run as a whole is known over time.'));
  }
  const plots = el('div.side');
  if (more.latency) plots.append(histogram(more.latency, more.corrected), percentileCurve(more.latency, more.corrected, row.latency_us.count));
  box.append(plots, ...latencyTable(row), ...phaseTable(row), ...outcomeTable(row));
  return box;
}

/** All that is known of a row's latency: of complete responses, with what was given up, and corrected. */
function latencyTable(row) {
  const names = ['mean', 'min', 'p50', 'p75', 'p90', 'p95', 'p99', 'p999', 'max'];
  const kinds = [['complete responses', row.latency_us], ['with what was given up', row.latency_with_timeouts_us], ['corrected', row.corrected_latency_us], ['corrected, with what was given up', row.corrected_latency_with_timeouts_us]];
  const rows = kinds.filter(([, own]) => own && own.count > 0).map(([title, own]) => [title, count(own.count),
    ...names.map((name) => `${own.at_least && own.at_least.includes(name) ? '≥ ' : ''}${time(own[name])}`)]);
  return rows.length > 0 ? [table(`Latency of ${row.name}`, ['latency', 'responses', ...names.map((name) => (name === 'p999' ? 'p99.9' : name))], rows)] : [];
}

function outcomeTable(row) {
  const errors = Object.entries(row.error_kinds).map(([kind, number]) => [`error: ${spoken(kind)}`, count(number), percent(number / row.count)]);
  const statuses = Object.entries(row.status).map(([status, number]) => [`status ${status}`, count(number), percent(number / row.count)]);
  const rows = [...errors, ...statuses, ['received, sent', `${bytes(row.bytes_in)}, ${bytes(row.bytes_out)}`, '']];
  if (row.cut_off > 0) rows.push(['cut off by the end of the load', count(row.cut_off), '']);
  return [table(`Outcomes of ${row.name}`, ['outcome', 'number', 'share'], rows)];
}

/** A row as CSV, with numbers that programs read: times in µs. */
function rowsCsv() {
  const names = ['kind', 'scenario', 'group', 'tags', 'name', 'count', 'errors', 'rate', 'mean_us', 'p50_us', 'p90_us', 'p95_us', 'p99_us', 'max_us'];
  const quoted = (value) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const lines = allRows.map(({ row }) => [row.kind, row.scenario || '', row.group.join(' / '), tags(row).join(', '), row.name, row.count, row.errors, row.rate,
    ...['mean', 'p50', 'p90', 'p95', 'p99', 'max'].map((name) => bounded(row, name).value ?? '')].map(quoted).join(','));
  return [names.join(','), ...lines].join('\n');
}

function checksSection() {
  if (run.checks.length === 0) return null;
  const order = run.checks.map((check, at) => ({ check, line: details.checks[at] }));
  order.sort((a, b) => b.check.failed - a.check.failed || b.check.warned - a.check.warned);
  const rows = order.map(({ check, line }) => {
    const all = check.passed + check.failed + check.warned;
    const [word, mark] = check.failed > 0 ? ['failed', '✘'] : check.warned > 0 ? ['warned', '▲'] : ['passed', '✔'];
    return [
      [check.name, place(check) ? el('div.place', null, place(check)) : null],
      el(`span.word.${word}`, null, `${mark} ${word}`), percent(all ? check.passed / all : 0), count(check.passed), count(check.failed), count(check.warned),
      line && line.errors.length > 0 ? spark(line.errors, curves.row_seconds, 'c2', 'failures over time') : '',
    ];
  });
  return section('checks', 'Checks', 'Checks', table('Checks', ['check', 'result', 'passed', 'times passed', 'failed', 'warned', 'failures over time'], rows, 2));
}
