// The target while the load ran: what monitors sampled of it, under the load's own curves and over the same axis.

/** Whether a monitor of the target sampled a metric: it is shown here. */
const isOfTarget = ({ scenario, tags }) => !scenario && Boolean(tags.monitor);

function targetSection() {
  if (run.target.length === 0) return null;
  return section('target', 'Target', 'Target',
    el('p.about', null, 'What monitors sampled of it once a second while the load ran. The charts have the axis of those above: a part that is zoomed there is zoomed here.'),
    run.target.map(monitorPart));
}

function monitorPart({ monitor, charts: all, rows }) {
  const figures = elapsed < 1 ? [] : all.map(targetChart).filter(Boolean);
  const fullRows = rows.filter((own) => own.was_full);
  const full = fullRows.length === 0 ? null : el('p.warning', null, `▲ ${fullRows.map((own) => `${own.name} reached ${own.max} of ${own.full_at}`).join('; ')}.`);
  const cells = rows.map((own) => [[own.name, own.about ? el('div.place', null, own.about) : null], own.mean, own.max, own.last, own.full_at]);
  const values = () => table(`What the monitor ${monitor} sampled`, ['metric', 'mean', 'max', 'last', 'full at'], cells);
  const part = figures.length > 0 ? lazy(`All of ${monitor} as a table`, values) : values();
  return el('div.monitor', null, el('h3', null, monitor), full, figures, part);
}

/** A chart of some metrics of a monitor; null: none of them is known by second. */
function targetChart({ title, unit, metrics, names, limits, about }) {
  const { seconds } = run.series;
  const scaled = (value) => (unit === 'seconds' ? value * 1e6 : value);
  const lines = metrics.map((at, number) => {
    const track = run.series_metrics.find((own) => isSame(own, run.metrics[at]));
    if (!track) return null;
    const [color, dash] = METRIC_FORMS[number];
    return { name: names[number], values: track.value.map(scaled), starts: track.second, seconds, color, dash };
  }).filter(Boolean);
  if (lines.length === 0) return null;
  const told = limits.map(([limit, text]) => ({ limit: scaled(limit), text, passed: true }));
  return chart({ title, about: about || null, unit: unit === 'seconds' ? 'time' : unit, series: withGaps(lines), height: 120, limits: told }).figure;
}

const isSame = (track, row) => track.name === row.name && track.kind === row.kind && track.scenario === row.scenario && JSON.stringify(track.tags) === JSON.stringify(row.tags);

/** Lines with a gap where no sample came. */
function withGaps(lines) {
  return lines.map((line) => {
    const [values, starts] = [[], []];
    line.starts.forEach((start, at) => {
      const next = at > 0 ? line.starts[at - 1] + line.seconds : start;
      if (start > next) [values.push(null), starts.push(next)];
      [values.push(line.values[at]), starts.push(start)];
    });
    return { ...line, values, starts };
  });
}
