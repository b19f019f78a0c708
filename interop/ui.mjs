// Uses the pages of a run that goes on, and of a folder's runs, in headless Chromium, as `test_ui.py` asks: reads what is to
// be done from the standard input as JSON, and prints what it saw.

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
const SOON = { timeout: 120000 };

async function open(browser, url, form, seen) {
  const context = await browser.newContext(FORMS[form]);
  // axe-core is brought by the test, and no page of squall's would let it run.
  await context.addInitScript(axe);
  const page = await context.newPage();
  page.setDefaultTimeout(SOON.timeout);
  page.on('console', (message) => seen.said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => seen.said.push(String(error.stack || error)));
  page.on('dialog', (dialog) => seen.said.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => seen.asked.add(new URL(request.url()).origin));
  await page.goto(url);
  return page;
}

const seconds = (page, least) => page.waitForFunction((n) => Number(document.documentElement.dataset.seconds) >= n, least, SOON);
const tile = (page, name) => page.locator('#main > section:first-of-type .tile', { has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) }).locator('dd').first().innerText();
const curve = (page) => page.locator('#time figure', { hasText: 'Latency' }).locator('path.line').first().getAttribute('d').then((d) => (d || '').split(/[ML]/).length - 1);

/** What axe-core finds, and whether the page is wider than its window. */
async function judge(page, form, shot) {
  await page.evaluate(() => document.querySelectorAll('details').forEach((own) => (own.open = true)));
  await page.waitForTimeout(400);
  const { violations } = await page.evaluate(() => window.axe.run());
  // A phone makes its window wider for what is too wide.
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.evaluate(() => document.querySelectorAll('details').forEach((own) => (own.open = false)));
  if (shot) await page.screenshot({ path: `${shot}-${form}.png`, fullPage: true });
  return { form, wide: width > FORMS[form].viewport.width + 1, violations: violations.map((own) => `${own.id}: ${own.help}: ${own.nodes[0].html.slice(0, 200)}`) };
}

/** Watches a run, in all forms at once, until who asked stops it; one of the pages is loaded again in the middle. */
async function watch(browser, { url, shot }, seen) {
  const pages = {};
  for (const form of Object.keys(FORMS)) pages[form] = await open(browser, url, form, seen);
  const { light } = pages;
  await seconds(light, 4);
  const home = light.locator('#rows button.name', { hasText: /^home$/ });
  // What stands above them may change at any second, and move them away from a pointer.
  const press = (own) => own.evaluate((element) => element.click());
  await press(home);
  await press(light.locator('#rows td', { hasText: 'guest' }).first());
  await light.waitForFunction(() => document.querySelectorAll('#rows tr.under:not([hidden]) path.line').length === 10, null, SOON);
  seen.row = (await light.locator('#rows tr.under:not([hidden])').allInnerTexts()).join('\n');
  await press(home);
  seen.open = await light.locator('#rows tr.under:not([hidden])').count();
  seen.forms = [];
  for (const [form, page] of Object.entries(pages)) {
    await seconds(page, 4);
    seen.forms.push(await judge(page, form, shot));
  }
  seen.text = await light.locator('#main').innerText();
  const plot = light.locator('#time .plot').first();
  await plot.focus();
  await light.keyboard.press('ArrowLeft');
  seen.moment = await plot.getAttribute('aria-valuetext');
  seen.before = await curve(light);
  const before = await light.evaluate(() => Number(document.documentElement.dataset.seconds));
  await light.reload();
  await seconds(light, before);
  seen.after = await curve(light);
  console.error('ready');
  await light.waitForSelector('html[data-over]', SOON);
  seen.requests = await tile(light, 'requests');
  seen.errors = await tile(light, 'errors');
  seen.outcome = await light.locator('.conclusion .word').innerText();
  if (shot) await light.screenshot({ path: `${shot}-over.png`, fullPage: true });
  await openReport(light, seen);
  seen.lost = await light.locator('#lost').innerText();
}

/** Waits for the end of a run, and opens its report. */
async function end(browser, { url }, seen) {
  const page = await open(browser, url, 'light', seen);
  await page.waitForSelector('html[data-over]', SOON);
  seen.kept = await page.locator('.kept').innerText();
  seen.outcome = await page.locator('.conclusion .word').innerText();
  await openReport(page, seen);
}

/** squall may have ended by now: the report is the page's own. */
async function openReport(page, seen) {
  const [report] = await Promise.all([page.context().waitForEvent('page', SOON), page.locator('.kept a').first().click()]);
  await report.waitForSelector('html[data-ready]', SOON);
  seen.report = await report.locator('main').innerText();
}

/** Changes a run by the page's controls, and stops it. */
async function control(browser, { url }, seen) {
  const page = await open(browser, url, 'light', seen);
  await seconds(page, 2);
  const chip = page.locator('.chip');
  const says = (text) => page.waitForFunction((own) => document.querySelector('.chip').textContent === own, text, SOON);
  await page.getByRole('button', { name: 'Pause' }).click();
  await says('PAUSED');
  // What was under way may end; then nothing is sent, in any of the seconds that are shown meanwhile.
  await seconds(page, await page.evaluate(() => Number(document.documentElement.dataset.seconds)) + 4);
  const stood = await tile(page, 'requests');
  await seconds(page, await page.evaluate(() => Number(document.documentElement.dataset.seconds)) + 2);
  seen.stood = [stood, await tile(page, 'requests')];
  await page.getByRole('button', { name: 'Go on' }).click();
  await says('running');
  await page.getByLabel('users of buyer', { exact: true }).fill('9');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => [...document.querySelectorAll('.loads td')].some((own) => own.textContent === '9 users' && own.dataset.title === 'actual'), null, SOON);
  seen.told = await page.locator('.told').innerText();
  await page.getByLabel('users of buyer', { exact: true }).fill('many');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.told').textContent.includes('whole number'), null, SOON);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Back' }).click();
  seen.still = await chip.innerText();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Stop the run' }).click();
  await page.waitForSelector('html[data-over]', SOON);
  seen.outcome = await page.locator('.conclusion .word').innerText();
}

/** Loses the connection, and gets it back; then squall is killed by who asked. */
async function lose(browser, { url }, seen) {
  const page = await open(browser, url, 'light', seen);
  await seconds(page, 2);
  await page.context().setOffline(true);
  await page.reload().catch(() => {});
  await page.context().setOffline(false);
  await page.goto(url);
  await seconds(page, 3);
  console.error('ready');
  const before = await page.evaluate(() => Number(document.documentElement.dataset.seconds));
  await page.waitForFunction(() => document.getElementById('lost').textContent.includes('lost'), null, SOON);
  seen.lost = await page.locator('#lost').innerText();
  await page.waitForFunction(() => document.getElementById('lost').textContent === '', null, SOON);
  await seconds(page, before + 3);
  seen.seconds = await page.evaluate(() => Number(document.documentElement.dataset.seconds));
  seen.curve = await curve(page);
}

/** The runs of a folder: the list, the filter, and a report that is opened. */
async function runs(browser, { url, shot }, seen) {
  seen.forms = [];
  for (const form of Object.keys(FORMS)) {
    const page = await open(browser, url, form, seen);
    await page.waitForSelector('html[data-ready]', SOON);
    seen.forms.push(await judge(page, form, shot));
    if (form !== 'light') continue;
    seen.rows = await page.locator('#runs tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((own) => own.textContent.trim())));
    seen.trend = await page.locator('#runs .mark-of-run').count();
    const ticks = page.locator('#runs tbody tr', { hasText: '-shop' }).locator('input');
    seen.before = await page.locator('#runs .bar').first().innerText();
    for (const at of [0, 1]) await ticks.nth(at).check();
    seen.ticked = await page.locator('#runs .bar').first().innerText();
    const [compared] = await Promise.all([page.context().waitForEvent('page', SOON), page.getByRole('link', { name: 'Compare' }).click()]);
    await compared.waitForSelector('h1', SOON);
    seen.compared = await compared.locator('h1').innerText();
    await compared.close();
    await page.locator('input[type=search]').fill('no such run');
    seen.none = await page.locator('#main').innerText();
    await page.locator('input[type=search]').fill('');
    const [report] = await Promise.all([page.context().waitForEvent('page', SOON), page.locator('#runs td a, #runs th a').first().click()]);
    await report.waitForSelector('html[data-ready]', SOON);
    seen.report = await report.locator('main').innerText();
    seen.origin = await report.evaluate(() => self.origin);
    seen.reached = await report.evaluate((own) => fetch(own).then(() => true, () => false), url);
  }
}

const asked = JSON.parse(readFileSync(0, 'utf8'));
const browser = await chromium.launch({ executablePath: asked.browser, args: ['--no-sandbox'], ...SOON });
const seen = { said: [], asked: new Set() };
await { watch, end, control, lose, runs }[asked.what](browser, asked, seen);
await browser.close();
console.log(JSON.stringify({ ...seen, asked: [...seen.asked] }));
