#!/usr/bin/env python3
"""Memory over ten million iterations of a script: it must not grow after the first tenth. Needs no server. Usage:
script_soak.py [--iterations 10000000]"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import GENERATOR_CPU, Table, pinned, squall

# How much resident memory may be added after the first tenth, in MiB.
MAX_GROWTH = 2
SCRIPT = """
import { check, group, sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';
export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 64, iterations: ITERATIONS, maxDuration: '2h' } } };
const counter = new Counter('own_counter');
const trend = new Trend('own_trend');
let count = 0;
export default function () {
  const own = { text: `iteration ${__ITER} of ${__VU}`, numbers: [1, 2, 3].map((n) => n * count) };
  own.self = () => own;
  count++;
  check(own, { text: (o) => o.text.endsWith(String(__VU)), self: (o) => o.self() === o });
  group('inner', () => trend.add(JSON.parse(JSON.stringify(own)).numbers.length));
  counter.add(1);
  sleep(0);
}
"""

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--iterations", type=int, default=10_000_000)
args = parser.parse_args()

with tempfile.TemporaryDirectory() as folder:
    script = Path(folder) / "script.js"
    script.write_text(SCRIPT.replace("ITERATIONS", str(args.iterations)))
    # Under `squall run` a test without requests fails.
    command = [squall(), "k6", "run", "--quiet", "--summary-mode", "disabled", str(script)]
    begin, samples = time.time(), []
    process = subprocess.Popen(pinned(GENERATOR_CPU, command), stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        if found:
            samples.append((time.time() - begin, int(found[1]) / 1024))
        time.sleep(0.5)
    wall, code = time.time() - begin, process.wait()

if code != 0 or len(samples) < 20:
    sys.exit(f"the run ended with code {code} after {len(samples)} samples")
# The last samples are those of the evaluation.
samples = samples[:-4]
table = Table("iterations", "RSS MiB")
for tenth in range(1, 11):
    at = samples[min(len(samples) * tenth // 10, len(samples) - 1)]
    table.row(f"{args.iterations * tenth // 10:,}", f"{at[1]:.1f}")
first = samples[len(samples) // 10][1]
growth = max(rss for _, rss in samples[len(samples) // 10:]) - first
print(f"\n{args.iterations / wall:,.0f} iterations a second; the most memory after the first tenth is {growth:.1f} MiB above that of its end "
      f"(at most {MAX_GROWTH}): {table.goal(growth <= MAX_GROWTH)}.")
table.end()
