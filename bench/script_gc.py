#!/usr/bin/env python3
"""How long users of one interpreter stand still while memory is freed: 1,000 users and 10,000, who leave objects that refer to themselves,
and 1,000 who keep 20 objects each besides. Needs nginx. Usage: script_gc.py [quick]"""

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
import { check, sleep } from 'k6';
export const options = { vus: USERS, duration: 'SECONDSs', gracefulStop: '0s' };
const rows = Array.from({ length: ROWS }, (_, n) => ({ n, text: `row ${n}` }));
export default function () {
  const response = http.get('URL');
  check(response, { status: (r) => r.status === 200, body: (r) => r.body.length === 1024 });
  const own = { response, rows };
  own.self = () => own;
  sleep(Math.random() * 0.5);
}
"""

with nginx() as server, tempfile.TemporaryDirectory() as folder:
    table = Table("users", "objects kept by each", "pauses", "p50 ms", "p99 ms", "longest ms", "goal: p99", "", "p50 of the receive delay, ms", "p99 of the latency, ms")
    for users, rows in [(1_000, 0)] if QUICK else [(1_000, 0), (1_000, 20), (10_000, 0)]:
        script = Path(folder) / "script.js"
        words = {"USERS": users, "SECONDS": SECONDS, "ROWS": rows, "URL": server.url("/page")}
        text = SCRIPT
        for word, value in words.items():
            text = text.replace(word, str(value))
        script.write_text(text)
        run = load(["run", str(script), "--out", folder, "-w", "1"])["json"]
        pauses, delay = run["generator"]["garbage_collection_us"], run["generator"]["receive_delay_us"]
        if pauses is None:
            sys.exit("nothing was freed: the run is too short")
        has_goal = (users, rows) == (1_000, 0)
        table.row(f"{users:,}", rows, pauses["count"], *(f"{pauses[key] / 1e3:.2f}" for key in ("p50", "p99", "max")),
                  GOAL_MS if has_goal else "", table.goal(pauses["p99"] <= GOAL_MS * 1e3) if has_goal else "",
                  f"{delay['p50'] / 1e3:.2f}", f"{run['totals']['latency_us']['p99'] / 1e3:.2f}")
    table.end()
