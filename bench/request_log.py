#!/usr/bin/env python3
"""What it costs to log every request, at 20,000 a second. Usage: request_log.py [RUNS]"""

import sys
import tempfile
from pathlib import Path

from lib import Table, load, median, nginx, spread

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3

with nginx() as server, tempfile.TemporaryDirectory() as folder:
    log = f"samples={Path(folder) / 'requests.jsonl'}"
    ways = {"no log": [], "every request": ["--out", log],
            "failed only": ["--out", log, "--log-which", "failed"],
            "one in 100": ["--out", log, "--log-which", "1/100"],
            "every request, 1 KiB of its messages": ["--out", log, "--log-bodies", "1KiB"]}
    runs = {name: [] for name in ways}
    for _ in range(RUNS):
        for name, flags in ways.items():
            run = load([server.url("/page"), "-c", "200", "-r", "20000/s", "-d", "8s", "-w", "1", *flags], cpu=None)
            own = run["json"]["generator"]
            runs[name].append({"us": run["us"], "rate": run["json"]["totals"]["rate"],
                               "late": own["send_delay_us"]["p99"], "dropped": own["requests_not_logged"] or 0})
    table = Table("log", "requests/s", "loss of rate", "µs CPU a request", "added", "sent late, p99 µs", "left out")
    rate, us = median(runs["no log"], "rate"), median(runs["no log"], "us")
    for name, these in runs.items():
        table.row(name, f"{median(these, 'rate'):,.0f}", f"{(1 - median(these, 'rate') / rate) * 100:.2f} %",
                  f"{median(these, 'us'):.2f} ({spread(these, 'us')})", f"{median(these, 'us') - us:+.2f}",
                  f"{median(these, 'late'):.0f}", f"{median(these, 'dropped'):,.0f}")
    table.end()
