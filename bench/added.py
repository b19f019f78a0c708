#!/usr/bin/env python3
"""What a generator adds to the times that it reports: the built-in target answers after 10 ms, and all that
is more was added by the machine (the same for all) and by the generator. squall and wrk, on one processor,
at three rates. wrk has none: it has as many connections as make the rate when each response takes 10 ms, so that it sends a
little less. Usage: added.py [RUNS] [SECONDS]"""

import re
import sys
import tempfile
from pathlib import Path

from lib import Table, load, median, spread, target, wrk

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [3, 10][len(sys.argv) - 1:])[:2]
DELAY_MS, USERS = 10, 2000
RATES = (100, 5_000, 20_000)

PLAN = """
target: {url}
scenarios:
  user: {{load: {{rate: {rate}/s, for: {seconds}s, max_users: {users}}}, steps: [{{get: /delay/{delay}}}]}}
"""


def squall_run(server, rate, folder):
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=server.url(""), rate=rate, seconds=SECONDS, users=USERS, delay=DELAY_MS))
    result = load(["run", str(plan), "--out", str(folder), "-w", "1"])
    times = {name: result["json"]["totals"]["latency_us"][name] / 1e3 for name in ("mean", "p50", "p99", "max")}
    return times | {"count": result["requests"], "us": result["us"]}


def milliseconds(text):
    """A time as wrk writes it."""
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 60e3}[unit]


def wrk_run(server, rate, _):
    result = wrk(server.url(f"/delay/{DELAY_MS}"), rate * DELAY_MS // 1000, SECONDS, ["--latency"])
    mean, maximum = re.search(r"Latency +(\S+) +\S+ +(\S+)", result["text"]).groups()
    times = {f"p{percent}": milliseconds(time) for percent, time in re.findall(r"(50|99)% +(\S+)", result["text"])}
    return times | {"mean": milliseconds(mean), "max": milliseconds(maximum), "count": result["requests"], "us": result["us"]}


with target() as server, tempfile.TemporaryDirectory() as name:
    table = Table("rate", "tool", "sent of what was asked", "mean added, ms", "p50 added, ms",
                  "p99 added, ms (lowest..highest run)", "max added, ms", "CPU a request, µs")
    for rate in RATES:
        tools = {"squall": squall_run, "wrk": wrk_run}
        runs = {tool: [] for tool in tools}
        for _ in range(RUNS):
            for tool, one in tools.items():
                runs[tool].append(one(server, rate, Path(name)))
        for tool, own in runs.items():
            for one in own:
                one.update({key: one[key] - DELAY_MS for key in ("mean", "p50", "p99", "max")})
            table.row(f"{rate:,}/s", tool, f"{median(own, 'count') / (rate * SECONDS):.1%}", f"{median(own, 'mean'):.3f}",
                      f"{median(own, 'p50'):.3f}", f"{median(own, 'p99'):.3f} ({spread(own, 'p99')})",
                      f"{median(own, 'max'):.1f}", f"{median(own, 'us'):.0f}")
