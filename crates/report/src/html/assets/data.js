// The data of the report.

const run = read('run');
const details = read('details');
const words = read('words');
const curves = details.curves;
const elapsed = Math.max(run.elapsed_s, 1e-3);
const moment = (seconds) => clock(seconds, elapsed);

/** When the load began, in seconds since 1970: after the setup. */
const began = run.meta.started_unix + run.run_phases.filter(({ phase }) => phase === 'setup').reduce((sum, own) => sum + own.elapsed_s, 0);
const two = (number) => String(number).padStart(2, '0');

/** The time zone of times of day: that of who looks at the page. */
const ZONE = (() => {
  const minutes = -new Date(began * 1000).getTimezoneOffset();
  const away = Math.abs(minutes);
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`;
})();

/** The time of day of a moment of the run; of a run of days with the date. */
function timeOfDay(seconds) {
  if (!run.meta.started_unix) return '';
  const at = new Date((began + seconds) * 1000);
  const date = elapsed > 86400 ? `${two(at.getMonth() + 1)}-${two(at.getDate())} ` : '';
  return `${date}${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** When the run began, with the date. */
function startText() {
  const at = new Date(run.meta.started_unix * 1000);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())} ${ZONE}`;
}
