#!/usr/bin/env python3
"""A plan of 10 requests, each response checked and a value taken from it, with squall, JMeter and Gatling: CPU time
a request as the server counts them, from the start of the process to its end and in its second half alone
(so that virtual machines are warm). Usage: peers.py [SECONDS] [TOOL ...]"""

import statistics
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Table, in_halves, need, nginx, squall

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 30
USERS, RUNS = 64, 3
HERE = ROOT / "bench/peers"
PLAN = """
target: {url}
scenarios:
  user:
    load: {{users: {users}, for: {seconds}s}}
    steps:
""" + "".join(f"""
      - get: /page/{name}
        check: status == 200
        extract: {{{{word: {{{{between: [abc, xyz]}}}}}}}}
""" for name in "abcdefghij")


def commands(server, folder):
    """The command line of each tool."""
    url = server.url("")
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=url, users=USERS, seconds=SECONDS))
    return {
        "squall": [squall(), "run", str(plan), "--out", str(folder), "-w", "1", "--quiet"],
        "JMeter": ["jmeter", "-n", "-t", str(HERE / "ten.jmx"), "-j", str(folder / "jmeter.log"), f"-Jport={server.port}",
                   f"-Jusers={USERS}", f"-Jseconds={SECONDS}"],
        "Gatling": ["gatling", "Ten", f"-Durl={url}", f"-Dusers={USERS}", f"-Dseconds={SECONDS}"],
    }


wanted = sys.argv[2:]
need(*(tool.lower() for tool in wanted or ("JMeter", "Gatling")))
GOALS = {"JMeter": 10, "Gatling": 2.5}
with nginx() as server, tempfile.TemporaryDirectory() as name:
    table = Table("tool", "µs CPU a request, second half (lowest..highest)", "of squall's", "goal, at least", "",
                  "whole run", "requests/s, second half", "peak RSS MiB", "first requests after s")
    tools = {tool: command for tool, command in commands(server, Path(name)).items()
             if not wanted or tool == "squall" or tool in wanted}
    runs = {tool: [] for tool in tools}
    for _ in range(RUNS):
        for tool, command in tools.items():
            runs[tool].append(in_halves(server, command, SECONDS))
    median = {tool: {key: statistics.median(run[key] for run in own) for key in own[0]} for tool, own in runs.items()}
    for tool, own in median.items():
        ratio, goal = own["warm"] / median["squall"]["warm"], GOALS.get(tool)
        warm = sorted(run["warm"] for run in runs[tool])
        table.row(tool, f"{own['warm']:.2f} ({warm[0]:.2f}..{warm[-1]:.2f})", f"{ratio:.1f}x", f"{goal}x" if goal else "",
                  table.goal(ratio >= goal) if goal else "", f"{own['whole']:.2f}", f"{own['rate']:,.0f}",
                  f"{own['rss']:.0f}", f"{own['start']:.1f}")
table.end()
