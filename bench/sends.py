#!/usr/bin/env python3
"""Are even arrivals even? One worker at several rates: how late requests are sent. Usage: sends.py [RUNS]"""

import sys

from lib import Table, load, median, nginx, spread

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
GOAL_US = 200

with nginx() as server:
    table = Table("rate", "sent late by, p50 µs", "p99 µs (lowest..highest run)", "max µs", "processor used", "goal", "")
    for rate in (1_000, 5_000, 20_000):
        runs = []
        for _ in range(RUNS):
            run = load([server.url("/page"), "-c", "500", "-r", f"{rate}/s", "-d", "10s", "-w", "1"])
            late = run["json"]["generator"]["send_delay_us"]
            runs.append({"p50": late["p50"], "p99": late["p99"], "max": late["max"],
                         "busy": run["cpu"] / run["json"]["elapsed_s"] * 100,
                         "missed": run["json"]["counters"]["arrivals_missed"]})
        goal = f"p99 {GOAL_US} µs" if rate == 20_000 else ""
        met = table.goal(median(runs, "p99") <= GOAL_US and all(run["missed"] == 0 for run in runs)) if goal else ""
        table.row(f"{rate:,}/s", f"{median(runs, 'p50'):.0f}", f"{median(runs, 'p99'):.0f} ({spread(runs, 'p99')})",
                  f"{median(runs, 'max'):,.0f}", f"{median(runs, 'busy'):.0f} %", goal, met)
    table.end()
