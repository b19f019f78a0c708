#!/usr/bin/env python3
"""How long users of one interpreter stand still while memory is freed: 1,000 users and 10,000, who keep objects and leave some that refer
to themselves. Needs nginx. Usage: script_gc.py [quick]"""

import sys
import tempfile
from pathlib import Path

from lib import Table, load, nginx

QUICK = sys.argv[1:] == ["quick"]
SECONDS = 5 if QUICK else 20
# The 99th percentile of a pause with 1,000 users, in ms.
GOAL_MS = 2
SCRIPT = """
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: USERS, duration: 'SECONDSs', gracefulStop: '0s' };
const rows = Array.from({ length: 20 }, (_, n) => ({ n, text: `row ${n}` }));
export default function () {
  const response = http.get('URL');
  const own = { response, rows };
  own.self = () => own;
  sleep(Math.random() * 0.5);
}
"""

with nginx() as server, tempfile.TemporaryDirectory() as folder:
    table = Table("users", "pauses", "p50 ms", "p99 ms", "longest ms", "goal: p99", "", "p50 of the receive delay, ms", "p99 of the latency, ms")
    for users in [1_000] if QUICK else [1_000, 10_000]:
        script = Path(folder) / "script.js"
        script.write_text(SCRIPT.replace("USERS", str(users)).replace("SECONDS", str(SECONDS)).replace("URL", server.url("/page")))
        run = load(["run", str(script), "--out", folder, "-w", "1"])["json"]
        pauses, delay = run["generator"]["garbage_collection_us"], run["generator"]["receive_delay_us"]
        if pauses is None:
            sys.exit("nothing was freed: the run is too short")
        has_goal = users == 1_000
        table.row(f"{users:,}", pauses["count"], *(f"{pauses[key] / 1e3:.2f}" for key in ("p50", "p99", "max")),
                  GOAL_MS if has_goal else "", table.goal(pauses["p99"] <= GOAL_MS * 1e3) if has_goal else "",
                  f"{delay['p50'] / 1e3:.2f}", f"{run['totals']['latency_us']['p99'] / 1e3:.2f}")
    table.end()
