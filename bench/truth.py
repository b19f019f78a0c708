#!/usr/bin/env python3
"""Measured times against queueing theory: `/queue` with exponential service is M/M/c, whose mean, median,
p99 and utilisation are known. Says in how many of the seeds the theory's value lies in squall's own
interval of 95 % confidence. Slow: 6 queues x SEEDS runs of SECONDS each, JOBS of them at a time.
Usage: truth.py [SEEDS] [SECONDS] [JOBS]"""

import json
import math
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib import Table, squall

SEEDS, SECONDS, JOBS = ([int(word) for word in sys.argv[1:]] + [20, 60, 4][len(sys.argv) - 1:])[:3]
SERVICE_MS = 2.0
WARMUP_S = 5

PLAN = """
target: builtin
warmup: {warmup}s
seed: {seed}
scenarios:
  user:
    load: {{rate: {rate}/s, arrivals: poisson, for: {length}s, max_users: 20000}}
    steps: [{{get: "/queue?servers={servers}&mean={mean}"}}]
"""


def theory(servers, load):
    """Response times of M/M/c in ms: their mean and a function from a share to the quantile."""
    mu, offered = 1 / SERVICE_MS, load * servers
    term, total = 1.0, 0.0
    for n in range(servers):
        total += term
        term *= offered / (n + 1)
    waits = term / (1 - load) / (total + term / (1 - load))
    drain = servers * mu * (1 - load)

    def longer(t):
        """P(response > t): service alone, or a wait that is exponential and then service."""
        if abs(drain - mu) < 1e-12:
            return math.exp(-mu * t) * (1 + waits * mu * t)
        both = (drain * math.exp(-mu * t) - mu * math.exp(-drain * t)) / (drain - mu)
        return (1 - waits) * math.exp(-mu * t) + waits * both

    def quantile(share):
        low, high = 0.0, 1e6
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if longer(middle) > 1 - share else (low, middle)
        return low

    return SERVICE_MS + waits / drain, quantile


def run(servers, load, seed):
    rate = servers * load / SERVICE_MS * 1e3
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.yaml"
        plan.write_text(PLAN.format(warmup=WARMUP_S, seed=seed, rate=f"{rate:g}", length=SECONDS + WARMUP_S,
                                    servers=servers, mean=SERVICE_MS))
        command = [squall(), "run", str(plan), "--out", folder, "-w", "1", "--quiet", "--json", "-"]
        output = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS + 60).stdout
    steady = json.loads(output)["steady"]
    # Offered work over the servers' time: what utilisation there was.
    steady["utilisation"] = steady["rate"] * SERVICE_MS / 1e3 / servers
    return steady


squall()
table = Table("queue", "load", "value", "theory, ms", "measured, ms (mean of seeds)", "error", "within its interval", "goal", "")
for servers in (1, 4):
    for load in (0.5, 0.8, 0.9):
        with ThreadPoolExecutor(JOBS) as pool:
            runs = list(pool.map(lambda seed: run(servers, load, seed), range(1, SEEDS + 1)))
        mean, quantile = theory(servers, load)
        for key, truth in (("mean", mean), ("p50", quantile(0.5)), ("p99", quantile(0.99))):
            own = [one["confidence"][key] for one in runs]
            held = sum(one.get("low", 0) <= truth * 1e3 <= one.get("high", 0) for one in own)
            measured = sum(one["value"] for one in own) / len(own) / 1e3
            table.row(f"M/M/{servers}", f"{load:.0%}", key, f"{truth:.3f}", f"{measured:.3f}",
                      f"{(measured / truth - 1) * 100:+.1f} %", f"{held} of {SEEDS}", "19 of 20",
                      table.goal(held >= 0.95 * SEEDS))
        used = sum(one["utilisation"] for one in runs) / len(runs)
        table.row(f"M/M/{servers}", f"{load:.0%}", "utilisation", f"{load:.3f}", f"{used:.3f}",
                  f"{(used / load - 1) * 100:+.1f} %", "", "", "")
table.end()
