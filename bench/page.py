#!/usr/bin/env python3
"""Pages: 64 users, each of whom gets the 20 resources of a page over 6 connections at a time (`parallel`), against wrk
with as many connections, which knows no pages; CPU time a resource, in alternated runs, counted by nginx.
Usage: page.py [RUNS] [SECONDS]"""

import sys
import tempfile
from pathlib import Path

from lib import Table, counted, load, median, nginx, spread, wrk

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [5, 10][len(sys.argv) - 1:])[:2]
USERS, AT_A_TIME, GOAL = 64, 6, 1.0
PLAN = """
target: {url}
scenarios:
  user:
    load: {{users: {users}, for: {seconds}s}}
    steps:
      - parallel:
          limit: {at_a_time}
          steps:
""" + "".join(f"            - {{{{get: /page/{number}, check: status == 200}}}}\n" for number in range(1, 21))


def squall_run(server, folder):
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=server.url(""), users=USERS, at_a_time=AT_A_TIME, seconds=SECONDS))
    result = load(["run", str(plan), "--out", str(folder), "-w", "1"])
    assert result["json"]["totals"]["errors"] == 0, result["json"]["log"]
    return result


def wrk_run(server, _):
    return wrk(server.url("/page/1"), USERS * AT_A_TIME, SECONDS)


tools = {"squall": squall_run, "wrk": wrk_run}
with nginx() as server, tempfile.TemporaryDirectory() as name:
    runs = {tool: [] for tool in tools}
    for _ in range(RUNS):
        for tool, one in tools.items():
            runs[tool].append(counted(server, one, server, Path(name)))
    table = Table("tool", "µs CPU a resource", "of wrk's", "goal, at most", "", "resources/s", "peak RSS MiB")
    theirs = median(runs["wrk"], "us")
    for tool, own in runs.items():
        us, judged = median(own, "us"), tool == "squall"
        table.row(tool, f"{us:.2f} ({spread(own, 'us')})", f"{us / theirs:.2f}", f"{GOAL:.1f}" if judged else "",
                  table.goal(us <= GOAL * theirs) if judged else "", f"{median(own, 'served') / SECONDS:,.0f}",
                  f"{median(own, 'rss'):.0f}")
table.end()
