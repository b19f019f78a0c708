#!/usr/bin/env python3
"""A long run at 20,000 requests a second: memory over time. Usage: soak.py [MINUTES]"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import GENERATOR_CPU, Peak, Table, nginx, pinned, squall

MINUTES = int(sys.argv[1]) if len(sys.argv) > 1 else 30
PLAN = """
target: {url}
scenarios:
  user: {{load: {{rate: 20000/s, for: {minutes}m, max_users: 200}}, steps: [{{get: /page}}]}}
"""


def resident(pid):
    """Resident memory of a process now, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


with nginx() as server, tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=server.url(""), minutes=MINUTES))
    command = [squall(), "run", str(plan), "--out", name, "-w", "1", "--quiet", "--json", str(folder / "run.json")]
    process = subprocess.Popen(pinned(GENERATOR_CPU, command), stdout=subprocess.DEVNULL)
    begin, memory, peak = time.time(), {}, Peak(process.pid)
    for minute in range(1, MINUTES + 1):
        time.sleep(max(begin + 60 * minute - 1 - time.time(), 0))
        memory[minute] = resident(process.pid)
    _, _, usage = os.wait4(process.pid, 0)
    run = json.loads((folder / "run.json").read_text())

table = Table("minute", "requests/s", "p99 ms of its median second", "RSS MiB at its end")
for minute in sorted({1, 2, 5, *range(10, MINUTES + 1, 5)} & memory.keys()):
    rows = [row for row in run["series"] if 60 * (minute - 1) <= row["second"] < 60 * minute]
    rate = sum(row["requests"] for row in rows) / sum(row["seconds"] for row in rows)
    p99 = statistics.median(row["p99_us"] for row in rows) / 1e3
    table.row(minute, f"{rate:,.0f}", f"{p99:.2f}", f"{memory[minute]:.1f}")
count, cpu = run["totals"]["count"], usage.ru_utime + usage.ru_stime
print(f"\n{count:,} requests, {run['totals']['errors']:,} errors, {run['counters']['arrivals_dropped']:,} arrivals dropped, "
      f"{cpu / count * 1e6:.1f} µs CPU a request, peak RSS {peak.mib(usage):.1f} MiB.")
