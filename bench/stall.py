#!/usr/bin/env python3
"""A stall of the generator is never an error of the target: squall is stopped for 1.6 s (SIGSTOP) while 20 users
wait for responses that take 0.2 s and may take 1 s. No response may count as an error, and the run must be
questionable by the rule `stalled`. And a short stall is over soon: squall is stopped for 20 ms while 20,000 requests a second
arrive. It must catch up with the connections that it has, and drop no arrival. Usage: stall.py [RUNS]"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import GENERATOR_CPU, Table, pinned, squall, target

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
# How long squall is stopped.
STALL_S = 1.6
USERS = "{load: {users: 20, for: 6s}, steps: [{get: /delay/200, timeout: {total: 1s}}]}"
SHORT_STALL_S = 0.02
ARRIVALS = "{load: {rate: 20000/s, ramp: 1s, for: 5s, max_users: 2000}, steps: [{get: /}]}"
# Of the 2,000 that it may have, and some 100,000 requests: those of the stall are 400.
MOST_CONNECTIONS, MOST_LATE_MS = 400, 30


def stalled(server, io, scenario, stall_s):
    """The result of one run of a scenario, stopped from its second second on, for so long."""
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.yaml"
        plan.write_text(f"target: {server.url('')}\nscenarios:\n  user: {scenario}\n")
        command = [squall(), "run", str(plan), "-w", "1", "--out", folder, "--io", io, "--quiet", "--json", "-"]
        process = subprocess.Popen(pinned(GENERATOR_CPU, command), stdout=subprocess.PIPE, text=True)
        time.sleep(2)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(stall_s)
        os.kill(process.pid, signal.SIGCONT)
        return json.loads(process.communicate()[0])


with target() as server:
    table = Table("I/O backend", "requests", "errors", "kinds", "validity", "rules", "goal", "")
    for io in ("epoll", "io_uring"):
        runs = [stalled(server, io, USERS, STALL_S) for _ in range(RUNS)]
        errors = sum(run["totals"]["errors"] for run in runs)
        kinds = {kind for run in runs for kind in run["totals"]["error_kinds"]}
        rules = [{reason["rule"] for reason in run["validity_reasons"]} for run in runs]
        told = all(run["validity"] == "questionable" and "stalled" in own for run, own in zip(runs, rules))
        table.row(io, f"{sum(run['totals']['count'] for run in runs):,}", errors, ", ".join(sorted(kinds)) or "none",
                  ", ".join(sorted({run["validity"] for run in runs})), ", ".join(sorted(set.union(*rules))),
                  "no errors, questionable: stalled", table.goal(errors == 0 and told))
    print(f"\nStopped for {SHORT_STALL_S * 1e3:.0f} ms while 20,000 requests a second arrive; the worst of {RUNS} runs:\n")
    missed = table.missed
    table = Table("I/O backend", "connections opened", "arrivals dropped", "sent late by, p99 µs", "most, ms", "goal", "")
    for io in ("epoll", "io_uring"):
        runs = [stalled(server, io, ARRIVALS, SHORT_STALL_S) for _ in range(RUNS)]
        worst = {name: max(run["counters"][name] for run in runs) for name in ("connections_opened", "arrivals_dropped")}
        late = {name: max(run["generator"]["send_delay_us"][name] for run in runs) for name in ("p99", "max")}
        met = worst["connections_opened"] <= MOST_CONNECTIONS and worst["arrivals_dropped"] == 0 and late["max"] <= MOST_LATE_MS * 1e3
        table.row(io, worst["connections_opened"], worst["arrivals_dropped"], f"{late['p99']:,.0f}", f"{late['max'] / 1e3:.1f}",
                  f"{MOST_CONNECTIONS} connections, none dropped, {MOST_LATE_MS} ms", table.goal(met))
    table.missed |= missed
table.end()
