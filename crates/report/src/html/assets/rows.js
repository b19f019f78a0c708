// The tables of requests, of groups and iterations, and of checks; what opens under a row: its own curves; and what leads to a row.

/** The rows of the result with what belongs to them, and its checks. */
const allRows = [...run.requests, ...run.groups, ...run.iterations].map((row, at) => ({ row, more: details.rows[at] || {} }));
const allChecks = run.checks.map((row, at) => ({ row, more: { line: details.checks[at] } }));
const many = { scenarios: new Set(allRows.map(({ row }) => row.scenario)).size > 1 };

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

/** A column of small curves, by which nothing is sorted: each is {field, color, label}. */
const curveColumn = (title, lines) => ({ title, form: 'td', show: (own) => {
  const drawn = lines.map((line) => ({ ...line, values: own.more.line ? own.more.line[line.field] : [] })).filter(({ values }) => values.some((value) => value > 0));
  return drawn.length > 0 ? spark(drawn, curves.row_seconds, drawn.map(({ label, values }) => label(own, Math.max(...values))).join('; ')) : null;
} });

/** Columns of a table: what it is sorted by and what it shows, also of all together; the first is the name. */
const NAME = { title: 'name', of: ({ row }) => row.name.toLowerCase() };
const COLUMNS = [
  NAME,
  { title: 'count', of: ({ row }) => row.count, show: ({ row }) => count(row.count) },
  { title: 'rate', of: ({ row }) => row.rate, show: ({ row }) => rate(row.rate) },
  { title: 'errors', of: ({ row }) => row.errors, show: ({ row }) => errorsText(row), bad: ({ row }) => row.errors > 0 },
  ...['mean', 'p50', 'p95', 'p99', 'max'].map((name) => ({
    title: name, of: ({ row }) => bounded(row, name).value ?? -1, show: ({ row }) => boundedText(row, name),
  })),
  curveColumn('over time', [
    { field: 'p95', color: 'c1', label: (own, most) => `p95 over time, at most ${time(most)}` },
    { field: 'errors', color: 'c2', label: ({ row }) => `errors over time, ${count(row.errors)} in all` },
  ]),
];
/** On a phone, where a table begins says most. */
const ON_A_PHONE = ['name', 'p95', 'errors', 'count'];
const phone = matchMedia('(max-width: 640px)');

/** The places of columns in the order in which they are shown. */
function places(columns) {
  const first = phone.matches ? ON_A_PHONE.map((title) => columns.findIndex((own) => own.title === title)).filter((at) => at >= 0) : [];
  return [...first, ...columns.keys()].filter((at, place, all) => all.indexOf(at) === place);
}

const CHECK_COLUMNS = [
  NAME,
  // Failures come first, and warnings before what passed.
  { title: 'result', form: 'td', of: ({ row }) => row.failed + row.warned / (row.warned + 1), show: ({ row }) => resultText(row) },
  { title: 'passed', of: ({ row }) => passedShare(row), show: ({ row }) => percent(passedShare(row)) },
  ...['passed', 'failed', 'warned'].map((name) => ({ title: `times ${name}`, of: ({ row }) => row[name], show: ({ row }) => count(row[name]) })),
  curveColumn('failures over time', [{ field: 'errors', color: 'c2', label: () => 'failures over time' }]),
];

const passedShare = ({ passed, failed, warned }) => (passed + failed + warned > 0 ? passed / (passed + failed + warned) : 0);

function resultText({ failed, warned }) {
  const [word, mark] = failed > 0 ? ['failed', '✘'] : warned > 0 ? ['warned', '▲'] : ['passed', '✔'];
  return el(`span.word.${word}`, null, `${mark} ${word}`);
}

const errorsText = (row) => (row.errors === 0 ? '0' : `${count(row.errors)} (${percent(row.error_rate)})`);

/** How many rows are shown before all are asked for: of requests so many that the first screen has what follows. */
const ROWS_AT_FIRST = 40;
const REQUESTS_AT_FIRST = 8;
const isRequest = ({ row }) => row.kind !== 'group' && row.kind !== 'iteration';

/** What shows a row: by the row. */
const openers = new Map();

/** What leads to a row. */
const link = (row, title = row.name || '(no name)') => el('button.link', { type: 'button', onclick: () => openers.get(row)() }, title);

/** What leads to some rows, each with a number, and how many more there are. */
function links(rows, number) {
  const named = rows.slice(0, 3).map((row, at) => [at > 0 ? ', ' : '', link(row), ` (${count(number(row))})`]);
  return [...named.flat(), rows.length > 3 ? ` and ${rows.length - 3} more` : ''];
}

function rowsSection() {
  const all = allRows.filter(isRequest);
  if (all.length === 0) return null;
  const searched = ({ row }) => Object.keys(row.error_kinds).join(' ');
  // Errors first; where there are none, what there is most of.
  const wrong = ({ row }) => row.errors + (row.not_sent || 0);
  const usual = (a, b) => wrong(b) - wrong(a) || b.row.count - a.row.count;
  return section('rows', 'Requests', 'Requests',
    ...opening({ title: 'Requests', all, columns: COLUMNS, hint: 'name, group, scenario or kind of error', searched, details: rowDetails, usual, most: REQUESTS_AT_FIRST, total: run.totals }, copyButton('copy as CSV', rowsCsv), unsentNote(), atLeastNote(allRows)));
}

function groupsSection() {
  const all = allRows.filter((own) => !isRequest(own));
  if (all.length === 0) return null;
  const usual = (a, b) => b.row.count - a.row.count;
  return section('groups', 'Groups', 'Groups and iterations',
    ...opening({ title: 'Groups and iterations', all, columns: COLUMNS, hint: 'name, group or scenario', searched: () => '', details: rowDetails, usual, most: ROWS_AT_FIRST }));
}

function checksSection() {
  if (allChecks.length === 0) return null;
  const searched = ({ row }) => resultText(row).textContent;
  const usual = (a, b) => b.row.failed - a.row.failed || b.row.warned - a.row.warned;
  return section('checks', 'Checks', 'Checks',
    ...opening({ title: 'Checks', all: allChecks, columns: CHECK_COLUMNS, hint: 'name, group, scenario or result', searched, details: checkDetails, usual, most: ROWS_AT_FIRST }));
}

/**
 * A table whose rows open what `details` makes of them; at first so many rows in the `usual` order. It is sorted by any column
 * that has a value, and filtered by name, place and what else is `searched` of a row. The last row is of all together.
 */
function opening({ title, all, columns, hint, searched, details, usual, most, total }, ...buttons) {
  const state = { by: null, down: true, text: '', kind: '', most };
  const body = el('tbody');
  const heads = columns.map((column, at) => {
    const form = at === 0 || column.form ? 'th' : 'th.number';
    if (!column.of) return el(form, { scope: 'col' }, column.title);
    return el(form, { scope: 'col' }, el('button', { type: 'button', onclick: () => sort(at) }, column.title, el('span', { 'aria-hidden': 'true' })));
  });
  const [head, foot] = [el('tr'), el('tr')];
  const sums = !total ? [] : columns.map((column, at) => (at === 0 ? el('th', { scope: 'row' }, 'all requests') : el(column.form || 'td.number', null, column.of ? column.show({ row: total, more: {} }) : null)));
  const lines = all.map((own) => rowLine(own, columns, details));
  const shown = el('p.hint', { 'aria-live': 'polite' });
  const rest = el('button.small', { type: 'button', onclick: () => show({ most: Infinity }) });
  const show = (change) => {
    Object.assign(state, change);
    arrange();
  };
  const arrange = () => {
    const order = places(columns);
    head.replaceChildren(...order.map((at) => heads[at]));
    foot.replaceChildren(...order.map((at) => sums[at]).filter(Boolean));
    heads.forEach((own, at) => {
      if (!columns[at].of) return;
      own.setAttribute('aria-sort', at !== state.by ? 'none' : state.down ? 'descending' : 'ascending');
      own.querySelector('span').textContent = at !== state.by ? '' : state.down ? ' ▼' : ' ▲';
    });
    const fits = ({ own }) => (!state.kind || own.row.kind === state.kind)
      && `${place(own.row)} ${own.row.name} ${searched(own)}`.toLowerCase().includes(state.text);
    const compare = state.by === null ? usual : (a, b) => {
      const [x, y] = [columns[state.by].of(a), columns[state.by].of(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1);
    };
    const some = lines.filter(fits).sort((a, b) => compare(a.own, b.own));
    body.replaceChildren(...some.slice(0, state.most).flatMap((line) => line.elements(order)));
    rest.hidden = some.length <= state.most;
    rest.textContent = `${count(some.length - state.most)} more`;
    shown.textContent = some.length === lines.length ? plural(lines.length, 'row') : `${some.length} of ${plural(lines.length, 'row')}`;
  };
  const sort = (at) => show({ by: at, down: at === state.by ? !state.down : at > 0 });
  const filter = el('input', { type: 'search', placeholder: `Filter by ${hint}`, 'aria-label': `Filter: ${title}`, oninput: () => show({ text: filter.value.toLowerCase() }) });
  const kinds = [...new Set(all.map(({ row }) => row.kind))];
  const kind = el('select', { 'aria-label': 'Kind of rows', onchange: () => show({ kind: kind.value }) }, el('option', { value: '' }, 'all kinds'), kinds.map((own) => el('option', { value: own }, `${own}s`)));
  lines.forEach((line) => openers.set(line.own.row, () => {
    [filter.value, kind.value] = ['', ''];
    show({ text: '', kind: '', most: Infinity });
    line.open();
  }));
  phone.addEventListener('change', arrange);
  // Paper has no button for the others.
  window.addEventListener('beforeprint', () => show({ most: Infinity }));
  arrange();
  const made = el('table.rows', null, el('caption.unseen', null, `${title}; a row opens its own curves`), el('thead', null, head), body, total ? el('tfoot', null, foot) : null);
  return [el('div.wide', { tabindex: 0, role: 'group', 'aria-label': title }, made),
    el('div.bar', null, rest, filter, kinds.length > 1 ? kind : null, shown, ...buttons)];
}

function atLeastNote(rows) {
  return rows.some(({ row }) => row.latency_with_timeouts_us)
    ? el('details.prints', null, el('summary', null, 'What ≥ means'), el('p.note', null, `${words.definitions.latency_with_timeouts}.`)) : null;
}

/** Requests that were never sent are none of the target's. */
function unsentNote() {
  const unsent = run.totals.not_sent || 0;
  return unsent > 0 ? el('p.note.unsent', null, `${plural(unsent, 'request')} could not be made and ${unsent === 1 ? 'was' : 'were'} never sent: not counted as requests.`) : null;
}

/** A row of a table, and the one under it that it opens; they are made when they are shown, with their cells in some order. */
function rowLine(own, columns, details) {
  let made = null;
  const make = () => (made = made || rowElements(own, columns, details));
  return {
    own,
    elements: (order) => {
      make().tr.replaceChildren(...order.map((at) => made.cells[at]));
      return [made.tr, made.under];
    },
    /** Opens it, and goes to it. */
    open: () => {
      if (make().under.hidden) made.toggle();
      made.tr.scrollIntoView({ block: 'start' });
      made.tr.querySelector('button').focus({ preventScroll: true });
    },
  };
}

function rowElements(own, columns, details) {
  const { row } = own;
  const inner = el('td', { colspan: columns.length });
  const under = el('tr.under', { hidden: true }, inner);
  const toggle = () => {
    under.hidden = !under.hidden;
    button.setAttribute('aria-expanded', String(!under.hidden));
    if (!under.hidden && inner.children.length === 0) inner.append(details(own));
  };
  const button = el('button.name', { type: 'button', 'aria-expanded': 'false' }, row.name || '(no name)');
  const kind = row.kind && row.kind !== 'request' ? el('span.tag', null, row.kind) : null;
  const unsent = row.not_sent > 0 ? el('span.tag', null, `${count(row.not_sent)} not sent`) : null;
  const name = el('th', { scope: 'row' }, button, kind, unsent, place(row) ? el('span.place', null, ` ${place(row)}`) : null);
  const cells = columns.map((column, at) => (at === 0 ? name : el(`${column.form || 'td.number'}${column.bad && column.bad(own) ? '.bad' : ''}`, null, column.show(own))));
  const tr = el('tr.opens');
  tr.addEventListener('click', (event) => {
    if (event.target.closest('button') || !String(window.getSelection())) toggle();
  });
  return { tr, under, cells, toggle };
}

/** A row's own curves, distribution, phases, errors and statuses. */
function rowDetails({ row, more }) {
  const ofRow = (own) => own.name === row.name && !ofPhase(own);
  const box = el('div.details');
  const latency = more.line ? percentileLines(more.line, curves.row_seconds) : [];
  if (latency.length > 0) box.append(chart({ title: `${row.name}: latency`, unit: 'time', series: latency, log: spread(latency), height: 180, limits: limitsOf('us', ofRow) }).figure);
  box.append(doneOverTime(row, more.line, row.kind === 'request' ? 'requests' : 'done', 'errors', limitsOf('per_second', ofRow)));
  const plots = el('div.side');
  if (more.latency) plots.append(histogram(more.latency, more.corrected), percentileCurve(more.latency, more.corrected, row.latency_us.count));
  box.append(plots, ...latencyTable(row), ...phaseTable(row), ...outcomeTable(row, more));
  return box;
}

const checkDetails = ({ row, more }) => el('div.details', null, doneOverTime(row, more.line, 'judged', 'failed or warned'));

/** How often something was done, and how often it was wrong, over time. */
function doneOverTime(row, line, done, wrong, limits = []) {
  if (!line) return el('p.note', null, curves ? 'There are too many rows to draw them all over time.' : 'Made of the result alone: only the run as a whole is known over time.');
  const seconds = curves.row_seconds;
  const series = [{ name: done, values: line.count, seconds, color: 'c1', per: true }];
  if (line.errors.length > 0) series.push({ name: wrong, values: pad(line.errors, line.count.length), seconds, color: 'c2', per: true, dash: '2 2' });
  return chart({ title: `${row.name}: ${done}/s`, unit: 'rate', series, height: 130, limits }).figure;
}

/** All that is known of a row's latency: of complete responses, with what was given up, and corrected. */
function latencyTable(row) {
  const names = ['mean', 'sd', 'min', 'p50', 'p75', 'p90', 'p95', 'p99', 'p999', 'max'];
  const kinds = [['complete responses', row.latency_us], ['with what was given up', row.latency_with_timeouts_us], ['corrected', row.corrected_latency_us], ['corrected, with what was given up', row.corrected_latency_with_timeouts_us]];
  const rows = kinds.filter(([, own]) => own && own.count > 0).map(([title, own]) => [title, count(own.count),
    ...names.map((name) => (own[name] === undefined ? '' : `${own.at_least && own.at_least.includes(name) ? '≥ ' : ''}${time(own[name])}`))]);
  return rows.length > 0 ? [table(`Latency of ${row.name}`, ['latency', 'responses', ...names.map((name) => ({ p999: 'p99.9', sd: 'std. deviation' }[name] || name))], rows)] : [];
}

/** How many requests there were to be, those among them that were not sent. */
const attempts = (row) => Math.max(row.count + (row.not_sent || 0), 1);

function outcomeTable(row, more) {
  const share = (number) => percent(number / attempts(row));
  const errors = Object.entries(row.error_kinds).map(([kind, number]) => [`error: ${spoken(kind)}`, count(number), share(number)]);
  const statuses = Object.entries(row.status).map(([status, number]) => [`status ${status}`, count(number), share(number)]);
  const each = (number) => `${bytes(number / Math.max(row.count, 1))} a request`;
  const rows = [...errors, ...statuses, ['received', bytes(row.bytes_in), each(row.bytes_in)], ['sent', bytes(row.bytes_out), each(row.bytes_out)]];
  if (typeof more.apdex === 'number') rows.push([`Apdex (T = ${time(words.apdex_us)})`, more.apdex.toFixed(2), '']);
  if (row.cut_off > 0) rows.push(['cut off by the end of the load', count(row.cut_off), '']);
  if (row.not_sent > 0) rows.push(['not sent, as squall could not make it', count(row.not_sent), '']);
  return [table(`Outcomes of ${row.name}`, ['outcome', 'number', 'share'], rows)];
}

/** A row as CSV, with numbers that programs read: times in µs. */
function rowsCsv() {
  const names = ['kind', 'scenario', 'group', 'tags', 'name', 'count', 'errors', 'rate', 'mean_us', 'sd_us', 'min_us', 'p50_us', 'p90_us', 'p95_us', 'p99_us', 'max_us', 'bytes_in', 'bytes_out'];
  const quoted = (value) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const lines = allRows.map(({ row }) => [row.kind, row.scenario || '', row.group.join(' / '), tags(row).join(', '), row.name, row.count, row.errors, row.rate,
    bounded(row, 'mean').value ?? '', row.latency_us.count ? row.latency_us.sd : '', ...['min', 'p50', 'p90', 'p95', 'p99', 'max'].map((name) => bounded(row, name).value ?? ''), row.bytes_in, row.bytes_out].map(quoted).join(','));
  return [names.join(','), ...lines].join('\n');
}
