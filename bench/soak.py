#!/usr/bin/env python3
"""A long run at a constant rate: memory over time. Fails if squall's memory grows after the second minute or ends
above 16 MiB. Usage: soak.py [--minutes 30] [--rate 20000] [--server nginx|target]"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lib
from lib import GENERATOR_CPU, Peak, Table, pinned, squall

# Resident memory at the end, and how much of it may be added after the second minute, in MiB: the allocator rounds,
# and a latency that was never seen before takes a page of its histogram.
MAX_RSS, MAX_GROWTH = 16, 1
# Seconds between samples of the memory.
INTERVAL = 30
PLAN = """
target: {url}
scenarios:
  user: {{load: {{rate: {rate}/s, for: {minutes}m, max_users: 200}}, steps: [{{get: {path}}}]}}
"""


def resident(pid):
    """Resident memory of a process now, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--minutes", type=int, default=30)
parser.add_argument("--rate", type=int, default=20_000)
parser.add_argument("--server", choices=["nginx", "target"], default="nginx")
args = parser.parse_args()
path = "/page" if args.server == "nginx" else "/bytes/1024"

with getattr(lib, args.server)() as server, tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=server.url(""), rate=args.rate, minutes=args.minutes, path=path))
    command = [squall(), "run", str(plan), "--out", name, "-w", "1", "--quiet", "--json", str(folder / "run.json")]
    process = subprocess.Popen(pinned(GENERATOR_CPU, command), stdout=subprocess.DEVNULL)
    begin, memory, peak_of = time.time(), {}, Peak(process.pid)
    for second in range(INTERVAL, 60 * args.minutes + 1, INTERVAL):
        time.sleep(max(begin + second - 1 - time.time(), 0))
        memory[second] = resident(process.pid)
    _, _, usage = os.wait4(process.pid, 0)
    run = json.loads((folder / "run.json").read_text())

table = Table("at s", "requests/s", "p99 ms of its median second", "RSS MiB")
for second in sorted({30, 60, 120, 300, *range(600, 60 * args.minutes + 1, 300)} & memory.keys()):
    rows = [row for row in run["series"] if second - INTERVAL <= row["second"] < second]
    rate = sum(row["requests"] for row in rows) / sum(row["seconds"] for row in rows)
    p99 = statistics.median(row["p99_us"] for row in rows) / 1e3
    table.row(second, f"{rate:,.0f}", f"{p99:.2f}", f"{memory[second]:.1f}")
count, cpu, peak = run["totals"]["count"], usage.ru_utime + usage.ru_stime, peak_of.mib(usage)
print(f"\n{count:,} requests, {run['totals']['errors']:,} errors, {run['counters']['arrivals_dropped']:,} arrivals dropped, "
      f"{cpu / count * 1e6:.1f} µs CPU a request, peak RSS {peak:.1f} MiB.")

# The peak is that of the evaluation at the end.
wrong = [] if peak <= MAX_RSS else [f"peak RSS {peak:.1f} MiB, at most {MAX_RSS} expected"]
later = [rss for second, rss in memory.items() if second > 120]
if later and max(later) - memory[120] > MAX_GROWTH:
    wrong.append(f"memory grew by {max(later) - memory[120]:.1f} MiB after the second minute, at most {MAX_GROWTH} expected")
sys.exit("\n".join(wrong))
