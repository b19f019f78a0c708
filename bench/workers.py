#!/usr/bin/env python3
"""Two workers against one: requests for the CPU time spent. The server runs on the same two cores, so
its cost is taken out by comparing CPU time a request, not requests a second. Usage: workers.py [RUNS]"""

import sys

from lib import Table, load, median, nginx

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5

with nginx() as server:
    table = Table("workers", "requests/s", "µs CPU a request", "requests for 2 s of CPU against 1 s with one worker",
                  "goal", "")
    one, two = [], []
    for _ in range(RUNS):
        one.append(load([server.url("/page"), "-c", "64", "-d", "5s", "-w", "1"], cpu=None))
        two.append(load([server.url("/page"), "-c", "64", "-d", "5s", "-w", "2"], cpu=None))
    for count, runs in ((1, one), (2, two)):
        gain = count * median(one, "us") / median(runs, "us")
        table.row(count, f"{median(runs, 'requests') / 5:,.0f}", f"{median(runs, 'us'):.2f}", f"{gain:.2f}x",
                  "1.8x" if count == 2 else "", table.goal(gain >= 1.8) if count == 2 else "")
    table.end()
