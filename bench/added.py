#!/usr/bin/env python3
"""What a generator adds to the times that it reports: the built-in target answers after 10 ms, and all that
is more was added by the machine (the same for all) and by the generator. squall and k6, on one processor,
at three rates. Usage: added.py [RUNS] [SECONDS]"""

import json
import sys
import tempfile
from pathlib import Path

from lib import GENERATOR_CPU, Table, load, median, need, run, spread, target

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [3, 10][len(sys.argv) - 1:])[:2]
DELAY_MS, USERS = 10, 2000
RATES = (100, 5_000, 20_000)

PLAN = """
target: {url}
scenarios:
  user: {{load: {{rate: {rate}/s, for: {seconds}s, max_users: {users}}}, steps: [{{get: /delay/{delay}}}]}}
"""

SCRIPT = """
import http from 'k6/http';
export const options = {{
  discardResponseBodies: true,
  summaryTrendStats: ['avg', 'med', 'p(99)', 'max'],
  scenarios: {{ user: {{ executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', duration: '{seconds}s',
    preAllocatedVUs: {vus}, maxVUs: {users} }} }},
}};
export default function () {{ http.get('{url}'); }}
"""


def squall_run(server, rate, folder):
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=server.url(""), rate=rate, seconds=SECONDS, users=USERS, delay=DELAY_MS))
    result = load(["run", str(plan), "--out", str(folder), "-w", "1"])
    times = {name: result["json"]["totals"]["latency_us"][name] / 1e3 for name in ("mean", "p50", "p99", "max")}
    return times | {"count": result["requests"], "us": result["us"]}


def k6_run(server, rate, folder):
    script, summary = folder / "script.js", folder / "summary.json"
    # A user for each request that is under way, and as many again.
    vus = min(USERS, max(20, rate * DELAY_MS * 2 // 1000))
    script.write_text(SCRIPT.format(rate=rate, seconds=SECONDS, users=USERS, vus=vus, url=server.url(f"/delay/{DELAY_MS}")))
    result = run(["k6", "run", "--quiet", "--no-usage-report", "--summary-export", str(summary), str(script)],
                 GENERATOR_CPU)
    metrics = json.loads(summary.read_text())["metrics"]
    own, count = metrics["http_req_duration"], metrics["http_reqs"]["count"]
    return {"mean": own["avg"], "p50": own["med"], "p99": own["p(99)"], "max": own["max"], "count": count,
            "us": result["cpu"] / count * 1e6}


need("k6")
with target() as server, tempfile.TemporaryDirectory() as name:
    table = Table("rate", "tool", "sent of what was asked", "mean added, ms", "p50 added, ms",
                  "p99 added, ms (lowest..highest run)", "max added, ms", "CPU a request, µs")
    for rate in RATES:
        tools = {"squall": squall_run, "k6": k6_run}
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
