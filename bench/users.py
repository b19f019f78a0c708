#!/usr/bin/env python3
"""Many users: the mix of a published stress test with 40,000 (`examples/mix.yaml`), and a million with a
request a minute each over 200 shared connections. Usage: users.py [mix] [million]"""

import sys
import tempfile
from pathlib import Path

from lib import ROOT, Table, load, target

# Delays of the built-in target, in ms.
MIX = {"GET /slow": 3500, "GET /cacheable": 0, "GET /uncacheable": 2000, "POST /slow": 4000}
MILLION = """
target: {url}
connections: {{reuse: pool, pool_size: 200}}
scenarios:
  user: {{load: {{users: 1000000, ramp: 60s, pacing: 60s, for: 150s}}, steps: [{{get: /}}]}}
"""


def mix(table, server):
    with tempfile.TemporaryDirectory() as folder:
        result = load(["run", str(ROOT / "examples/mix.yaml"), "--target", server.url(""), "--out", folder, "-w", "1"])
    run = result["json"]
    requests = {row["name"]: row for row in run["requests"]}
    count = sum(requests[name]["count"] for name in MIX)
    expected = sum(requests[name]["count"] * delay for name, delay in MIX.items()) / count
    mean = run["totals"]["latency_us"]["mean"] / 1e3
    late = run["generator"]["send_delay_us"]["p99"] / 1e3
    table.row("40,000 users, mix", "mean of the latency less that of the delays", f"{mean - expected:+.2f} ms of {expected:,.0f}",
              "2 ms", table.goal(abs(mean - expected) <= 2))
    common(table, "40,000 users, mix", result, late, 120, 25)
    errors = run["totals"]["errors"]
    table.row("40,000 users, mix", "requests, errors", f"{count:,}, {errors}", "no errors", table.goal(errors == 0))


def million(table, server):
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "million.yaml"
        plan.write_text(MILLION.format(url=server.url("")))
        result = load(["run", str(plan), "--out", folder, "-w", "1"])
    run = result["json"]
    rows = [row for row in run["series"] if 65 <= row["second"] < 145]
    rate = sum(row["requests"] for row in rows) / sum(row["seconds"] for row in rows)
    wanted = 1e6 / 60
    table.row("1,000,000 users", "rate", f"{rate:,.0f}/s ({(rate / wanted - 1) * 100:+.2f} %)", "0.5 %",
              table.goal(abs(rate / wanted - 1) <= 0.005))
    common(table, "1,000,000 users", result, run["generator"]["send_delay_us"]["p99"] / 1e3, 600, None)


def common(table, name, result, late, rss, busy):
    table.row(name, "p99 of the send delay", f"{late:.2f} ms", "5 ms", table.goal(late <= 5))
    table.row(name, "peak RSS", f"{result['rss']:.0f} MiB", f"{rss} MiB", table.goal(result["rss"] <= rss))
    used = result["cpu"] / result["json"]["elapsed_s"] * 100
    table.row(name, "processor", f"{used:.0f} % of one", f"{busy} %" if busy else "",
              table.goal(used <= busy) if busy else "")


with target() as server:
    table = Table("test", "figure", "measured", "goal", "")
    for name, test in (("mix", mix), ("million", million)):
        if not sys.argv[1:] or name in sys.argv[1:]:
            test(table, server)
table.end()
