#!/usr/bin/env python3
"""Pages: 64 users, each of whom gets the 20 resources of a page over 6 connections at a time, with squall
(`parallel`) and k6 (`http.batch`); CPU time a resource, in alternated runs, counted by nginx.
`peers/install.sh FOLDER k6` installs k6. Usage: page.py [RUNS] [SECONDS]"""

import sys
import tempfile
from pathlib import Path

from lib import GENERATOR_CPU, ROOT, Table, counted, load, median, need, nginx, run, spread

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [5, 10][len(sys.argv) - 1:])[:2]
USERS, GOAL = 64, 5
PLAN = """
target: {url}
scenarios:
  user:
    load: {{users: {users}, for: {seconds}s}}
    steps:
      - parallel:
          limit: 6
          steps:
""" + "".join(f"            - {{{{get: /page/{number}, check: status == 200}}}}\n" for number in range(1, 21))


def squall_run(server, folder):
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=server.url(""), users=USERS, seconds=SECONDS))
    result = load(["run", str(plan), "--out", str(folder), "-w", "1"])
    assert result["json"]["totals"]["errors"] == 0, result["json"]["log"]
    return result


def k6_run(server, _):
    variables = {"URL": server.url(""), "USERS": USERS, "SECONDS": SECONDS}
    words = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    result = run(["k6", "run", "--quiet", "--no-usage-report", *words, str(ROOT / "bench/peers/page.js")], GENERATOR_CPU)
    if result["code"] != 0:
        sys.exit(f"k6 ended with code {result['code']}")
    return result


need("k6")
tools = {"squall": squall_run, "k6": k6_run}
with nginx() as server, tempfile.TemporaryDirectory() as name:
    runs = {tool: [] for tool in tools}
    for _ in range(RUNS):
        for tool, one in tools.items():
            runs[tool].append(counted(server, one, server, Path(name)))
    table = Table("tool", "µs CPU a resource", "of squall's", "goal, at least", "", "resources/s", "peak RSS MiB")
    least = median(runs["squall"], "us")
    for tool, own in runs.items():
        us, judged = median(own, "us"), tool == "k6"
        table.row(tool, f"{us:.2f} ({spread(own, 'us')})", f"{us / least:.1f}x", f"{GOAL}x" if judged else "",
                  table.goal(us >= GOAL * least) if judged else "", f"{median(own, 'served') / SECONDS:,.0f}",
                  f"{median(own, 'rss'):.0f}")
table.end()
