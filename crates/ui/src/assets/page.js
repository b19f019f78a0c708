// The page: its parts, and the events that it listens to.

const main = document.getElementById('main');
const lost = document.getElementById('lost');

function head(title) {
  const [name, about, doing] = [el('h1', null, title), el('p'), el('span.chip')];
  const theme = el('button.small', { type: 'button', onclick: () => {
    const { dataset } = document.documentElement;
    const dark = dataset.theme ? dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    dataset.theme = dark ? 'light' : 'dark';
  } }, 'Theme');
  document.getElementById('head').append(name, about, ...(served.run ? [doing] : []), theme);
  if (!served.run) return;
  shows.push(() => {
    set(name, run.about.plan || 'squall');
    set(about, run.about.target || '');
    set(doing, run.over ? 'over' : run.about.result ? 'evaluated' : run.about.doing);
    document.title = `${doing.textContent}: ${run.about.plan || 'squall'}`;
  });
}

/** Takes in what the server sends: everything at first, then what has changed. */
function take(news) {
  const { new: isNew, points, metrics, rows, ...parts } = news;
  if (isNew) {
    Object.assign(run, { points: [], metrics: [], rows: [], latest: 0 });
    run.forget();
  }
  Object.assign(run, parts);
  const names = run.about.point;
  const known = new Map(run.points.map((point) => [point.second, point]));
  for (const values of points) known.set(values[0], Object.fromEntries(names.map((name, at) => [name, values[at]])));
  run.points = [...known.values()].sort((a, b) => a.second - b.second);
  takeMetrics(metrics);
  takeRows(rows);
  showAll();
  document.documentElement.dataset.seconds = run.now.seconds;
}

/** Listens, and goes on listening when the connection was lost: the server then sends everything again. */
function listen() {
  const events = new EventSource('events');
  const say = (connected, text) => {
    run.connected = connected;
    set(lost, text);
    if (run.now) showAll();
  };
  events.addEventListener('open', () => say(true, ''));
  events.addEventListener('waiting', () => set(lost, 'The run has not begun yet.'));
  events.addEventListener('picture', (event) => {
    if (!run.connected || lost.textContent) say(true, '');
    take(JSON.parse(event.data));
  });
  events.addEventListener('over', async (event) => {
    run.over = true;
    const { report } = JSON.parse(event.data);
    await keep(report);
    events.close();
    say(false, '');
  });
  events.addEventListener('error', () => {
    if (run.over) return;
    say(false, 'The connection to squall is lost; trying again. What is shown is what was known last: if the run is over, `squall ui` shows its report.');
    // After an answer that is no stream a browser gives up.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  });
}

/** Keeps the report, as squall ends now: it can be opened as long as this page is open. */
async function keep(report) {
  const place = el('p.kept');
  main.prepend(place);
  try {
    const response = await fetch(report);
    if (!response.ok) throw new Error(response.statusText);
    const href = URL.createObjectURL(await response.blob());
    place.append(el('a', { href, target: '_blank' }, 'Open the report'), ' · ', el('a', { href, download: 'report.html' }, 'Save the report'),
      report.startsWith('runs/') ? ' · squall has ended; `squall ui` shows the reports of all runs.'
        : ' · squall has ended, and the run has no folder: save the report to keep it (with `--out DIR` squall keeps it).');
  } catch (error) {
    place.append(`squall has ended, and its report could not be had: ${error.message}.`);
  }
  document.documentElement.dataset.over = 'true';
}

head(served.run ? 'squall' : 'Runs');
if (served.run) {
  const first = el('section', { 'aria-label': 'The run now' }, answersPart(), progressPart(), loadsPart(), tilesPart());
  main.append(first,
    section('time', 'Over time', 'Over time', ...[chartsPart()].flat()),
    section('target', 'Target', 'Target', targetPart()),
    section('metrics', 'Metrics', 'Metrics over time', metricsPart()),
    section('nodes', 'Nodes', 'Nodes', nodesPart()),
    section('errors', 'Errors', 'Errors', errorsPart()),
    section('rows', 'Requests', 'Requests', rowsPart()),
    section('judged', 'Thresholds', 'Thresholds and checks', judgedPart()),
    section('generator', 'Generator', 'Generator', generatorPart()),
    section('log', 'Log', 'Log', logPart()));
  listen();
}
if (served.folder) {
  const { node, load } = runsPart();
  if (served.run) {
    // The folder is read only when somebody wants to see it.
    const opens = el('details', { ontoggle: () => opens.open && load() }, el('summary', null, 'Show the runs of this folder'), node);
    main.append(section('runs', 'Earlier runs', 'Earlier runs', opens));
  } else {
    main.append(el('section', { id: 'runs', 'aria-label': 'Runs' }, node));
    document.getElementById('contents').remove();
    load().then(() => (document.documentElement.dataset.ready = 'true'));
  }
}
