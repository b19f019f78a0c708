// The table of requests, groups and iterations, that of checks, and what opens under a row: its own curves.

/** The rows of the result with what belongs to them, and its checks. */
const allRows = [...run.requests, ...run.groups, ...run.iterations].map((row, at) => ({ row, more: details.rows[at] || {} }));
const allChecks = run.checks.map((row, at) => ({ row, more: { line: details.checks[at] } }));
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

/** A small curve in a column of its own, by which nothing is sorted. */
const curve = (title, field, color, label) => ({ title, form: 'td', show: (own) => {
  const values = own.more.line ? own.more.line[field] : [];
  return values.some((value) => value > 0) ? spark(values, curves.row_seconds, color, label(own, Math.max(...values))) : null;
} });

/** Columns of a table: what it is sorted by and what it shows; the first is the name. */
const NAME = { title: 'name', of: ({ row }) => row.name.toLowerCase() };
const COLUMNS = [
  NAME,
  { title: 'count', of: ({ row }) => row.count, show: ({ row }) => count(row.count) },
  { title: 'rate', of: ({ row }) => row.rate, show: ({ row }) => rate(row.rate) },
  { title: 'errors', of: ({ row }) => row.errors, show: ({ row }) => errorsText(row), bad: ({ row }) => row.errors > 0 },
  ...['mean', 'p50', 'p95', 'p99', 'max'].map((name) => ({
    title: name, of: ({ row }) => bounded(row, name).value ?? -1, show: ({ row }) => boundedText(row, name),
  })),
  curve('p95', 'p95', 'c1', (own, most) => `p95 over time, at most ${time(most)}`),
  curve('errors', 'errors', 'c2', ({ row }) => `errors over time, ${count(row.errors)} in all`),
];
const CHECK_COLUMNS = [
  NAME,
  // Failures come first, and warnings before what passed.
  { title: 'result', form: 'td', of: ({ row }) => row.failed + row.warned / (row.warned + 1), show: ({ row }) => resultText(row) },
  { title: 'passed', of: ({ row }) => passedShare(row), show: ({ row }) => percent(passedShare(row)) },
  ...['passed', 'failed', 'warned'].map((name) => ({ title: `times ${name}`, of: ({ row }) => row[name], show: ({ row }) => count(row[name]) })),
  curve('failures over time', 'errors', 'c2', () => 'failures over time'),
];

const passedShare = ({ passed, failed, warned }) => (passed + failed + warned > 0 ? passed / (passed + failed + warned) : 0);

function resultText({ failed, warned }) {
  const [word, mark] = failed > 0 ? ['failed', '✘'] : warned > 0 ? ['warned', '▲'] : ['passed', '✔'];
  return el(`span.word.${word}`, null, `${mark} ${word}`);
}

const errorsText = (row) => (row.errors === 0 ? '0' : `${count(row.errors)} (${percent(row.error_rate)})`);

/** How many rows are shown before all are asked for. */
const ROWS_AT_FIRST = 40;

function rowsSection() {
  if (allRows.length === 0) return null;
  const title = 'Requests, groups and iterations';
  const searched = ({ row }) => Object.keys(row.error_kinds).join(' ');
  const hint = 'name, group, scenario or kind of error';
  return section('rows', 'Requests', title,
    ...opening({ title, all: allRows, columns: COLUMNS, hint, searched, details: rowDetails }, copyButton('copy as CSV', rowsCsv)), atLeastNote());
}

function checksSection() {
  if (allChecks.length === 0) return null;
  const searched = ({ row }) => resultText(row).textContent;
  return section('checks', 'Checks', 'Checks',
    ...opening({ title: 'Checks', all: allChecks, columns: CHECK_COLUMNS, hint: 'name, group, scenario or result', searched, details: checkDetails }));
}

/**
 * A table whose rows open what `details` makes of them. It is sorted by any column that has a value, at first by the second one,
 * and filtered by name, place and what else is `searched` of a row.
 */
function opening({ title, all, columns, hint, searched, details }, ...buttons) {
  const state = { by: 1, down: true, text: '', kind: '', most: ROWS_AT_FIRST };
  const body = el('tbody');
  const heads = columns.map((column, at) => {
    const form = at === 0 || column.form ? 'th' : 'th.number';
    if (!column.of) return el(form, { scope: 'col' }, column.title);
    return el(form, { scope: 'col' }, el('button', { type: 'button', onclick: () => sort(at) }, column.title, el('span', { 'aria-hidden': 'true' })));
  });
  const lines = all.map((own) => rowLine(own, columns, details));
  const shown = el('p.hint', { 'aria-live': 'polite' });
  const rest = el('button', { type: 'button', onclick: () => {
    state.most = Infinity;
    arrange();
  } });
  const arrange = () => {
    const column = columns[state.by];
    heads.forEach((head, at) => {
      if (!columns[at].of) return;
      head.setAttribute('aria-sort', at !== state.by ? 'none' : state.down ? 'descending' : 'ascending');
      head.querySelector('span').textContent = at !== state.by ? '' : state.down ? ' ▼' : ' ▲';
    });
    const fits = ({ own }) => (!state.kind || own.row.kind === state.kind)
      && `${place(own.row)} ${own.row.name} ${searched(own)}`.toLowerCase().includes(state.text);
    const some = lines.filter(fits).sort((a, b) => {
      const [x, y] = [column.of(a.own), column.of(b.own)];
      return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1);
    });
    body.replaceChildren(...some.slice(0, state.most).flatMap((line) => line.elements()));
    rest.hidden = some.length <= state.most;
    rest.textContent = `show all ${plural(some.length, 'row')}`;
    shown.textContent = some.length === lines.length ? `${plural(lines.length, 'row')}` : `${some.length} of ${plural(lines.length, 'row')}`;
  };
  const sort = (at) => {
    [state.by, state.down] = [at, at === state.by ? !state.down : at > 0];
    arrange();
  };
  const filter = el('input', { type: 'search', placeholder: hint, 'aria-label': `Filter: ${title}`, oninput: () => {
    state.text = filter.value.toLowerCase();
    arrange();
  } });
  const kinds = [...new Set(all.map(({ row }) => row.kind))];
  const kind = el('select', { 'aria-label': 'Kind of rows', onchange: () => {
    state.kind = kind.value;
    arrange();
  } }, el('option', { value: '' }, 'all kinds'), kinds.map((own) => el('option', { value: own }, `${own}s`)));
  arrange();
  const table = el('table.rows', null, el('caption.unseen', null, `${title}; a row opens its own curves`), el('thead', null, el('tr', null, heads)), body);
  return [el('div.bar', null, filter, kinds.length > 1 ? kind : null, ...buttons, shown),
    el('div.wide', { tabindex: 0, role: 'group', 'aria-label': title }, table), rest];
}

function atLeastNote() {
  return allRows.some(({ row }) => row.latency_with_timeouts_us)
    ? el('p.note', null, `≥: ${words.definitions.latency_with_timeouts}.`) : null;
}

/** A row of a table, and the one under it that it opens; they are made when they are shown. */
function rowLine(own, columns, details) {
  let made = null;
  return { own, elements: () => (made = made || rowElements(own, columns, details)) };
}

function rowElements(own, columns, details) {
  const { row } = own;
  const inner = el('td', { colspan: columns.length });
  const under = el('tr.under', { hidden: true }, inner);
  const open = () => {
    under.hidden = !under.hidden;
    button.setAttribute('aria-expanded', String(!under.hidden));
    if (!under.hidden && inner.children.length === 0) inner.append(details(own));
  };
  const button = el('button.name', { type: 'button', 'aria-expanded': 'false' }, row.name || '(no name)');
  const kind = row.kind && row.kind !== 'request' ? el('span.tag', null, row.kind) : null;
  const name = el('th', { scope: 'row' }, button, kind, place(row) ? el('div.place', null, place(row)) : null);
  const cells = columns.slice(1).map((column) => el(`${column.form || 'td.number'}${column.bad && column.bad(own) ? '.bad' : ''}`, null, column.show(own)));
  const tr = el('tr.opens', null, name, cells);
  tr.addEventListener('click', (event) => {
    if (event.target.closest('button') || !String(window.getSelection())) open();
  });
  return [tr, under];
}

/** A row's own curves, distribution, phases, errors and statuses. */
function rowDetails({ row, more }) {
  const box = el('div.details', null, doneOverTime(row, more.line, row.kind === 'request' ? 'requests' : 'done', 'errors'));
  const latency = more.line ? percentileLines(more.line, curves.row_seconds) : [];
  if (latency.length > 0) box.append(chart({ title: `${row.name}: latency`, unit: 'time', series: latency, log: spread(latency), height: 170 }).figure);
  const plots = el('div.side');
  if (more.latency) plots.append(histogram(more.latency, more.corrected), percentileCurve(more.latency, more.corrected, row.latency_us.count));
  box.append(plots, ...latencyTable(row), ...phaseTable(row), ...outcomeTable(row));
  return box;
}

const checkDetails = ({ row, more }) => el('div.details', null, doneOverTime(row, more.line, 'judged', 'failed or warned'));

/** How often something was done, and how often it was wrong, over time. */
function doneOverTime(row, line, done, wrong) {
  if (!line) return el('p.note', null, curves ? 'There are too many rows to draw them all over time.' : 'Made of the result alone: only the run as a whole is known over time.');
  const seconds = curves.row_seconds;
  const series = [{ name: done, values: line.count, seconds, color: 'c1', per: true }];
  if (line.errors.length > 0) series.push({ name: wrong, values: pad(line.errors, line.count.length), seconds, color: 'c2', per: true, dash: '2 2' });
  return chart({ title: `${row.name}: ${done} a second`, unit: 'rate', series, height: 120 }).figure;
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
  const errors = Object.entries(row.error_kinds).map(([kind, number]) => [`error: ${spoken(kind)}`, count(number), percent(number / (row.count + (row.not_sent || 0)))]);
  const statuses = Object.entries(row.status).map(([status, number]) => [`status ${status}`, count(number), percent(number / row.count)]);
  const rows = [...errors, ...statuses, ['received, sent', `${bytes(row.bytes_in)}, ${bytes(row.bytes_out)}`, '']];
  if (row.cut_off > 0) rows.push(['cut off by the end of the load', count(row.cut_off), '']);
  if (row.not_sent > 0) rows.push(['not sent, as squall could not make it', count(row.not_sent), '']);
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
