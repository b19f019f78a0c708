#!/usr/bin/env python3
"""Open connections: 19,000 in one process with a request each 10 s, and 60,000, which are more than a process
may have open files here: each worker has a table of its own. Usage: connections.py [SECONDS]"""

import sys
import tempfile
from pathlib import Path

from lib import Table, load, nginx

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
PLAN = """
target: {url}
connections: {{source_addresses: [{sources}]}}
scenarios:
  user: {{load: {{users: {users}, ramp: {ramp}s, pacing: {pace}s, for: {seconds}s}}, steps: [{{get: /page}}]}}
"""


def held(server, users, sources, ramp, pace, more=()):
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.yaml"
        addresses = ", ".join(f"127.0.0.{2 + number}" for number in range(sources))
        plan.write_text(PLAN.format(url=server.url(""), users=users, sources=addresses, ramp=ramp, pace=pace,
                                    seconds=SECONDS + ramp))
        return load(["run", str(plan), "--out", folder, *more])


def row(table, name, result, one, users, goal, wanted):
    run = result["json"]
    each = (result["rss"] - one["rss"]) * 1024 / users
    opened, errors = run["counters"]["connections_opened"], run["totals"]["errors"]
    rows = [row for row in run["series"] if row["second"] >= run["elapsed_s"] - SECONDS + 1][:-2]
    rate = sum(row["requests"] for row in rows) / sum(row["seconds"] for row in rows)
    met = (goal is None or each <= goal) and opened == users and errors == 0
    table.row(name, run["meta"]["nodes"][0]["workers"], f"{opened:,}", f"{errors:,}", f"{rate:,.0f} of {wanted:,.0f}",
              f"{result['rss']:.1f}", f"{each:.2f}", goal or "", table.goal(met))


with nginx(workers=4) as server:
    table = Table("connections", "workers", "opened", "errors", "requests/s", "peak RSS MiB",
                  "KiB a connection beyond one", "goal", "")
    one = held(server, 1, 1, 1, 10, ["-w", "1"])
    row(table, "19,000, a request each 10 s", held(server, 19_000, 1, 10, 10, ["-w", "1"]), one, 19_000, 1.5, 1_900)
    row(table, "60,000, a request each 20 s, from 4 addresses", held(server, 60_000, 4, 20, 20), one, 60_000, None, 3_000)
table.end()
