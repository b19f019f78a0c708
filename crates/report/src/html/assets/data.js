// The data of the report.

const run = read('run');
const details = read('details');
const words = read('words');
const curves = details.curves;
const elapsed = Math.max(run.elapsed_s, 1e-3);
const moment = (seconds) => clock(seconds, elapsed);
