#!/usr/bin/env python3
"""io_uring beside epoll, in alternated runs: CPU time a request, and how late requests are sent, which is
where a ring that waits for several things would show. Usage: ring.py [RUNS] [SECONDS]"""

import sys
import tempfile
from pathlib import Path

from lib import Table, lateness, load, median, nginx, spread

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
GOAL_US = 50
WAYS = ("epoll", "io_uring")

PLAN = """
target: {url}
scenarios:
  user: {{load: {{rate: {rate}/s, for: {seconds}s, max_users: 2000}}, steps: [{{get: /page}}]}}
"""


def alternated(arguments):
    """Runs of both ways."""
    runs = {way: [] for way in WAYS}
    for _ in range(RUNS):
        for way in WAYS:
            run = load([*arguments, "-w", "1", "--io", way])
            if run["json"]["totals"]["errors"] > 0:
                sys.exit(f"errors with {way}: {run['json']['totals']['error_kinds']}")
            runs[way].append(run)
    return runs


def us(runs):
    return [f"{median(runs[way], 'us'):.2f} ({spread(runs[way], 'us')})" for way in WAYS]


with nginx() as server, tempfile.TemporaryDirectory() as folder:
    table = Table("load", "epoll, µs CPU a request", "io_uring", "ratio", "sent late by, µs, p50: epoll", "io_uring",
                  "p99 of the median second: epoll", "io_uring", "io_uring adds", "goal", "")
    for users in (64, 512):
        runs = alternated([server.url("/page"), "-c", str(users), "-d", f"{SECONDS}s"])
        ratio = median(runs["io_uring"], "us") / median(runs["epoll"], "us")
        table.row(f"{users} connections, as fast as they can", *us(runs), f"{ratio:.2f}", *[""] * 7)
    plan = Path(folder) / "plan.yaml"
    for rate in (1_000, 5_000, 20_000):
        plan.write_text(PLAN.format(url=server.url(""), rate=rate, seconds=SECONDS))
        runs = alternated(["run", str(plan), "--out", folder])
        ratio = median(runs["io_uring"], "us") / median(runs["epoll"], "us")
        late = [[lateness(run, 1, SECONDS) for run in runs[way]] for way in WAYS]
        p50, p99 = ([median(of, key) for of in late] for key in ("p50", "second"))
        added = p99[1] - p99[0]
        table.row(f"{rate:,}/s", *us(runs), f"{ratio:.2f}", *[f"{value:.0f}" for value in p50 + p99],
                  f"{added:+.0f}", f"{GOAL_US} µs", table.goal(added <= GOAL_US))
table.end()
