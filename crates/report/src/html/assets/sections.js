// The other parts of the page: outcome, errors, distribution, phases, and of squall itself validity, time accounting, generator, plan, raw figures.

const VALIDITY = {
  valid: ['✔', 'squall found no reason to doubt these numbers.'],
  questionable: ['▲', 'Read these numbers with the reasons in mind.'],
  invalid: ['✘', 'Do not judge the target by these numbers.'],
};

/** What is to be known first: whether the run passed, by which thresholds, and in a line how far its numbers can be trusted. */
function outcomeSection() {
  const { passed, reasons, caveats = [] } = run.outcome;
  // What failed by a threshold stands beside it.
  const others = reasons.filter((own) => own.kind !== 'threshold').map((own) => own.text);
  const failed = run.thresholds.filter((own) => !own.passed).length;
  const ofThresholds = run.thresholds.length === 0 ? [] : failed === 0 ? ['All thresholds passed.'] : [`${failed} of ${plural(run.thresholds.length, 'threshold')} failed.`];
  const why = passed && run.thresholds.length === 0 ? ['No check failed and no request was an error.'] : [...ofThresholds, ...others];
  why.push(...caveats.map((text) => `${passed ? 'But ' : ''}${text}.`));
  const verdict = el(`div.verdict.${passed ? 'good' : 'bad'}`, null, el('p.word', null, passed ? '✔ passed' : '✘ failed'), why.map((line) => el('p', null, line)));
  const interrupted = run.interrupted ? ['The run was interrupted: these are the results up to then.'] : [];
  const warnings = [...interrupted, ...run.warnings].map((text) => el('p.warning', null, `▲ ${text}`));
  return section('outcome', 'Outcome', 'Outcome',
    el('div.first', null, el('div', null, verdict, validityLine(), ...warnings), run.thresholds.length > 0 ? thresholdTable() : null), tiles());
}

/** How far the numbers can be trusted, in a line that leads to the reasons. */
function validityLine() {
  const [sign, meaning] = VALIDITY[run.validity] || [null, ''];
  if (!sign) return null;
  const first = run.validity_reasons.find((own) => own.validity === run.validity && own.validity !== 'valid');
  const color = { valid: 'good', invalid: 'bad' }[run.validity] || 'doubt';
  return el(`p.validity.${color}`, null, el(`span.word.${run.validity}`, null, `${sign} ${run.validity}`), ': ', first ? `${first.observed}. ` : `${meaning} `,
    el('a', { href: '#validity' }, first ? 'Why, and what helps' : 'How this is known'));
}

function tiles() {
  const all = run.totals;
  const tile = (name, value, more) => el('div.tile', null, el('dt', null, name), el('dd', null, value, more ? el('small', null, more) : null));
  const own = [
    tile('requests', count(all.count)), tile('requests/s', rate(all.rate).replace('/s', '')), tile('errors', count(all.errors), percent(all.error_rate)),
    ...['p50', 'p95', 'p99'].map((name) => tile(`latency ${name}`, boundedText(all, name))),
  ];
  const corrected = all.corrected_latency_us;
  if (corrected) own.push(tile('corrected p99', time(corrected.p99)));
  own.push(tile('peak users', count(run.counters.users_active || 0)));
  const inFlight = Math.max(0, ...run.series.in_flight);
  if (inFlight > 0) own.push(tile('peak concurrent requests', count(inFlight)));
  const dropped = run.counters.arrivals_dropped || 0;
  if (dropped > 0) own.push(tile('arrivals dropped', count(dropped), percent(dropped / run.counters.arrivals_due)));
  return el('dl.tiles', null, own);
}

/** By how much a value is beyond its limit, or how much of it it is. */
function beyond({ value, limit, op, passed }) {
  const [isUpper, isLower] = [op[0] === '<', op[0] === '>'];
  if (value === null || limit === 0 || !(isUpper || isLower)) return '';
  const ratio = value / limit;
  const rounded = (share) => `${count(Math.max(1, Math.round(share * 100)))}%`;
  if (ratio >= 3) return `${exact(Number(ratio.toPrecision(2)))} times the limit`;
  if (passed) return `${percent(Math.round(ratio * 100) / 100)} of the limit`;
  return ratio === 1 ? 'at the limit' : isUpper ? `${rounded(ratio - 1)} over` : `${rounded(1 - ratio)} under`;
}

/** The thresholds, those that failed first. */
function thresholdTable() {
  const rows = [...run.thresholds].sort((a, b) => a.passed - b.passed).map((own) => [
    el('code', null, own.text), el(`span.word.${own.passed ? 'passed' : 'failed'}`, null, own.passed ? '✔ passed' : '✘ failed'), own.shown, beyond(own),
  ]);
  const made = (some) => table('Thresholds', ['threshold', 'result', 'measured', 'of the limit'], some, 2, 'table.prose.compact');
  const first = rows.slice(0, THRESHOLDS_AT_FIRST);
  return el('div', null, made(first), rows.length > first.length ? lazy(plural(rows.length - first.length, 'more threshold'), () => made(rows.slice(first.length))) : null);
}

/** So many thresholds and kinds of errors that the first screen has what follows. */
const THRESHOLDS_AT_FIRST = 6;
const KINDS_AT_FIRST = 4;

/** The errors by kind, with the requests and an example of each. */
function errorsSection() {
  const kinds = Object.entries(run.totals.error_kinds).sort((a, b) => b[1] - a[1]);
  if (kinds.length === 0) return run.totals.count > 0 ? section('errors', 'Errors', 'Errors', el('p', null, 'No errors.')) : null;
  const rows = kinds.map(([kind, number]) => {
    const requests = run.requests.filter((row) => row.error_kinds[kind]).sort((a, b) => b.error_kinds[kind] - a.error_kinds[kind]);
    const text = (details.examples.find((own) => own.error === kind) || {}).text || run.log.find((line) => line.includes(`: ${kind}: `));
    return [el('span', { title: words.errors[kind] }, spoken(kind)), count(number), percent(number / attempts(run.totals)), el('span', null, links(requests, (row) => row.error_kinds[kind])),
      text ? el('code', { title: text }, begin(text, 200)) : words.errors[kind] || ''];
  });
  const list = (some) => table('Errors by kind', ['kind', 'number', 'of requests', 'where', 'example'], some, 9, 'table.prose.compact.errors');
  const first = rows.slice(0, KINDS_AT_FIRST);
  return section('errors', 'Errors', 'Errors', list(first), rows.length > first.length ? lazy(plural(rows.length - first.length, 'more kind'), () => list(rows.slice(first.length))) : null);
}

/** The beginning of a text. */
const begin = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

function validitySection() {
  // Where no load ran there are no numbers.
  if (!VALIDITY[run.validity]) return null;
  const all = run.validity_reasons;
  const sentence = {
    valid: 'The numbers describe the target.',
    questionable: 'Read these numbers with these reasons in mind.',
    invalid: 'Do not judge the target by these numbers, for these reasons.',
  }[run.validity] || '';
  const rows = all.map((own) => [spoken(own.rule), el(`span.word.${own.validity}`, null, own.validity === 'valid' ? '• note' : `${VALIDITY[own.validity] ? VALIDITY[own.validity][0] : ''} ${own.validity}`), own.observed, own.effect_text, own.advice]);
  const reasons = rows.length > 0 ? table('Why', ['rule', 'weight', 'observed', 'effect on the numbers', 'what helps'], rows, 9, 'table.prose') : el('p', null, 'No rule found anything to note.');
  const steady = run.steady && run.steady.latency_us.count > 0 ? steadyTable() : null;
  return section('validity', 'Validity', 'Validity: can the numbers be trusted?', el('p', null, sentence), reasons, steady, el('p.note', null, 'measurement.md, in squall’s documentation, explains each rule.'));
}

function steadyTable() {
  const { steady } = run;
  const known = (name, own, show) => own && [name, show(own.value),
    own.low !== null && own.high !== null ? `${show(own.low)} to ${show(own.high)}` : own.low !== null ? `at least ${show(own.low)}: ${own.why}` : own.why || 'unknown'];
  const names = [['mean', 'mean'], ['p50', 'p50'], ['p90', 'p90'], ['p95', 'p95'], ['p99', 'p99'], ['p99.9', 'p999']];
  const rows = [known('rate', steady.confidence.rate, rate), ...names.map(([title, key]) => known(title, steady.confidence[key], time)),
    ...names.map(([title, key]) => known(`corrected ${title}`, steady.corrected_confidence[key], time))].filter(Boolean);
  const which = steady.found ? 'The steady part' : 'The part after the ramp (it was not steady)';
  return el('details.prints', null, el('summary', null, `How precisely the numbers are known: ${which}, seconds ${steady.from_s} to ${steady.to_s}`),
    table('95% confidence intervals of the steady part', ['number', 'value', '95% confidence'], rows));
}

function distributionSection() {
  const { latency, corrected } = details;
  if (!latency) return null;
  const about = corrected ? `Corrected latency is ${words.definitions.corrected_latency}.` : `Latency is ${words.definitions.latency}.`;
  return section('distribution', 'Distribution', 'Distribution', el('p.about', null, about), el('div.side', null, histogram(latency, corrected), percentileCurve(latency, corrected, run.totals.latency_us.count)), heatChart());
}

const PHASE_COLORS = { pool: 'c7', dns: 'c5', connect: 'c4', tls: 'c6', first_byte: 'c1', body: 'c3' };

function phaseTable(row) {
  const rows = words.phases.filter((name) => row.phases[name]).map((name) => {
    const own = row.phases[name];
    return [spoken(name), count(own.count), time(own.mean), time(own.p50), time(own.p90), time(own.p99), time(own.max)];
  });
  return rows.length > 0 ? [table('Phases', ['phase', 'requests', 'mean', 'p50', 'p90', 'p99', 'max'], rows)] : [];
}

function phasesSection() {
  const own = phaseTable(run.totals);
  if (own.length === 0) return null;
  const all = run.totals;
  const parts = words.phases.filter((name) => all.phases[name]).map((name) => ({ name: spoken(name), color: PHASE_COLORS[name], share: all.phases[name].mean * all.phases[name].count }));
  const sum = parts.reduce((total, part) => total + part.share, 0);
  own.unshift(shares(parts.map((part) => ({ ...part, share: part.share / sum })).filter((part) => part.share > 0), 'Time of requests by phase'));
  if (curves) {
    const series = words.phases.filter((name) => curves.all.phases[name]).map((name) => ({ name: spoken(name), values: pad(curves.all.phases[name], curves.all.count.length), seconds: curves.seconds, color: PHASE_COLORS[name] }));
    if (series.length > 0 && elapsed >= 1) own.push(chart({ title: 'Phases over time', about: 'The mean time of a request in each phase; of a phase that only some requests have, the mean over all.', unit: 'time', series, stack: true, height: 180, limits: limitsOf('us', ofPhase) }).figure);
  }
  own.push(el('dl.meanings', null, words.phases.filter((name) => all.phases[name]).flatMap((name) => [el('dt', null, spoken(name)), el('dd', null, words.definitions[name] || '')])));
  return section('phases', 'Phases', 'Phases', ...own);
}

/** Errors over time, what their kinds mean, and examples of them with what the plan logs. */
function examplesSection() {
  const kinds = Object.entries(run.totals.error_kinds).sort((a, b) => b[1] - a[1]);
  const logged = details.examples.length > 0 ? details.examples : run.log.map((text) => ({ text, error: '', name: '' }));
  if (kinds.length === 0 && logged.length === 0) return null;
  const own = [];
  const series = curves && kinds.length > 0 ? errorLines(kinds.map(([kind]) => kind)) : [];
  if (series.length > 0 && elapsed >= 1) own.push(chart({ title: 'Errors/s by kind', unit: 'rate', series }).figure);
  if (kinds.length > 0) own.push(el('dl.meanings', null, kinds.flatMap(([kind]) => [el('dt', null, spoken(kind)), el('dd', null, words.errors[kind] || '')])));
  if (logged.length > 0) {
    const all = together(logged);
    own.push(el('h3', null, 'Examples and log'), el('p.about', null, 'The first of each kind, with secrets masked; what was the same is one line.'), el('ul.examples', null, all.slice(0, 20).map(example)));
    if (all.length > 20) own.push(lazy(plural(all.length - 20, 'more line'), () => el('ul.examples', null, all.slice(20).map(example))));
  }
  return section('examples', 'Examples', 'Errors over time and examples', ...own);
}

/** Errors of each kind over time; where there are more kinds than colours, the rarest together. */
function errorLines(kinds) {
  const forms = [['c2', null], ['c6', '5 2'], ['c4', '10 3 2 3'], ['c5', '8 3'], ['c1', '1 4'], ['c7', '3 6']];
  const line = (name, of, [color, dash]) => {
    const all = of.map((kind) => pad(curves.all.error_kinds[kind] || [], curves.all.count.length));
    const values = all[0].map((_, at) => all.reduce((sum, own) => sum + own[at], 0));
    return { name, values, seconds: curves.seconds, per: true, color, dash };
  };
  const others = kinds.slice(forms.length);
  return [...kinds.slice(0, forms.length).map((kind, at) => line(spoken(kind), [kind], forms[at])),
    ...(others.length > 0 ? [line(`other (${plural(others.length, 'kind')})`, others, ['c3', '2 2'])] : [])];
}

/** Lines that are the same, together, in the order of the first. */
function together(lines) {
  const by = new Map();
  for (const line of lines) {
    const key = JSON.stringify([line.error, line.text]);
    if (by.has(key)) by.get(key).times += 1;
    else by.set(key, { ...line, times: 1 });
  }
  return [...by.values()];
}

function example(own) {
  const head = [own.second === undefined ? null : moment(own.second), own.error ? spoken(own.error) : null, own.times > 1 ? `${own.times} times` : null].filter(Boolean).join(' · ');
  return el('li', null, head ? el('span.tag', null, head) : null, el('code', null, own.text), own.excerpt ? el('div.place', null, 'response: ', el('code', null, own.excerpt)) : null);
}

function accountingSection() {
  const account = run.time_accounting;
  const gap = run.throughput_gap;
  if (!gap || account.users_s <= 0) return null;
  const states = [
    ['in requests', account.requests, 'c1', 'waiting for the target'],
    ['think time', account.think, 'c3', 'as the plan says'],
    ['pacing', account.pacing, 'c5', 'waiting for the next iteration, as the plan says'],
    ['waiting for users', account.waiting ?? 0, 'c6', 'for a critical section or at a rendezvous, as the plan says'],
    ['not started', account.not_started, 'c7', 'before they had started: the ramp'],
    ['generator', account.generator, 'c2', 'waiting for squall itself'],
    ['idle', account.finished, 'c4', 'idle after the last iteration'],
  ];
  const parts = states.map(([name, seconds, color, text]) => ({ name, color, text, seconds, share: seconds / account.users_s }));
  const rows = parts.filter((part) => part.share > 0).map((part) => [part.name, part.text, `${count(part.seconds)} s`, percent(part.share)]);
  return section('accounting', 'Users’ time', 'Where the users’ time went', shares(parts.filter((part) => part.share >= 0.0005), 'Time of all virtual users'),
    table('Time accounting', ['state', 'what it is', 'user-seconds', 'share'], rows, 2, 'table.prose'), el('p', null, `Throughput: ${gap.text}`));
}

function generatorSection() {
  const own = run.generator;
  const series = [ofSeries('busiest worker', 'busiest_worker', 'c1')].filter(Boolean);
  const parts = [];
  if (series.length > 0 && elapsed >= 1) {
    parts.push(chart({ title: 'CPU of the busiest worker', about: 'Of one core. A worker at 100% is the limit: slow responses may then be squall’s fault.', unit: 'share', series, height: 120 }).figure);
    const delays = [ofSeries('receive delay p99', 'receive_delay_p99_us', 'c1'), ofSeries('send delay p99', 'send_delay_p99_us', 'c4', { dash: '5 3' }), ofSeries('longest loop iteration', 'loop_iteration_max_us', 'c7', { dash: '1 4' })].filter(Boolean);
    parts.push(chart({ title: 'Delays of the generator', unit: 'time', series: delays, log: true, height: 160, about: 'How late squall itself was; latencies of the target do not include it.' }).figure);
  }
  const delays = [['receive delay', 'receive_delay'], ['send delay', 'send_delay'], ['loop iteration', 'loop_iteration'], ['timer delay', 'timer_delay'], ['connect delay', 'connect_delay']]
    .map(([name, key]) => [name, key, own[`${key}_us`]]).filter(([, , times]) => times && times.count > 0)
    .map(([name, key, times]) => [name, words.definitions[key] || '', count(times.count), time(times.mean), time(times.p99), time(times.max)]);
  if (delays.length > 0) parts.push(table('Delays', ['delay', 'what it is', 'number', 'mean', 'p99', 'max'], delays, 2, 'table.prose'));
  const facts = [
    // Each node of a fleet has its own.
    ...(run.fleet ? [] : [['CPU time', `${time((own.cpu_user_s + own.cpu_sys_s) * 1e6)} (${time(own.cpu_user_s * 1e6)} user, ${time(own.cpu_sys_s * 1e6)} kernel)`],
    ['CPU time of a request', run.totals.count ? time(((own.cpu_user_s + own.cpu_sys_s) * 1e6) / run.totals.count) : '–'],
    ['peak memory', bytes(own.peak_rss_bytes)]]),
    ['ready to run, but no CPU', time(own.starved_s * 1e6)],
    ['lost its CPU', plural(own.preempted, 'time')],
  ];
  parts.push(table('Resources of the generator', ['what', 'value'], facts), ...hostCharts().map((one) => one.figure));
  // Those of a fleet have a table of their own.
  const host = Object.entries(run.fleet || run.nodes.length === 0 ? {} : run.nodes[0].host_metrics).filter(([, value]) => value > 0).map(([name, value]) => [spoken(name), name.endsWith('bytes') ? bytes(value) : count(value)]);
  if (host.length > 0) parts.push(lazy('The machine: gauges at their highest, and what was counted during the run', () => table('The machine', ['what', 'value'], host)));
  return section('generator', 'Generator', 'The generator’s health', ...parts);
}

function planSection() {
  const { meta } = run;
  const utc = new Date(meta.started_unix * 1000).toISOString().replace('T', ' ').slice(0, 19);
  const facts = [
    ['plan', meta.plan], ['target', meta.target || '–'], ['started', `${utc} UTC`], ['length', time(run.elapsed_s * 1e6)],
    ...(meta.scenarios || []).map((own) => [`load of ${own.name}`, own.load]),
    ...run.run_phases.filter((own) => own.phase !== 'load').map((own) => [own.phase, `${plural(own.requests, 'request')}, ${plural(own.errors, 'error')}, ${spoken(own.end)}`]),
    ['seed', String(meta.seed)], ['command', meta.command.join(' ')], ...machineFacts(),
    ...Object.entries(meta.digests).map(([name, digest]) => [`SHA-256 of ${name}`, digest]),
  ];
  const plan = details.plan ? lazy('The plan as it ran', () => el('pre', { tabindex: 0, 'aria-label': 'The plan as it ran' }, details.plan)) : null;
  return section('plan', 'Plan', 'Plan, machine, versions', table('Facts', ['what', 'value'], facts, 9), machineTable(), plan);
}

function metricsSection() {
  const metrics = run.metrics.filter((own) => !isOfNode(own) && !isOfTarget(own));
  if (metrics.length === 0) return null;
  const number = (value) => (value === null || value === undefined ? '–' : String(Math.round(value * 1e3) / 1e3));
  const rows = metrics.map((own) => {
    const tags = Object.entries(own.tags).map(([key, value]) => `${key}=${value}`).join(', ');
    const main = { counter: number(own.sum), gauge: number(own.last), rate: percent(own.share || 0), trend: number(own.mean) }[own.kind];
    return [[own.name, tags ? el('div.place', null, tags) : null], own.kind, count(own.count), main, number(own.min), number(own.p50), number(own.p95), number(own.p99), number(own.max)];
  });
  return section('metrics', 'Metrics', 'Metrics over time', ...metricCharts(),
    table('Metrics', ['metric', 'kind', 'values', 'sum, last, share or mean', 'min', 'p50', 'p95', 'p99', 'max'], rows, 2));
}

/** A chart for each name of a metric over time. */
function metricCharts() {
  if (elapsed < 1) return [];
  const { second, seconds } = run.series;
  const tracks = run.series_metrics.filter((own) => !isOfNode(own) && !isOfTarget(own)).map((own) => ({ ...own, tags: Object.entries(own.tags) }));
  return metricGroups(tracks).map(({ lines, ...group }) => {
    const series = lines.map(({ metric, ...line }) => {
      if (group.kind !== 'counter') return { ...line, values: metric.value, starts: metric.second, seconds };
      // Where nothing was counted it counted 0.
      const known = new Map(metric.second.map((own, at) => [own, metric.value[at]]));
      return { ...line, values: second.map((own) => known.get(own) || 0), starts: second, seconds, per: true };
    });
    return chart({ ...group, series, height: 130 }).figure;
  });
}

function rawSection() {
  const json = () => JSON.stringify(run, null, 2);
  const save = () => {
    const link = el('a', { href: URL.createObjectURL(new Blob([json()], { type: 'application/json' })), download: 'figures.json' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const text = document.getElementById('text');
  text.remove();
  const plain = text.querySelector('pre');
  const missing = details.missing.map((line) => el('p.note', null, `Not read: ${line}.`));
  return section('raw', 'Raw', 'Raw figures',
    el('div.bar', null, copyButton('copy the figures as JSON', json), el('button.small', { type: 'button', onclick: save }, 'save the figures as JSON'), copyButton('copy the text', () => plain.textContent), copyButton('copy rows as CSV', rowsCsv)),
    ...missing, el('details', null, el('summary', null, 'The result as text'), el('pre', { tabindex: 0, 'aria-label': 'The result as text' }, plain.textContent)));
}

/** A button that copies a text, also where the page came from a file. */
function copyButton(title, make) {
  const button = el('button.small', { type: 'button', onclick: async () => {
    const area = el('textarea', { readonly: true, 'aria-hidden': 'true', class: 'unseen' });
    let copied = true;
    try {
      await navigator.clipboard.writeText(make());
    } catch {
      area.value = make();
      document.body.append(area);
      area.select();
      copied = document.execCommand('copy');
      area.remove();
    }
    button.textContent = copied ? 'copied' : 'could not be copied';
    announce(button.textContent);
    setTimeout(() => (button.textContent = title), 2000);
  } }, title);
  return button;
}
