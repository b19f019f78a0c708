// The profile of the target's CPU time: its flame graph, and the hottest functions.

/** So high is a row of boxes, and so wide a letter in one. */
const FLAME = { row: 18, letter: 6.7, rowsAtMost: 60 };

function profileSection() {
  const own = details.profile;
  if (!own) return null;
  const minutes = `${Math.floor(own.from_s / 60)}:${String(Math.floor(own.from_s % 60)).padStart(2, '0')}`;
  const title = `Profile of ${own.process}: ${exact(Math.round(own.lasts_s * 10) / 10)} s from ${minutes}`;
  if (own.samples === 0) return section('profile', 'Profile', title, el('p', null, 'The process used no CPU time that could be seen.'));
  const share = (samples) => percent(samples / own.samples);
  const rows = own.hottest.map((hot) => [el('code', null, hot.name), count(hot.own), share(hot.own), share(hot.total)]);
  return section('profile', 'Profile', title,
    el('p.about', null, `${plural(own.samples, 'sample')} by ${own.tool}. A function stands upon the one that called it; its width is its share of the CPU time. Click on one to widen it. profile.folded and profile.svg in the run’s folder are the same.`),
    flameGraph(own), el('h3', null, 'Hottest functions'), table('Hottest functions', ['function', 'samples in itself', 'of all', 'with what it called'], rows));
}

/** The flame graph; a click on a box shows it and what is above and below it alone. */
function flameGraph(own) {
  const { frames, samples } = own;
  const all = { from: 0, samples, depth: 0 };
  const rows = Math.min(FLAME.rowsAtMost, Math.max(...frames.map((frame) => frame.depth)) + 1);
  const height = rows * FLAME.row;
  const root = svg('svg.flame', { width: '100%', height, role: 'img', 'aria-label': `Flame graph of ${own.process}; the table below has its hottest functions` });
  const back = el('button.small', { type: 'button', hidden: true, onclick: () => draw(all) }, 'show all');
  let shown = all;
  function draw(focus) {
    shown = focus;
    back.hidden = focus === all;
    const width = root.clientWidth || 1100;
    const scale = width / focus.samples;
    const first = Math.max(0, focus.depth - 4);
    root.replaceChildren();
    for (const frame of frames) {
      const [from, to] = [Math.max(frame.from, focus.from), Math.min(frame.from + frame.samples, focus.from + focus.samples)];
      const level = frame.depth - first;
      if (to <= from || level < 0 || level >= rows) continue;
      const [x, wide, y] = [(from - focus.from) * scale, (to - from) * scale, height - (level + 1) * FLAME.row];
      if (wide < 0.4) continue;
      const room = Math.floor((wide - 4) / FLAME.letter);
      root.append(svg('g', { onclick: () => draw(frame) }, svg('title', null, `${frame.name}: ${plural(frame.samples, 'sample')}, ${percent(frame.samples / samples)}`),
        svg('rect', { x, y, width: Math.max(0.4, wide - 0.5), height: FLAME.row - 1, fill: flameColor(frame.name) }),
        room >= 3 ? svg('text', { x: x + 3, y: y + 13 }, frame.name.length > room ? `${frame.name.slice(0, room - 1)}…` : frame.name) : null));
    }
  }
  new ResizeObserver(() => draw(shown)).observe(root);
  draw(all);
  return el('figure', null, root, back);
}

/** The colour of a function: always the same one. */
function flameColor(name) {
  let sum = 7;
  for (const letter of name) sum = (Math.imul(sum, 31) + letter.codePointAt(0)) >>> 0;
  return `hsl(${12 + (sum % 40)}, 85%, ${62 + (Math.floor(sum / 64) % 14)}%)`;
}
