// What the target responded: codes, the latency of each request, and latency against load.

/** How lines of one chart differ. */
const FORMS = [['c1'], ['c3', '8 3'], ['c4', '5 3'], ['c6', '5 2'], ['c5', '10 3 2 3'], ['c2', '2 2'], ['c7', '1 4'],
  ['c3'], ['c4', '2 2'], ['c1', '10 3 2 3'], ['c6'], ['c2', '8 3'], ['c5', '5 2'], ['c7', '5 3']];

/** Every request in one chart: the 95th percentile of each. */
function requestsOverTime() {
  if (!curves || elapsed < 1) return null;
  const drawn = allRows.filter((own) => isRequest(own) && own.more.line && own.more.line.p95.some((value) => value > 0))
    .sort((a, b) => b.row.count - a.row.count);
  if (drawn.length < 2) return null;
  const series = drawn.slice(0, FORMS.length).map(({ row, more }, at) => ({ name: row.name || '(no name)', values: more.line.p95.map((value) => value || null), seconds: curves.row_seconds, color: FORMS[at][0], dash: FORMS[at][1] }));
  const rest = drawn.length - series.length;
  return section('each', 'All requests', 'All requests over time', chart({
    title: 'p95 of each request', unit: 'time', series, log: spread(series), height: 260, limits: limitsOf('us', (own) => own.subject !== '' && !ofPhase(own)),
    about: rest > 0 ? `The ${series.length} with the highest count; ${count(rest)} more in their rows.` : null,
  }).figure);
}

/** What the codes of responses mean. */
const CODES = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 206: 'Partial Content', 301: 'Moved Permanently', 302: 'Found', 303: 'See Other', 304: 'Not Modified', 307: 'Temporary Redirect', 308: 'Permanent Redirect',
  400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 408: 'Request Timeout', 409: 'Conflict', 413: 'Content Too Large', 415: 'Unsupported Media Type', 422: 'Unprocessable Content', 429: 'Too Many Requests',
  500: 'Internal Server Error', 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout' };

function codesSection() {
  const codes = Object.entries(run.totals.status).sort((a, b) => a[0] - b[0]);
  if (codes.length === 0) return null;
  const parts = [];
  if (curves && elapsed >= 1) {
    const known = Object.keys(curves.all.status).sort((a, b) => a - b);
    const lists = known.map((code) => [code, pad(curves.all.status[code], curves.all.count.length)]);
    const without = curves.all.count.map((number, at) => Math.max(0, number - lists.reduce((sum, [, values]) => sum + values[at], 0)));
    if (without.some((value) => value > 0)) lists.push(['no response', without]);
    const forms = FORMS.slice(0, 7);
    const others = lists.slice(forms.length - 1);
    const shown = lists.length > forms.length ? [...lists.slice(0, forms.length - 1), [plural(others.length, 'other code'), others[0][1].map((_, at) => others.reduce((sum, [, values]) => sum + values[at], 0))]] : lists;
    parts.push(chart({ title: 'Responses/s by code', unit: 'rate', series: shown.map(([name, values], at) => ({ name, values, seconds: curves.seconds, per: true, color: forms[at][0], dash: forms[at][1] })) }).figure);
  }
  const rows = codes.map(([code, number]) => {
    const own = run.requests.filter((row) => row.status[code]).sort((a, b) => b.status[code] - a.status[code]);
    return [code, CODES[code] || '', links(own, (row) => row.status[code]), count(number), percent(number / run.totals.count)];
  });
  const without = run.totals.count - codes.reduce((sum, [, number]) => sum + number, 0);
  if (without > 0) rows.push(['none', 'no response', el('a', { href: '#errors' }, 'see errors'), count(without), percent(without / run.totals.count)]);
  parts.push(table('Response codes', ['code', 'meaning', 'requests', 'responses', 'share'], rows, 3, 'table.prose'));
  return section('codes', 'Codes', 'Response codes', ...parts);
}

function loadSection() {
  const figure = run.series.second.length > 0 && againstLoad();
  return figure ? section('load', 'Load', 'Latency against load', el('p.about', null, 'Each mark is an interval of the run. Latency that rises with the load says that the target becomes slower; where it rises steeply, the target is near its limit.'), figure) : null;
}
