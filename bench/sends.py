#!/usr/bin/env python3
"""Are even arrivals even? One worker at several rates: how late requests are sent. The rate rises for two
seconds, so that connections are not all made at once. Usage: sends.py [RUNS]"""

import sys
import tempfile
from pathlib import Path

from lib import Table, lateness, load, median, nginx, spread

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
GOAL_US = 200

PLAN = """
target: {url}
scenarios:
  user: {{load: {{rate: {rate}/s, ramp: 2s, for: 12s, max_users: 2000}}, steps: [{{get: /page}}]}}
"""

with nginx() as server, tempfile.TemporaryDirectory() as folder:
    plan = Path(folder) / "plan.yaml"
    table = Table("rate", "sent late by, p50 µs", "p99 µs (lowest..highest run)", "p99 µs of the median second", "max µs", "processor used", "goal", "")
    for rate in (1_000, 5_000, 20_000):
        runs = []
        plan.write_text(PLAN.format(url=server.url(""), rate=rate))
        for _ in range(RUNS):
            run = load(["run", str(plan), "--out", folder, "-w", "1"])
            runs.append(lateness(run, 2, 12) |
                        {"busy": run["cpu"] / run["json"]["elapsed_s"] * 100,
                         "missed": run["json"]["counters"]["arrivals_dropped"]})
        goal = f"p99 {GOAL_US} µs" if rate == 20_000 else ""
        met = table.goal(median(runs, "p99") <= GOAL_US and all(run["missed"] == 0 for run in runs)) if goal else ""
        table.row(f"{rate:,}/s", f"{median(runs, 'p50'):.0f}", f"{median(runs, 'p99'):.0f} ({spread(runs, 'p99')})",
                  f"{median(runs, 'second'):.0f}", f"{median(runs, 'max'):,.0f}", f"{median(runs, 'busy'):.0f} %", goal, met)
    table.end()
