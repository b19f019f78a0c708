// Looks at reports in headless Chromium, as `test_page.py` asks: reads lists of pages, of reports and of those without a script, from the standard input as JSON,
// and prints what it saw of each. Nothing is fetched but the page itself.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.PAGE_MODULES}/`);
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const FORMS = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
};
// Machines that run tests are shared, and busy.
const PATIENT = { timeout: 120000 };

/** What is wrong with a page in a form; one that is `drawn` says when it is. */
async function look(browser, file, form, shots, drawn) {
  const context = await browser.newContext(FORMS[form]);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENT.timeout);
  const said = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(String(error.stack || error)));
  page.on('dialog', (dialog) => said.push(`dialog: ${dialog.message()}`));
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`file://${file}`);
  if (drawn) await page.waitForSelector('html[data-ready]', PATIENT);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  // What opens is looked at too.
  await page.evaluate(() => document.querySelectorAll('details').forEach((own) => (own.open = true)));
  for (const id of ['#rows', '#groups', '#checks']) {
    const name = page.locator(`${id} button.name`).first();
    if (await name.count()) await name.click();
  }
  await page.waitForTimeout(200);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1);
  if (shots) await page.screenshot({ path: `${shots}-${form}.png`, fullPage: true });
  const seen = { form, said, wide, asked: asked.filter((url) => url !== `file://${file}`) };
  await context.close();
  return { ...seen, violations: violations.map((own) => `${own.id}: ${own.help}: ${own.nodes[0].html.slice(0, 200)}`) };
}

/** What the first screen of 1280 by 800 shows of a report, and where a click on an error leads. */
async function first(page) {
  const seen = {};
  seen.first = await page.evaluate(() => {
    const texts = (selector) => [...document.querySelectorAll(selector)].map((own) => own.textContent.trim());
    const cells = (selector) => [...document.querySelectorAll(selector)].map((row) => [...row.children].map((own) => own.textContent.trim()));
    const wanted = ['.verdict .word', '.validity', '#outcome tbody tr', '#rows tbody tr.opens', '#rows tfoot tr', '#errors tbody tr:nth-child(-n+2)'];
    const below = (own) => own.getBoundingClientRect().bottom > window.innerHeight;
    return {
      beyond: wanted.filter((selector) => [...document.querySelectorAll(selector)].some(below)),
      thresholds: cells('#outcome tbody tr'), columns: texts('#rows thead th'), requests: texts('#rows button.name'),
      total: (cells('#rows tfoot tr')[0] || []), more: texts('#rows .bar button')[0], errors: cells('#errors tbody tr'),
    };
  });
  // The texts of each axis of values, and of thresholds; a clock below an axis.
  seen.axes = await page.evaluate(() => [...document.querySelectorAll('figure.chart svg, figure.plot-figure svg')].map((own) =>
    [...own.querySelectorAll('text.tick[text-anchor=end]')].filter((tick) => tick.getAttribute('x') === '64').map((tick) => tick.textContent)).filter((all) => all.length > 1));
  seen.limits = await page.locator('text.limit').allTextContents();
  seen.clock = await page.locator('#time text.tick', { hasText: /:\d\d:/ }).first().textContent();
  const link = page.locator('#errors button.link').first();
  if (await link.count()) {
    const asked = await link.textContent();
    await link.click();
    const open = page.locator('#rows tr.opens:has(+ tr.under:not([hidden]))');
    seen.led = { asked, open: await open.locator('button.name').allTextContents(), figures: await page.locator('#rows tr.under:not([hidden]) figure').count() };
    await open.locator('button.name').click();
  }
  await page.setViewportSize({ width: 390, height: 844 });
  seen.phone = await page.locator('#rows thead th').allTextContents();
  return seen;
}

/** What a person does with keys and pointer, and what the page makes of it. */
async function use(browser, file) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(PATIENT.timeout);
  await page.goto(`file://${file}`);
  await page.waitForSelector('html[data-ready]', PATIENT);
  await page.setViewportSize({ width: 1280, height: 800 });
  const seen = await first(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  const plot = page.locator('#time .plot').first();
  await plot.focus();
  await page.keyboard.press('ArrowRight');
  seen.moment = await plot.getAttribute('aria-valuetext');
  seen.values = await page.locator('#time output.value').evaluateAll((all) => all.map((own) => own.textContent).filter(Boolean).length);
  const end = async (which) => Number(await page.locator('.zoom input')[which]().inputValue());
  const length = async () => await end('last') - await end('first');
  const whole = await length();
  await page.keyboard.press('+');
  seen.zoomed = await length() < whole;
  await page.keyboard.press('0');
  seen.back = await length() === whole;
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
  await page.mouse.up();
  seen.dragged = await length() < whole;
  await plot.dblclick();
  seen.rows = await browse(page, '#rows');
  for (const id of ['groups', 'checks']) if (await page.locator(`#${id}`).count()) seen[id] = await browse(page, `#${id}`);
  seen.latency = await values(page, /^Latency$/);
  seen.users = await values(page, /^Virtual users/);
  seen.names = await page.evaluate(() => JSON.parse(document.getElementById('run').textContent).requests.map((row) => row.name));
  seen.shown = await page.evaluate(() => document.body.innerText);
  await page.close();
  return seen;
}

/** The table behind a chart over time. */
async function values(page, title) {
  const chart = page.locator('#time figure', { has: page.getByRole('heading', { name: title }) });
  if (!await chart.count()) return [];
  await chart.locator('summary').click();
  await chart.locator('tbody tr').first().waitFor(PATIENT);
  return chart.locator('tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
}

/** What keys and pointer make of a table whose rows open. */
async function browse(page, id) {
  const seen = {};
  const names = () => page.locator(`${id} button.name`).allTextContents();
  const first = (await names())[0];
  await page.locator(`${id} thead button`).first().click();
  const sorted = await names();
  seen.sorted = sorted.every((name, at) => at === 0 || sorted[at - 1].toLowerCase() <= name.toLowerCase());
  await page.locator(`${id} input[type=search]`).fill(first);
  const left = await names();
  seen.filtered = left.includes(first) && left.length < sorted.length;
  const button = page.locator(`${id} button.name`, { hasText: first }).first();
  await button.focus();
  await page.keyboard.press('Enter');
  const under = `${id} .under:not([hidden])`;
  seen.opened = await page.locator(`${under} figure`).count();
  await page.locator(`${under} summary`).first().click();
  const table = page.locator(`${under} details[open] tbody tr`);
  // It is filled when it opens; one that stays empty is counted as such.
  await table.first().waitFor(PATIENT).catch(() => {});
  seen.table = await table.count();
  await page.locator(`${id} input[type=search]`).fill('');
  return seen;
}

/** What is on paper that should not be, or is not what it should be: A4 with the page's own margins, printed from a dark screen. */
async function print(browser, file, pdf, drawn) {
  // As wide as what is left between the margins.
  const page = await browser.newPage({ viewport: { width: Math.round((210 - 24) / 25.4 * 96), height: 1000 }, colorScheme: 'dark' });
  page.setDefaultTimeout(PATIENT.timeout);
  await page.goto(`file://${file}`);
  if (drawn) await page.waitForSelector('html[data-ready]', PATIENT);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const seen = await page.evaluate(() => {
    const all = (selector) => [...document.querySelectorAll(selector)].filter((own) => own.checkVisibility() && !own.closest('.unseen'));
    const name = (own) => `${own.tagName}: ${own.textContent.trim().slice(0, 60)}`;
    // Brightness from 0 to 255.
    const bright = (color) => { const [r, g, b] = color.match(/[\d.]+/g).map(Number); return 0.299 * r + 0.587 * g + 0.114 * b; };
    const beyond = (own) => {
      const [inner, outer] = [own.getBoundingClientRect(), own.ownerSVGElement.getBoundingClientRect()];
      return inner.width > 0 && (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 2 || inner.bottom > outer.bottom + 2);
    };
    return {
      wide: document.documentElement.scrollWidth > window.innerWidth + 1,
      controls: all('input, select, textarea, nav, button').filter((own) => !own.closest('.legend, thead') && !own.matches('.name, .link')).map(name),
      cut: all('pre, .wide, td, th, p, dd, .piece span').filter((own) => own.scrollWidth > own.clientWidth + 1 && getComputedStyle(own).overflow !== 'visible').map(name),
      beyond: all('svg text').filter(beyond).map(name),
      scheme: getComputedStyle(document.documentElement).colorScheme,
      back: bright(getComputedStyle(document.body).backgroundColor),
      light: all('.line, text.tick, p, td, th, h2, h3').filter((own) => bright(getComputedStyle(own)[own.matches('.line') ? 'stroke' : own.matches('text') ? 'fill' : 'color']) > 140).map(name),
      // What says what follows it.
      leads: all('h2, h3, h2 + p, .zoom + .note, .about').map((own) => own.textContent.trim()),
      precise: [...document.querySelectorAll('details.prints > summary')].some((own) => own.textContent.startsWith('How precisely')),
    };
  });
  // What a reader has opened is printed as well.
  const opened = await page.evaluate(() => [...document.querySelectorAll('section > details:not([open])')].map((own) => ((own.open = true), own)).length);
  await page.waitForTimeout(200);
  seen.wide_opened = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1);
  if (opened) await page.evaluate(() => document.querySelectorAll('section > details:not(.prints)').forEach((own) => (own.open = false)));
  await page.emulateMedia({ media: null });
  const bytes = await page.pdf({ format: 'A4', preferCSSPageSize: true, ...(pdf ? { path: pdf } : {}) });
  await page.close();
  return { ...seen, bytes: bytes.length };
}

/** The page where no script runs. */
async function without(browser, file) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENT.timeout);
  await page.goto(`file://${file}`);
  const text = await page.locator('#text pre').innerText();
  await context.close();
  return text;
}

const { files, still, shots, pdfs, browser: path } = JSON.parse(readFileSync(0, 'utf8'));
const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'], ...PATIENT });
const all = {};
for (const [name, file] of Object.entries(files)) {
  const forms = [];
  for (const form of Object.keys(FORMS)) forms.push(await look(browser, file, form, shots && `${shots}/${name}`, true));
  const printed = await print(browser, file, pdfs && `${pdfs}/${name}.pdf`, true);
  all[name] = { forms, use: await use(browser, file), printed, text: await without(browser, file) };
}
for (const [name, file] of Object.entries(still)) {
  const forms = [];
  for (const form of Object.keys(FORMS)) forms.push(await look(browser, file, form, shots && `${shots}/${name}`, false));
  all[name] = { forms, printed: await print(browser, file, pdfs && `${pdfs}/${name}.pdf`, false) };
}
await browser.close();
console.log(JSON.stringify(all));
