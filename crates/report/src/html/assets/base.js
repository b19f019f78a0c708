// How elements are made and numbers are written, by all of squall's pages. Text from the data becomes text nodes and
// attributes only.

const SVG = 'http://www.w3.org/2000/svg';
const read = (id) => JSON.parse(document.getElementById(id).textContent);

/** An element: its tag with classes (`p.note`), attributes, and children, which are elements or text. */
function el(tag, attributes, ...children) {
  const [name, ...classes] = tag.split('.');
  return fill(document.createElement(name), classes, attributes, children);
}

/** The same of SVG. */
function svg(tag, attributes, ...children) {
  const [name, ...classes] = tag.split('.');
  return fill(document.createElementNS(SVG, name), classes, attributes, children);
}

function fill(made, classes, attributes, children) {
  if (classes.length > 0) made.setAttribute('class', classes.join(' '));
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Numbers as all of squall's reports write them. */
function time(us) {
  if (us === null || us === undefined) return '–';
  if (us < 999.5) return `${us.toFixed(0)} µs`;
  if (us < 9995) return `${(us / 1e3).toFixed(2)} ms`;
  if (us < 99950) return `${(us / 1e3).toFixed(1)} ms`;
  if (us < 999500) return `${(us / 1e3).toFixed(0)} ms`;
  return us < 9.995e6 ? `${(us / 1e6).toFixed(2)} s` : `${(us / 1e6).toFixed(1)} s`;
}

function count(number) {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

function rate(perSecond) {
  if (perSecond < 9.995) return `${perSecond.toFixed(2)}/s`;
  return perSecond < 99.95 ? `${perSecond.toFixed(1)}/s` : `${count(perSecond)}/s`;
}

function bytes(number) {
  if (number < 1024) return `${Math.round(number)} B`;
  let [value, unit] = [number / 1024, 0];
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  while (value >= 1023.95 && unit + 1 < units.length) [value, unit] = [value / 1024, unit + 1];
  return `${value.toFixed(1)} ${units[unit]}`;
}

function percent(share) {
  const text = Math.abs(share * 100) < 9.995 ? (share * 100).toFixed(2) : (share * 100).toFixed(1);
  return `${text.replace(/\.?0+$/, '')}%`;
}

/** A moment of a run of some length: `75 s`, `12:05`, `1:02:03`. */
function clock(seconds, elapsed) {
  const whole = Math.round(seconds * 10) / 10;
  if (elapsed < 600) return `${whole} s`;
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, Math.floor(whole % 60)];
  const two = (n) => String(n).padStart(2, '0');
  return elapsed < 3600 ? `${m}:${two(s)}` : `${h}:${two(m)}:${two(s)}`;
}

const plural = (number, word) => `${count(number)} ${word}${number === 1 ? '' : 's'}`;
const spoken = (name) => name.replaceAll('_', ' ');
/** A number as it is, with as many digits as it needs: what stands beside an axis is never rounded to another one. */
function exact(number) {
  const [whole, part] = String(Number(number.toPrecision(6))).split('.');
  return part ? `${count(Number(whole))}.${part}` : count(Number(whole));
}

/** A number in the largest of some units in which it is at least 1; `by` is how many of one make the next. */
function inUnits(number, by, units) {
  let [value, unit] = [number, 0];
  while (value >= by && unit + 1 < units.length) [value, unit] = [value / by, unit + 1];
  return `${exact(value)} ${units[unit]}`;
}

const BYTES = (value) => inUnits(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
/** How a number is written beside others, and beside an axis. */
const UNITS = {
  time: { show: time, tick: (us) => inUnits(us, 1000, us < 1e6 ? ['µs', 'ms'] : ['µs', 'ms', 's']) },
  rate: { show: rate, tick: (value) => `${exact(value)}/s` },
  count: { show: count, tick: exact },
  bytes: { show: (value) => `${bytes(value)}/s`, tick: BYTES },
  size: { show: bytes, tick: BYTES },
  percent: { show: percent, tick: (value) => `${exact(value * 100)}%` },
  share: { show: percent, tick: (value) => `${exact(value * 100)}%` },
  number: { show: exact, tick: exact },
};

/** A number beside an axis. */
const tickText = (value, unit) => (value === 0 ? '0' : UNITS[unit].tick(value));

/** Tells a screen reader. */
function announce(text) {
  document.getElementById('announce').textContent = text;
}

/** A table: its head, and rows of cells; from column `numbers` on they are numbers. `{ across }` says more of the row before
 * it, below its cells. `table.prose` has sentences: on a phone its cells stand below each other. */
function table(caption, head, rows, numbers = 1, form = 'table') {
  const cell = (value, at) =>
    at === 0 ? el('th', { scope: 'row' }, value) : el(at >= numbers ? 'td.number' : 'td', { 'data-title': head[at] }, value);
  const line = (row) => (row.across ? el('tr.across', null, el('td', { colspan: head.length }, el('div', null, row.across))) : el('tr', null, row.map(cell)));
  const titles = head.map((title, at) => el(at >= numbers ? 'th.number' : 'th', { scope: 'col' }, title));
  return el('div.wide', { tabindex: 0, role: 'group', 'aria-label': caption },
    el(form, null, el('caption.unseen', null, caption), el('thead', null, el('tr', null, titles)),
      el('tbody', null, rows.map(line))));
}

/** What opens to a content that is made when it is opened. */
function lazy(title, make) {
  const own = el('details', null, el('summary', null, title));
  own.addEventListener('toggle', () => {
    if (own.open && own.children.length === 1) own.append(make());
  });
  return own;
}

/** A part of the page, named in its contents. */
function section(id, name, title, ...content) {
  document.getElementById('contents').append(el('a', { href: `#${id}` }, name));
  return el('section', { id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), ...content);
}
