// The page: its head, and its parts in their order.

function head() {
  const { meta } = run;
  const theme = el('button.small', { type: 'button', onclick: () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    document.documentElement.dataset.theme = dark ? 'light' : 'dark';
    redraw();
  } }, 'Theme');
  return [el('h1', null, meta.plan || 'squall'), el('p', null, [(meta.plan || '').includes(meta.target) ? null : meta.target, startText(), time(run.elapsed_s * 1e6)].filter(Boolean).join(' · ')), theme];
}

document.getElementById('head').append(...head());
const main = document.getElementById('main');
// The numbers of the target first, squall's own last.
const parts = [outcomeSection, rowsSection, errorsSection, timeSection, targetSection, profileSection, codesSection, requestsOverTime, loadSection, examplesSection, distributionSection,
  groupsSection, checksSection, phasesSection, metricsSection, fleetSection, validitySection, accountingSection, generatorSection, planSection, rawSection];
main.append(...parts.map((make) => make()).filter(Boolean));
document.documentElement.dataset.ready = 'true';
