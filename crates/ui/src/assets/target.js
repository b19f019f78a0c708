// The target: what monitors sample of it now, each with a small curve of the last two minutes.

/** Whether a monitor of the target samples a metric: it is shown here. */
const isOfTarget = ({ scenario, tags }) => !scenario && tags.some(([tag]) => tag === 'monitor');

/** Values as a small curve, up to `top` or to the highest of them. */
function sparkOf(values, top, width = 150, height = 26) {
  const root = svg('svg.spark', { width, height, 'aria-hidden': 'true' });
  const highest = Math.max(...values, top || 0) || 1;
  const x = (at) => width - 1 - (values.length - 1 - at) * ((width - 2) / (Math.max(values.length, 30) - 1));
  root.append(svg('path.line.c1', { d: path(values.map((value, at) => [at, value]), x, (value) => height - 3 - (Math.max(value, 0) / highest) * (height - 6)) }));
  return root;
}

/** What monitors sample; nothing in a run without them. */
function targetPart() {
  const node = el('div');
  let last = null;
  return shown(node, () => {
    const [own, link] = [node.closest('section'), document.querySelector('#contents a[href="#target"]')];
    [own, link].forEach((part) => part && (part.hidden = run.targets.length === 0));
    if (run.targets === last) return;
    last = run.targets;
    node.replaceChildren(...run.targets.flatMap(({ monitor, metrics, left_out: more }) => {
      const rows = metrics.map(({ at, name, now, highest, full_at: full, top, is_full: isFull }) => {
        const known = run.metrics[at] ? [...run.metrics[at].values.values()].slice(-CURVE).map(({ value }) => value) : [];
        return [name, isFull ? el('span.word.failed', null, now) : now, highest, full || '–', sparkOf(known, top)];
      });
      return [el('h3', null, monitor), table(`What the monitor ${monitor} samples`, ['metric', 'now', 'highest', 'full at', 'the last minutes'], rows),
        more > 0 && el('p.note', null, `and ${plural(more, 'metric')} more`)].filter(Boolean);
    }));
  });
}
