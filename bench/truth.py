#!/usr/bin/env python3
"""Measured times against queueing theory: `/queue` with exponential service is M/M/c, whose mean, median,
p99 and utilisation are known. Says in how many of the seeds the theory's value lies in squall's own
interval of 95 % confidence, or above its lower bound. With `warmup: auto`, the default, as users have it. Slow: 6 queues x SEEDS runs of SECONDS each, JOBS of them at a time. The runs
have real-time priority (where the caller may give it: root), and loops of the lowest priority keep the
processors from sleeping, so that the measurement is of the queues and not of who else used the machine.
Usage: truth.py [SEEDS] [SECONDS] [JOBS]"""

import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from lib import Table, squall
from queues import theory

SEEDS, SECONDS, JOBS = ([int(word) for word in sys.argv[1:]] + [20, 240, 8][len(sys.argv) - 1:])[:3]
# Servers, load, mean service time in ms. A queue forgets its past the slower the more it is loaded, so that
# runs of one length know its times as well only if it serves faster; where it forgets fast, a slow one
# keeps the wake-ups of this machine (some 0.06 ms) far below the width of the intervals.
QUEUES = [(1, 0.5, 5.0), (1, 0.8, 2.0), (1, 0.9, 0.8), (4, 0.5, 30.0), (4, 0.8, 8.0), (4, 0.9, 3.0)]

PLAN = """
target: builtin
seed: {seed}
scenarios:
  user:
    load: {{rate: {rate}/s, arrivals: poisson, for: {length}s, max_users: 20000}}
    steps: [{{get: "/queue?servers={servers}&mean={service}"}}]
"""


def prompt():
    """For a child: real-time priority, if that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except PermissionError:
        pass


@contextmanager
def awake():
    """No processor sleeps in this block: a loop of the lowest priority runs on each."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"],
                              preexec_fn=lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
             for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()


def run(servers, load, service, seed):
    """The steady part of one run: its intervals, times in ms, and of the utilisation U = X S / c (the
    utilisation law: rate times mean service over the number of servers)."""
    rate = servers * load / service * 1e3
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.yaml"
        plan.write_text(PLAN.format(seed=seed, rate=f"{rate:g}", length=SECONDS,
                                    servers=servers, service=service))
        command = [squall(), "run", str(plan), "--out", folder, "-w", "1", "--quiet", "--json", "-"]
        output = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS + 60,
                                preexec_fn=prompt).stdout
    found = json.loads(output)["steady"]["confidence"]
    scale = {"mean": 1e-3, "p50": 1e-3, "p99": 1e-3, "rate": service / 1e3 / servers}
    return {"utilisation" if key == "rate" else key:
            {name: found[key][name] * by for name in ("value", "low", "high") if found[key][name] is not None}
            for key, by in scale.items()}


squall()
tasks = [(queue, seed) for queue in QUEUES for seed in range(1, SEEDS + 1)]
random.Random(1).shuffle(tasks)
runs = {queue: [] for queue in QUEUES}
with awake(), ThreadPoolExecutor(JOBS) as pool:
    for (queue, _), one in zip(tasks, pool.map(lambda task: run(*task[0], task[1]), tasks)):
        runs[queue].append(one)

table = Table("queue", "load", "service", "value", "theory, ms", "measured, ms (mean of seeds)", "error",
              "half an interval", "within its interval", "at least", "hold")
total, shown = 0, 0
for servers, load, service in QUEUES:
    own = runs[servers, load, service]
    mean, quantile = theory(servers, load, service)
    for key, truth in (("mean", mean), ("p50", quantile(0.5)), ("p99", quantile(0.99)), ("utilisation", load)):
        known = [one[key] for one in own if "high" in one[key]]
        held = sum(one["low"] <= truth <= one["high"] for one in known)
        total, shown = total + held, shown + len(known)
        measured = sum(one[key]["value"] for one in own) / SEEDS
        bounds = [one[key] for one in own if "low" in one[key] and "high" not in one[key]]
        bounds_held = sum(one["low"] <= truth for one in bounds)
        half = sum(one["high"] - one["low"] for one in known) / 2 / max(len(known), 1)
        table.row(f"M/M/{servers}", f"{load:.0%}", f"{service:g} ms", key, f"{truth:.3f}", f"{measured:.3f}",
                  f"{(measured / truth - 1) * 100:+.1f} %", f"{half / truth * 100:.1f} %", f"{held} of {len(known)}",
                  len(bounds), f"{bounds_held} of {len(bounds)}")
print(f"\nIn all {total} of {shown} intervals ({total / shown:.1%}; promised: 95 %).")
