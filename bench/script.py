#!/usr/bin/env python3
"""What scripts cost: CPU time of GET, two checks and sleep(0), beside the plan that does the same, in alternation; memory of 10,000
users that are asleep with a connection each; memory of 200 users whose script has lodash in it (from npm). k6's own figures were
measured once, on a machine like this one (k6 v1.8.1), and stand beside as constants. Usage: script.py [quick]"""

import subprocess
import sys
import tempfile
from pathlib import Path

from lib import Table, counted, load, median, need, nginx, spread

QUICK = sys.argv[1:] == ["quick"]
RUNS, SECONDS = (1, 3) if QUICK else (5, 10)
# k6 v1.8.1: µs CPU an iteration; MiB of 10,000 users, and of 200 with lodash.
K6_US, K6_ASLEEP, K6_LODASH = 103, 1_742, 357

SCRIPT = """
import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = { vus: VUS, duration: 'SECONDSs' };
export default function () {
  const response = http.get('URL');
  check(response, { status: (r) => r.status === 200, body: (r) => r.body.length === 1024 });
  sleep(0);
}
"""
PLAN = """
name: same
target: URL
scenarios:
  user:
    load: {users: VUS, for: SECONDSs}
    steps:
      - get: PATH
        check: [status == 200, body_bytes == 1024]
      - think: 0s
"""
# Each connects in the first 10 s, and sleeps until its load ends.
ASLEEP = """
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { scenarios: { all: { executor: 'ramping-vus', startVUs: 0, gracefulStop: '0s', gracefulRampDown: '0s',
  stages: [{ duration: '10s', target: USERS }, { duration: '5s', target: USERS }] } } };
export default function () {
  http.get('URL');
  sleep(600);
}
"""
LODASH = """
import _ from './lodash.js';
import { sleep } from 'k6';
export const options = { vus: 200, duration: '5s' };
export default function () {
  if (_.sum(_.map([1, 2, 3], (n) => n * 2)) !== 12) throw new Error('lodash');
  sleep(1);
}
"""


def file(folder, name, text, server, **words):
    for word, value in {"URL": server.url("/page"), "PATH": "/page", "SECONDS": SECONDS, **words}.items():
        text = text.replace(word, str(value))
    path = Path(folder) / name
    path.write_text(text)
    return str(path)


def cpu(server, folder, users):
    table = Table(f"{users:,} users", "plan, µs a request", "script, µs a request", "ratio", "goal", "", "k6, µs")
    words = {"VUS": users}
    script = file(folder, "script.js", SCRIPT, server, **words)
    plan = file(folder, "plan.yaml", PLAN.replace("target: URL", "target: " + server.url("").rstrip("/")), server, **words)
    runs = {plan: [], script: []}
    for _ in range(RUNS):
        for own in runs:
            result = counted(server, load, ["run", own, "--out", folder, "-w", "1"])
            if result["json"]["totals"]["errors"]:
                sys.exit(f"errors of {own}: {result['json']['totals']['error_kinds']}")
            runs[own].append(result)
    ratio = median(runs[script], "us") / median(runs[plan], "us")
    table.row("GET, two checks, sleep(0)", *(f"{median(runs[own], 'us'):.2f} ({spread(runs[own], 'us')})" for own in runs),
              f"{ratio:.2f}", "2.0", table.goal(ratio <= 2.0), K6_US if users == 64 else "")
    return table


def memory(server, folder):
    table = Table("memory", "peak RSS MiB", "goal", "", "k6, MiB")
    users = 1_000 if QUICK else 10_000
    asleep = load(["run", file(folder, "asleep.js", ASLEEP, server, USERS=users), "--out", folder])
    table.row(f"{users:,} users asleep, a connection each", f"{asleep['rss']:.1f}", "120", table.goal(asleep["rss"] <= 120), K6_ASLEEP)
    need("npm")
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "lodash@4"], cwd=folder, check=True)
    text = (Path(folder) / "node_modules/lodash/lodash.js").read_text()
    # A file of the script's own, as people do who copy it.
    (Path(folder) / "lodash.js").write_text(text)
    lodash = load(["run", file(folder, "with-lodash.js", LODASH, server), "--out", folder])
    table.row("200 users with lodash", f"{lodash['rss']:.1f}", f"{K6_LODASH // 3}", table.goal(lodash["rss"] <= K6_LODASH / 3), K6_LODASH)
    return table


with nginx() as server, tempfile.TemporaryDirectory() as folder:
    tables = [cpu(server, folder, 64)]
    if not QUICK:
        tables.append(cpu(server, folder, 1_000))
    tables.append(memory(server, folder))
    sys.exit(int(any(table.missed for table in tables)))
