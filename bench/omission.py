#!/usr/bin/env python3
"""Coordinated omission: a target that stands still for 2 s once in 20 s, at 100 requests a second. What
the percentiles must be is known: of 2,000 requests 200 come in while it stands still, and wait for what
is left of the 2 s, so that the slowest 1 % waited 1.8 s or more. Usage: omission.py [RUNS]"""

import json
import os
import signal
import subprocess
import sys
import time

from lib import Table, median, spread, squall, target

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
RATE, LENGTH, STALL = 100, 20, 2.0
# The k-th longest of the waits: they are 1/RATE apart.
P99_S = STALL - 0.01 * RATE * LENGTH / RATE


def run(server, arguments):
    """squall, with the target stopped from the 8th to the 10th second."""
    command = [squall(), server.url("/"), "-d", f"{LENGTH}s", "--quiet", "--json", "-", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    time.sleep(8)
    os.kill(server.process.pid, signal.SIGSTOP)
    begin = time.monotonic()
    time.sleep(STALL)
    os.kill(server.process.pid, signal.SIGCONT)
    stalled = time.monotonic() - begin
    result = json.loads(process.communicate()[0])
    totals = result["totals"]
    corrected = totals["corrected_latency_us"] or totals["latency_us"]
    return {"corrected": corrected["p99"] / 1e3, "sent": totals["latency_us"]["p99"] / 1e3, "stall": stalled * 1e3,
            "count": totals["count"]}


with target() as server:
    table = Table("load", "requests", "corrected p99, ms", "p99, ms", "analytic, ms",
                  "error", "goal", "")
    runs = [run(server, ["-c", "500", "-r", f"{RATE}/s"]) for _ in range(RUNS)]
    # The stop itself takes a moment: what is analytic follows from how long it really was.
    analytic = median(runs, "stall") - 10.0 * LENGTH
    error = median(runs, "corrected") / analytic - 1
    table.row(f"{RATE} arrivals a second, 500 users", f"{median(runs, 'count'):,.0f}",
              f"{median(runs, 'corrected'):,.0f} ({spread(runs, 'corrected')})", f"{median(runs, 'sent'):,.0f}", f"{analytic:,.0f}",
              f"{error * 100:+.2f} %", "1 %", table.goal(abs(error) <= 0.01))
    runs = [run(server, ["-c", "1"])]
    table.row("one user, one request after the other", f"{median(runs, 'count'):,.0f}", "-",
              f"{median(runs, 'sent'):,.2f}", f"{analytic:,.0f}", "hides the stall", "", "")
    table.end()
