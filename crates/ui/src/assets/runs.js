// The runs of a folder: their list, a trend of them, and which of them are compared.

/** Most runs that are compared on one page. */
const MOST_COMPARED = 10;
/** What a trend can be of. */
const MEASURES = {
  p95: { of: (own) => own.p95_us, unit: 'time' }, p50: { of: (own) => own.p50_us, unit: 'time' }, p99: { of: (own) => own.p99_us, unit: 'time' },
  'requests/s': { of: (own) => own.rate, unit: 'rate' }, 'error rate': { of: (own) => own.error_rate, unit: 'share' },
};
const WORDS = { valid: 'passed', questionable: 'warned', invalid: 'failed' };

const startedAt = (own) => new Date(own.started_unix * 1000).toISOString().replace('T', ' ').slice(0, 16);
const labelsOf = (own) => Object.entries(own.labels).map(([name, value]) => `${name}=${value}`).join(' ');
const reportOf = (own) => `runs/${encodeURIComponent(own.name)}/report.html`;
const pageOf = (own) => `runs/${encodeURIComponent(own.name)}/experiment.html`;
const away = { target: '_blank', rel: 'noopener' };

/** A measure of the runs of a plan, the oldest first: a dot for each run, a cross for one that failed, hollow if its numbers are not valid. */
function trend(runs, name) {
  const { of, unit } = MEASURES[name];
  // Letters of a phone's picture can be read.
  const [width, height] = [window.innerWidth < 640 ? 480 : 1120, 200];
  const drawn = [...runs].sort((a, b) => a.started_unix - b.started_unix);
  const x = (at) => MARGIN.left + ((at + 0.5) / drawn.length) * (width - MARGIN.left - MARGIN.right);
  const axis = scale([{ shown: drawn.map((own) => [0, of(own)]) }], false, unit, height);
  const y = (value) => MARGIN.top + (height - MARGIN.top - MARGIN.bottom) * (1 - axis.at(value));
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${name} of ${plural(drawn.length, 'run')}; the table has the numbers` });
  axis.ticks.forEach((tick) => root.append(svg('line.grid', { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) }),
    svg('text.tick', { x: MARGIN.left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, tickText(tick, unit))));
  [[0, 'start'], [drawn.length - 1, 'end']].slice(0, drawn.length).forEach(([at, anchor]) => root.append(svg('text.tick', { x: anchor === 'start' ? MARGIN.left : width - MARGIN.right, y: height - 6, 'text-anchor': anchor }, startedAt(drawn[at]))));
  root.append(svg('path.line.c1', { d: path(drawn.map((own, at) => [at, of(own)]), x, y) }));
  drawn.forEach((own, at) => {
    const [left, top] = [x(at), y(of(own))];
    const mark = own.outcome === 'passed' ? svg('circle', { cx: left, cy: top, r: 4.5 }) : svg('path', { d: `M${left - 4.5} ${top - 4.5}l9 9m0 -9l-9 9` });
    mark.setAttribute('class', `mark-of-run ${own.outcome} ${own.validity}`);
    mark.append(svg('title', null, `${own.name}: ${UNITS[unit].show(of(own))}, ${own.outcome}, ${own.validity}`));
    root.append(mark);
  });
  return root;
}

/** Where an experiment is: of one under way how far it was when its last block was done, and how long the rest takes. */
function stateOf(own) {
  if (own.state === 'finished') return '';
  if (own.state !== 'under way') return el('span.word.incomplete', null, 'interrupted');
  const left = own.left_s === null ? '' : `, about ${time(own.left_s * 1e6)} left`;
  const blocks = `${own.blocks_done} of ${own.is_at_most ? 'at most ' : ''}${plural(own.blocks, 'block')}`;
  return `under way: ${blocks} at ${startedAt({ started_unix: own.known_unix }).slice(11)} UTC${left}`;
}

/** The experiments of the folder, the latest first, with links to their pages; nothing where there are none. */
function experimentsTable(experiments) {
  if (experiments.length === 0) return [];
  const cells = (own) => [
    own.report ? el('a', { href: pageOf(own), ...away }, own.name) : own.name, startedAt(own), own.sentences.join('; '),
    stateOf(own), time(own.elapsed_s * 1e6), count(own.variants), count(own.runs),
  ];
  return [el('h3', null, 'Experiments'), table('Experiments', ['experiment', 'started (UTC)', 'what it shows', '', 'length', 'variants', 'runs'], experiments.map(cells), 4)];
}

/** The runs of the folder, the latest first, with links to their reports; two or more that are ticked are compared. */
function runsPart() {
  const [list, picture, node] = [el('div'), el('div'), el('div')];
  const ticked = new Set();
  let known = null;
  const compare = el('a.button', { ...away, href: '#' }, 'Compare');
  const told = el('p.hint', { 'aria-live': 'polite' });
  const tell = () => {
    const chosen = known.runs.filter((own) => ticked.has(own.name)).sort((a, b) => a.started_unix - b.started_unix);
    const can = chosen.length > 1 && chosen.length <= MOST_COMPARED;
    can ? compare.setAttribute('href', `compare/${chosen.map((own) => encodeURIComponent(own.name)).join('/')}`) : compare.removeAttribute('href');
    set(told, chosen.length > MOST_COMPARED ? `At most ${MOST_COMPARED} can be compared.` : can ? `${plural(chosen.length - 1, 'run')} against ${chosen[0].name}` : 'Tick two or more runs to compare them; the oldest is what the others are compared with.');
  };
  const tick = (own) => el('input', { type: 'checkbox', 'aria-label': `Compare ${own.name}`, checked: ticked.has(own.name), onchange: (event) => {
    event.target.checked ? ticked.add(own.name) : ticked.delete(own.name);
    tell();
  } });
  const word = (text, of) => el(`span.word.${of}`, null, text);
  const cells = (own) => [
    el('span', null, tick(own), ' ', own.report ? el('a', { href: reportOf(own), ...away }, own.name) : own.name),
    word(own.outcome, own.outcome), word(own.validity, WORDS[own.validity] || ''), startedAt(own), labelsOf(own),
    time(own.elapsed_s * 1e6), count(own.requests), rate(own.rate), percent(own.error_rate), time(own.p50_us), time(own.p95_us), time(own.p99_us),
  ];
  const show = () => {
    const wanted = filter.value.toLowerCase();
    const shownRuns = known.runs.filter((own) => `${own.name} ${own.plan} ${labelsOf(own)} ${own.outcome} ${own.validity}`.toLowerCase().includes(wanted));
    const shownExperiments = known.experiments.filter((own) => `${own.name} ${own.title} ${own.plan}`.toLowerCase().includes(wanted));
    const unread = known.unread > 0 ? el('p.note', null, `${plural(known.unread, 'folder')} could not be read.`) : null;
    const rows = shownRuns.length > 0
      ? table('Runs', ['run', 'outcome', 'validity', 'started (UTC)', 'labels', 'length', 'requests', 'rate', 'errors', 'p50', 'p95', 'p99'], shownRuns.map(cells), 5)
      : el('p.note', null, known.runs.length > 0 ? 'None has that.' : `There are none in ${known.folder} yet.`);
    list.replaceChildren(...experimentsTable(shownExperiments), ...(shownExperiments.length > 0 ? [el('h3', null, 'Runs')] : []), rows, ...[unread].filter(Boolean));
    draw(shownRuns);
    tell();
  };
  /** The trend is of runs of one plan: others are not like them. */
  const draw = (some) => {
    const plans = [...new Set(some.map((own) => own.plan))];
    if (!plans.includes(plan.value)) plan.replaceChildren(...plans.map((own) => el('option', { value: own }, own || '(no name)')));
    plan.hidden = plans.length < 2;
    const drawn = some.filter((own) => own.plan === plan.value);
    picture.hidden = drawn.length < 2;
    picture.replaceChildren(...(drawn.length < 2 ? [] : [el('figure.plot-figure', null, el('figcaption.bar', null, el('strong', null, 'Trend of'), measure, plan, el('span.hint', null, '● passed, ✕ failed; hollow: the numbers are not valid')), trend(drawn, measure.value))]));
  };
  const change = () => show();
  const filter = el('input', { type: 'search', 'aria-label': 'Filter', placeholder: 'Filter by name, plan, label, outcome', oninput: change });
  const measure = el('select', { 'aria-label': 'Measure of the trend', onchange: change }, Object.keys(MEASURES).map((name) => el('option', { value: name }, name)));
  const plan = el('select', { 'aria-label': 'Plan of the trend', onchange: change });
  const load = async () => {
    try {
      const response = await fetch('runs.json');
      if (!response.ok) throw new Error(await response.text());
      known = await response.json();
      show();
    } catch (error) {
      list.replaceChildren(el('p.warning', null, `The list could not be had: ${error.message}`));
    }
  };
  node.append(el('div.bar', null, filter, el('button.small', { type: 'button', onclick: load }, 'Refresh'), compare, told), picture, list);
  return { node, load };
}
