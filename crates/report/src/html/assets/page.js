// The page: its head, and its parts in their order.

function head() {
  const { meta } = run;
  const utc = new Date(meta.started_unix * 1000).toISOString().replace('T', ' ').slice(0, 16);
  const theme = el('button.small', { type: 'button', onclick: () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    document.documentElement.dataset.theme = dark ? 'light' : 'dark';
    redraw();
  } }, 'light or dark');
  return [el('h1', null, meta.plan || 'squall'), el('p', null, [meta.target, `${utc} UTC`, `${time(run.elapsed_s * 1e6)}`].filter(Boolean).join(' · ')), theme];
}

document.getElementById('head').append(...head());
const main = document.getElementById('main');
const parts = [outcomeSection, validitySection, timeSection, distributionSection, rowsSection, checksSection, phasesSection, errorsSection, accountingSection, generatorSection, metricsSection, planSection, rawSection];
main.append(...parts.map((make) => make()).filter(Boolean));
document.documentElement.dataset.ready = 'true';
