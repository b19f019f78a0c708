// What can be done with the run: asked of the server, which does what the keys of the terminal do.

const told = el('output.told', { 'aria-live': 'polite' });

/** Asks for something; what came of it is told. */
async function ask(what) {
  try {
    const response = await fetch('control', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(what) });
    const answer = response.headers.get('Content-Type') === 'application/json' ? (await response.json()).told : response.statusText;
    set(told, answer);
  } catch {
    set(told, 'squall could not be asked: the connection is lost');
  }
}

/** Whether the run can be changed now. */
const isLoading = () => run.about.phase === 'load' && run.about.stopping === null && !run.about.result;

/** A question before something that cannot be undone. */
function question(title, text, yes) {
  const close = () => own.close();
  const own = el('dialog', { 'aria-label': title }, el('p', null, text), el('div.controls', null,
    el('button.strong', { type: 'button', onclick: () => { close(); yes(); } }, title), el('button', { type: 'button', onclick: close }, 'Back')));
  own.addEventListener('close', () => own.remove());
  document.body.append(own);
  own.showModal();
}

function runControls() {
  const pause = el('button', { type: 'button', onclick: () => ask({ do: run.about.paused ? 'resume' : 'pause' }) }, 'Pause');
  const stop = el('button.strong', { type: 'button', onclick: () => {
    if (run.about.stopping === null) question('Stop the run', 'Requests in flight may finish, and the result is kept.', () => ask({ do: 'stop' }));
    else question('End it at once', 'Requests in flight are cut off, and there is no teardown.', () => ask({ do: 'abort' }));
  } }, 'Stop');
  shows.push(() => {
    set(pause, run.about.paused ? 'Go on' : 'Pause');
    set(stop, run.about.stopping === null ? 'Stop' : 'End at once');
    pause.disabled = !isLoading() || !run.connected;
    stop.disabled = Boolean(run.about.result) || run.about.stopping === 'at once' || !run.connected;
  });
  return el('div.controls', null, pause, stop, told);
}

/** More or less of a load, or another number. */
function changeControls(load) {
  const unit = load.users ? 'users' : 'arrivals/s';
  const step = (what, sign, name) => el('button.small', { type: 'button', 'aria-label': `${name} ${unit} of ${load.label}`, onclick: () => ask({ do: what, load: load.scenario }) }, sign);
  const wanted = el('input', { type: 'text', inputmode: 'numeric', size: 6, 'aria-label': `${unit} of ${load.label}`, placeholder: load.users ? 'users' : '50/s' });
  const parts = [step('less', '−', '10% fewer'), step('more', '+', '10% more'), wanted, el('button.small', { type: 'submit' }, 'Set')];
  const form = el('form.change', { onsubmit: (event) => {
    event.preventDefault();
    if (wanted.value.trim() !== '') ask({ do: 'set', load: load.scenario, to: wanted.value });
    wanted.value = '';
  } }, parts);
  shows.push(() => parts.forEach((part) => (part.disabled = !load.can_change || !isLoading() || run.about.paused || !run.connected)));
  return form;
}
