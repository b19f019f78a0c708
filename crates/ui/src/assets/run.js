// The parts of the page that show the run: each is made once, and has a function that shows what is known now.

const shows = [];
const shown = (node, show) => {
  shows.push(show);
  return node;
};

/** Shows everything that is known. */
function showAll() {
  shows.forEach((show) => show());
  charts.forEach((own) => own.draw());
}

/** Who is the limit, and the three answers from which that follows. */
function answersPart() {
  const [word, text] = [el('p.word'), el('p')];
  const conclusion = el('div.verdict.conclusion', null, word, text);
  const cards = [0, 1, 2].map(() => {
    const parts = [el('p.question'), el('p.word'), el('p')];
    return { node: el('div.verdict', null, parts), parts };
  });
  const mood = (node, name, more = '') => node.setAttribute('class', `verdict${more} ${name}`);
  const answers = el('div.verdicts', null, cards.map((card) => card.node));
  let told = '';
  return shown(el('div', null, conclusion, answers), () => {
    const { all } = run.answers;
    // They are about now.
    answers.hidden = Boolean(run.about.result);
    const own = concluded();
    mood(conclusion, own.mood, ' conclusion');
    set(word, own.word);
    set(text, own.text);
    if (own.word !== told) announce(`${own.word}. ${own.text}`);
    told = own.word;
    cards.forEach(({ node, parts }, at) => {
      mood(node, all[at].mood);
      ['question', 'word', 'detail'].forEach((name, part) => set(parts[part], all[at][name]));
    });
  });
}

/** What is to be known first: of a run that is over its outcome. */
function concluded() {
  const { result } = run.about;
  if (!result) return run.answers.conclusion;
  const why = result.reasons.length > 0 ? `${result.reasons.join('; ')}. ` : '';
  const but = result.passed && !result.interrupted ? 'But ' : '';
  const caveats = result.caveats.map((text) => `${but}${text}. `).join('');
  const doubt = run.generator.reasons.find((reason) => reason.validity !== 'valid');
  const text = `${why}${caveats}${count(result.requests)} requests, ${count(result.errors)} errors, p99 ${time(result.p99_us)}. Its numbers are ${result.validity}${doubt ? `: ${doubt.observed}` : ''}.`;
  if (result.interrupted) return { mood: 'doubt', word: 'The run was stopped', text };
  if (!result.passed) return { mood: 'bad', word: 'The run failed', text };
  return { mood: result.validity === 'valid' ? 'good' : 'doubt', word: 'The run passed', text };
}

/** How far the run is, and what can be done with it as a whole. */
function progressPart() {
  const bar = el('progress', { max: 1, value: 0, 'aria-label': 'Progress of the run' });
  const passed = el('span.passed-time');
  return shown(el('div.progress', null, bar, passed, runControls()), () => {
    const { now, about } = run;
    const parts = now.loads.map((load) => load.part);
    const byLoads = parts.every((part) => part !== null) ? Math.min(...parts) : null;
    const part = about.result ? 1 : about.length_s ? Math.min(1, now.load_s / about.length_s) : byLoads;
    part === null ? bar.removeAttribute('value') : bar.setAttribute('value', part);
    const at = clock(Math.floor(now.load_s), about.length_s || now.load_s);
    const left = about.length_s && !about.result ? `, ${clock(Math.ceil(Math.max(0, about.length_s - now.load_s)), about.length_s)} left` : '';
    set(passed, about.length_s ? `${at} of ${clock(about.length_s, about.length_s)}${left}` : at);
  });
}

/** The loads: how far each is, what is planned, what is there, and how it is changed. */
function loadsPart() {
  const head = ['scenario', 'progress', 'planned', 'actual', 'users', 'concurrent requests', 'iterations', 'dropped', 'change'];
  const body = el('tbody');
  const rows = [];
  const make = (load) => {
    const [bar, left] = [el('progress', { max: 1, 'aria-label': `Progress of ${load.label}` }), el('span')];
    const cells = ['planned', 'actual', 'users', 'concurrent requests', 'iterations', 'dropped'].map((title) => el('td.number', { 'data-title': title }));
    const change = changeControls(load);
    body.append(el('tr', null, el('th', { scope: 'row' }, load.label), el('td', { 'data-title': 'progress' }, bar, left), cells, el('td', { 'data-title': 'change' }, change)));
    rows.push({ bar, left, cells });
  };
  const node = el('div.wide', { tabindex: 0, role: 'group', 'aria-label': 'Loads' }, el('table.loads', null, el('caption.unseen', null, 'Loads'),
    el('thead', null, el('tr', null, head.map((title, at) => el(at > 1 && at < 8 ? 'th.number' : 'th', { scope: 'col' }, title)))), body));
  return shown(node, () => {
    if (rows.length !== run.about.loads.length) {
      [rows.length, body.textContent] = [0, ''];
      run.about.loads.forEach(make);
    }
    run.now.loads.forEach((now, at) => {
      const { bar, left, cells } = rows[at];
      const load = run.about.loads[at];
      now.part === null ? bar.removeAttribute('value') : bar.setAttribute('value', now.part);
      const ahead = load.from_s === null ? null : load.from_s - run.now.load_s;
      const waits = ahead === null ? 'after others' : ahead > 0 ? `in ${clock(Math.ceil(ahead), 600)}` : null;
      set(left, waits || (now.left_s === null || run.about.result ? '' : `${clock(Math.ceil(now.left_s), now.left_s)} left`));
      const actual = load.users ? plural(now.users, 'user') : `${rate(now.started)}`;
      const planned = load.users ? plural(now.planned, 'user') : rate(now.planned);
      const texts = [load.from_s === null ? 'not known yet' : planned, actual, count(now.users), count(now.in_flight), `${count(now.done)}, ${rate(now.done_lately)}`, load.users ? '–' : `${rate(now.dropped)}`];
      texts.forEach((text, cell) => set(cells[cell], text));
      const short = load.users ? now.users < now.planned * 0.98 - 1 : now.started < now.planned * 0.98 - 2 * Math.sqrt(now.planned);
      cells[1].classList.toggle('short', short && !run.about.paused && !run.about.result);
      cells[5].classList.toggle('short', now.dropped > 0);
    });
  });
}

/** The numbers of the whole load. */
function tilesPart() {
  const names = ['requests', 'requests/s', 'errors', 'error rate', 'latency p50', 'latency p95', 'latency p99', 'users', 'peak concurrent requests'];
  const values = names.map(() => el('dd'));
  return shown(el('dl.tiles', null, names.map((name, at) => el('div.tile', null, el('dt', null, name), values[at]))), () => {
    const last = pointAt(null);
    const { result } = run.about;
    const [requests, errors] = result ? [result.requests, result.errors] : [run.now.requests, run.now.errors];
    const [p50, , p95, p99] = run.judged.latency_us;
    const of = (value) => (run.judged.count > 0 ? time(value) : '–');
    const texts = [count(requests), result ? rate(result.requests / Math.max(result.elapsed_s, 1e-3)).replace('/s', '') : last ? rate(last.requests / last.seconds).replace('/s', '') : '–', count(errors), percent(errors / Math.max(1, requests)),
      of(p50), of(p95), of(p99), last ? count(last.users) : '–', last ? count(last.in_flight) : '–'];
    texts.forEach((text, at) => set(values[at], text));
    values.slice(2, 4).forEach((value) => value.classList.toggle('bad', errors > 0));
  });
}

/** What is planned besides, nobody knows when. */
function toCome(users) {
  const names = run.about.loads.filter((load) => load.users === users && load.from_s === null).map((load) => load.label);
  return names.length > 0 ? `The plan is known up to now: nobody knows when ${names.join(', ')} will begin, as others have to end first.` : '';
}

/** Charts over time. */
function chartsPart() {
  const some = (users) => run.about.loads.some((load) => load.users === users);
  const node = el('div.charts');
  const minute = el('button.small', { type: 'button', 'aria-pressed': 'false', onclick: () => {
    view.minute = !view.minute;
    minute.setAttribute('aria-pressed', String(view.minute));
    charts.forEach((own) => own.draw());
  } }, 'last minute');
  const make = () => [
    some(false) && chart({ title: 'Arrivals/s', unit: 'rate', note: () => toCome(false), lines: [
      { name: 'planned', color: 'c7', dash: '6 4', of: perSecond('planned_arrivals'), ahead: 1 },
      { name: 'actual', color: 'c1', of: perSecond('arrivals') },
      { name: 'dropped', color: 'c2', dash: '2 2', of: perSecond('arrivals_dropped') }] }),
    chart({ title: 'Latency', unit: 'time', hasLog: true, lines: [
      { name: 'p50', color: 'c3', of: latency('p50_us') },
      { name: 'p90', color: 'c5', dash: '8 3', of: latency('p90_us') },
      { name: 'p99', color: 'c6', dash: '5 2', of: latency('p99_us') }] }),
    chart({ title: 'Virtual users and peak concurrent requests', unit: 'count', note: () => toCome(true), lines: [
      some(true) && { name: 'planned users', color: 'c7', dash: '6 4', of: (point) => point.planned_users, ahead: 2 },
      some(true) && { name: some(false) ? 'actual' : 'users', color: 'c1', of: (point) => point.closed_users },
      some(false) && { name: some(true) ? 'with those of arrivals' : 'users', color: 'c3', dash: '8 3', of: (point) => point.users },
      { name: 'peak concurrent requests', color: 'c4', dash: '5 3', of: (point) => point.in_flight }].filter(Boolean) }),
    chart({ title: 'Requests/s and errors/s', unit: 'rate', lines: [
      { name: 'requests', color: 'c1', of: perSecond('requests') },
      { name: 'errors', color: 'c2', dash: '2 2', fill: true, of: perSecond('errors') }] }),
    chart({ title: 'Generator: busiest worker, of a CPU', unit: 'share', height: 130, lines: [
      { name: 'busy', color: 'c1', fill: true, of: (point) => point.busiest_worker },
      { name: 'waited for a CPU', color: 'c2', dash: '2 2', of: (point) => point.starved_us / 1e6 / point.seconds }] }),
    chart({ title: 'Generator: its own delays, p99', unit: 'time', height: 130, lines: [
      { name: 'send', color: 'c4', of: (point) => point.send_delay_p99_us },
      { name: 'receive', color: 'c6', dash: '5 2', of: (point) => point.receive_delay_p99_us }] }),
  ].filter(Boolean);
  shows.push(() => {
    if (node.children.length === 0) node.append(...make().map((own) => own.figure));
  });
  return [el('div.bar', null, minute, el('p.hint', null, 'Point at a chart, or move in it with the arrow keys, to see the values at a moment in all of them.')), node];
}

/** Takes in the new points of metrics over time. */
function takeMetrics(metrics) {
  for (const { at, points, ...own } of metrics) {
    const known = run.metrics[at] || (run.metrics[at] = { ...own, values: new Map() });
    for (const [second, seconds, value] of points) known.values.set(second, { second, seconds, value });
  }
}

/** Charts of metrics over time, one for each name. */
function metricsPart() {
  const [node, none] = [el('div.charts'), el('p.note', null, 'None so far.')];
  const made = new Map();
  const draw = ({ title, unit, about, lines }) => {
    const points = () => {
      const seconds = new Map(lines.flatMap(({ metric }) => [...metric.values.values()]).map((own) => [own.second, own]));
      return [...seconds.values()].sort((a, b) => a.second - b.second);
    };
    const of = (metric) => ({ second }) => (metric.values.has(second) ? metric.values.get(second).value : null);
    return chart({ title, unit, height: 130, note: () => about, lines: lines.map((line) => ({ ...line, of: of(line.metric) })), over: { span, points } });
  };
  return shown(el('div', null, none, node), () => {
    for (const group of metricGroups(run.metrics.filter((own) => own && !isOfTarget(own)))) {
      const key = `${group.kind} ${group.title}`;
      const before = made.get(key);
      // A page that begins anew has other metrics of the same names.
      if (before && before.lines.length === group.lines.length && before.lines.every(({ metric }, at) => metric === group.lines[at].metric)) continue;
      const own = draw(group);
      if (before) before.chart.remove();
      before ? before.chart.figure.replaceWith(own.figure) : node.append(own.figure);
      made.set(key, { chart: own, lines: group.lines });
    }
    none.hidden = made.size > 0;
  });
}

/** The nodes of a fleet, those that need a look first; nothing where one process makes the load. */
function nodesPart() {
  const node = el('div');
  let last = null;
  return shown(node, () => {
    const { nodes } = run;
    const [own, link] = [node.closest('section'), document.querySelector('#contents a[href="#nodes"]')];
    [own, link].forEach((part) => part && (part.hidden = nodes.count === 0));
    if (nodes === last || nodes.count === 0) return;
    last = nodes;
    const word = ({ silent, odd }) => (silent ? el('span.word.failed', null, 'silent') : odd ? el('span.word.warned', null, odd) : el('span.word.passed', null, 'runs'));
    const rows = nodes.first.map((one) => [one.node, one.zone || '–', word(one), String(one.second), count(one.users), rate(one.requests), count(one.errors), time(one.p95_us), time(one.send_delay_us), percent(one.cpu)]);
    const zones = nodes.zones.map(({ zone, p95_us: p95 }) => `${zone} ${time(p95)}`).join(', ');
    const more = nodes.count - nodes.first.length;
    node.replaceChildren(...[nodes.zones.length > 1 && el('p', null, `Latency p95 by zone: ${zones}.`),
      table('Nodes', ['node', 'zone', 'state', 'last second', 'users', 'requests/s', 'errors', 'p95', 'send delay p99', 'CPU'], rows, 3),
      more > 0 && el('p.note', null, `and ${plural(more, 'node')} more`)].filter(Boolean));
  });
}

/** Errors by name and kind, with the first one in words. */
function errorsPart() {
  const node = el('div');
  let last = null;
  return shown(node, () => {
    if (run.errors === last) return;
    last = run.errors;
    const all = [...run.errors.all].sort((a, b) => b.lately - a.lately || b.count - a.count);
    const made = all.slice(0, 50).map((own) => el(`div.problem${own.lately > 0 ? '' : '.past'}`, null,
      el('h3', null, `${count(own.count)} × ${spoken(own.kind)} in ${own.name}`),
      el('p.place', null, `${own.scenario}, ${own.seen ? `from second ${own.seen[0]} to ${own.seen[1]}` : ''}, ${count(own.lately)} in the last second`),
      own.example ? el('pre', { tabindex: 0, 'aria-label': `Example of ${own.kind} in ${own.name}` }, own.example) : null,
      el('p.note', null, own.means)));
    const more = all.length > 50 ? el('p.note', null, `and ${count(all.length - 50)} more`) : null;
    const out = run.errors.left_out > 0 ? el('p.note', null, `${plural(run.errors.left_out, 'error')} of further names and kinds`) : null;
    node.replaceChildren(...(made.length > 0 ? made : [el('p.note', null, 'None so far.')]), ...[more, out].filter(Boolean));
  });
}

/** Thresholds as they stand, and checks. */
function judgedPart() {
  const node = el('div');
  let last = null;
  return shown(node, () => {
    if (run.judged === last) return;
    last = run.judged;
    const { thresholds, checks } = run.judged;
    const words = { passes: 'span.word.passed', fails: 'span.word.failed' };
    const limits = thresholds.map((own) => [own.text, el(words[own.standing] || 'span.word', null, own.standing), own.shown, own.last_second || '–']);
    const own = checks.map(({ scenario, name, passed, failed, warned }) => [name, scenario,
      failed > 0 ? el('span.word.failed', null, 'fails') : el('span.word.passed', null, 'passes'), count(passed), count(failed), count(warned)]);
    const parts = [
      limits.length > 0 && table('Thresholds', ['threshold', 'so far', 'measured', 'last second'], limits, 2),
      own.length > 0 && table('Checks', ['check', 'scenario', 'so far', 'passed', 'failed', 'warned'], own, 3),
    ].filter(Boolean);
    node.replaceChildren(...(parts.length > 0 ? parts : [el('p.note', null, 'The plan has no thresholds, and no check was made yet.')]));
  });
}

/** How far the numbers can be trusted, and what they rest on. */
function generatorPart() {
  const node = el('div');
  const used = ([own, limit]) => (limit > 0 ? `${count(own)} of ${count(limit)}` : count(own));
  return shown(node, () => {
    const own = run.generator;
    const reasons = own.reasons.map((reason) => [reason.observed, el(`span.word.${reason.validity}`, null, reason.validity === 'valid' ? 'note' : reason.validity), reason.effect, reason.advice]);
    const facts = [
      ['busiest worker', `${percent(own.busiest)} of a CPU`], ['all workers', `${percent(own.cpu_s)} of a CPU`],
      ['waited for a CPU', time(own.starved_us)], ['send delay p99', time(own.send_delay_us)], ['receive delay p99', time(own.receive_delay_us)],
      ['longest loop iteration', time(own.loop_us)], ['memory', bytes(own.rss_bytes)], ['open files', used(own.open_files)],
      ['local ports', used(own.ports)], ['TIME_WAIT', count(own.time_wait)], ['connections opened', count(own.connections_opened)],
      ['retried (stale)', count(own.stale_retries)], ['arrivals dropped', used(own.arrivals)],
      ['received, sent', `${bytes(own.bytes[0])}/s, ${bytes(own.bytes[1])}/s`],
    ];
    const doubts = reasons.length > 0
      ? table('Reasons to doubt the numbers', ['what was observed', 'validity', 'effect', 'what helps'], reasons, 9, 'table.prose')
      : el('p', null, 'Nothing so far that the numbers suffer from.');
    node.replaceChildren(doubts, el('dl.tiles.facts', null, facts.map(([name, value]) => el('div.tile', null, el('dt', null, name), el('dd', null, value)))));
  });
}

/** Warnings, what the plan logs, and what happened, the latest first. */
function logPart() {
  const node = el('ul.lines', { tabindex: 0, 'aria-label': 'Log' });
  let last = null;
  return shown(node, () => {
    if (run.log === last) return;
    last = run.log;
    node.replaceChildren(...run.log.map(([at, text, warns]) => el('li', null, el('span.at', null, clock(at, 600)), warns ? el('strong', null, text) : text)));
  });
}
