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

/** What is wrong with a page in a form, and how long it took to open; one that is `drawn` says when it is. */
async function look(browser, file, form, shots, drawn) {
  const context = await browser.newContext(FORMS[form]);
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(String(error.stack || error)));
  page.on('dialog', (dialog) => said.push(`dialog: ${dialog.message()}`));
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`file://${file}`);
  if (drawn) await page.waitForSelector('html[data-ready]', { timeout: 20000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const opened = await page.evaluate(() => performance.now());
  // What opens is looked at too.
  await page.evaluate(() => document.querySelectorAll('details').forEach((own) => (own.open = true)));
  const name = page.locator('button.name').first();
  if (await name.count()) await name.click();
  await page.waitForTimeout(200);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1);
  if (shots) await page.screenshot({ path: `${shots}-${form}.png`, fullPage: true });
  const seen = { form, opened, said, wide, asked: asked.filter((url) => url !== `file://${file}`) };
  await context.close();
  return { ...seen, violations: violations.map((own) => `${own.id}: ${own.help}: ${own.nodes[0].html.slice(0, 200)}`) };
}

/** What a person does with keys and pointer, and what the page makes of it. */
async function use(browser, file) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`file://${file}`);
  await page.waitForSelector('html[data-ready]');
  const seen = {};
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
  const names = () => page.locator('#rows button.name').allTextContents();
  const first = (await names())[0];
  await page.locator('#rows thead button').first().click();
  const sorted = await names();
  seen.sorted = sorted.every((name, at) => at === 0 || sorted[at - 1].toLowerCase() <= name.toLowerCase());
  await page.locator('#rows input[type=search]').fill(first);
  const left = await names();
  seen.filtered = left.includes(first) && left.length < sorted.length;
  const button = page.locator('#rows button.name', { hasText: first }).first();
  await button.focus();
  await page.keyboard.press('Enter');
  seen.opened = await page.locator('#rows .under:not([hidden]) figure').count();
  await page.locator('#rows .under:not([hidden]) summary').first().click();
  const table = page.locator('#rows .under:not([hidden]) details[open] tbody tr');
  // It is filled when it opens; one that stays empty is counted as such.
  await table.first().waitFor({ timeout: 5000 }).catch(() => {});
  seen.table = await table.count();
  await page.locator('#rows input[type=search]').fill('');
  seen.pdf = (await page.pdf({ format: 'A4' })).length;
  seen.names = await page.evaluate(() => JSON.parse(document.getElementById('run').textContent).requests.map((row) => row.name));
  seen.shown = await page.evaluate(() => document.body.innerText);
  await page.close();
  return seen;
}

/** The page where no script runs. */
async function without(browser, file) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`file://${file}`);
  const text = await page.locator('#text pre').innerText();
  await context.close();
  return text;
}

const { files, still, shots, browser: path } = JSON.parse(readFileSync(0, 'utf8'));
const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
const all = {};
for (const [name, file] of Object.entries(files)) {
  const forms = [];
  for (const form of Object.keys(FORMS)) forms.push(await look(browser, file, form, shots && `${shots}/${name}`, true));
  all[name] = { forms, use: await use(browser, file), text: await without(browser, file) };
}
for (const [name, file] of Object.entries(still)) {
  const forms = [];
  for (const form of Object.keys(FORMS)) forms.push(await look(browser, file, form, shots && `${shots}/${name}`, false));
  all[name] = { forms };
}
await browser.close();
console.log(JSON.stringify(all));
