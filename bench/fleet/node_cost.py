#!/usr/bin/env python3
"""What a node of a fleet costs beyond a squall that drives the same load alone: CPU time a request and peak memory, with one name of
requests and with 200. Both run in each round, one round in this order, the next in the other; each has one processor, and the server, the
target and the controller have the other. The node's CPU time is that since it waits for a run: it has measured its machine before.
Usage: node_cost.py [ROUNDS] [SECONDS] [RATE]: at least six rounds; so many requests a second"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

from machines import Fleet

from lib import GENERATOR_CPU, SERVER_CPU, Table, cpu_of, load, median, median_interval, nginx, spread

ROUNDS, SECONDS, RATE = ([int(word) for word in sys.argv[1:]] + [10, 10, 20_000][len(sys.argv) - 1:])[:3]
# Goals: at most so much more CPU time a request, unless the interval of the rounds says that it may be no more; and so many MiB.
MORE_CPU, MORE_MIB = 1.03, 8
NAMES = [1, 200]


def plan(folder, url, names):
    path = Path(folder) / "plan.yaml"
    name = f"page ${{random(1, {names})}}" if names > 1 else "page"
    path.write_text(f"target: {url}\nscenarios:\n  a:\n    load: {{rate: {RATE}/s, for: {SECONDS}s, max_users: 400}}\n"
                    f"    steps: [{{get: /page, name: \"{name}\"}}]\n")
    return path


def alone(path, out):
    result = load(["run", path, "-w", "1", "--out", out], GENERATOR_CPU)
    return checked({"cpu": result["cpu"], "rss": result["rss"]}, result["json"])


def as_node(path, out):
    with Fleet() as fleet:
        result = fleet.folder / "run.json"
        node = fleet.node("n1", GENERATOR_CPU)
        node.said("waits for a run")
        before = cpu_of(node.child.pid)
        control = fleet.control(["run", path, "-w", "1", "--quiet", "--out", out, "--json", result], 1, SERVER_CPU)
        control.wait()
        cpu, rss = node.wait()
        return checked({"cpu": cpu - before, "rss": rss}, json.loads(result.read_text()))


def checked(own, run):
    """With CPU time a request, if all were sent and none failed."""
    totals = run["totals"]
    if totals["errors"] or totals["count"] < 0.9 * RATE * SECONDS:
        sys.exit(f"{totals['count']} of {RATE * SECONDS} requests, {totals['errors']} errors: {totals['error_kinds']}; a lower rate?")
    return own | {"us": own["cpu"] / totals["count"] * 1e6}


if ROUNDS < 6:
    sys.exit("six rounds at least: fewer have no interval of 95 %")
table = Table("names", "alone, µs a request", "node, µs a request", "ratio: median of the rounds, interval", "goal", "", "alone, peak MiB",
              "node, peak MiB", "more", "goal", "")
with nginx() as server, tempfile.TemporaryDirectory() as folder:
    for names in NAMES:
        path, runs = plan(folder, server.url(""), names), {alone: [], as_node: []}
        for number in range(ROUNDS):
            for one in [alone, as_node] if number % 2 == 0 else [as_node, alone]:
                runs[one].append(one(path, folder))
        ratios = [node["us"] / lone["us"] for lone, node in zip(runs[alone], runs[as_node])]
        ratio, (low, high, coverage) = statistics.median(ratios), median_interval(ratios)
        rss = [median(own, "rss") for own in runs.values()]
        table.row(names, *(f"{median(own, 'us'):.2f} ({spread(own, 'us')})" for own in runs.values()),
                  f"{ratio:.3f}, {low:.3f} to {high:.3f}", MORE_CPU, table.goal(ratio <= MORE_CPU or low <= MORE_CPU),
                  *(f"{own:.1f}" for own in rss), f"{rss[1] - rss[0]:+.1f}", MORE_MIB, table.goal(rss[1] - rss[0] <= MORE_MIB))
print(f"\n{ROUNDS} rounds of {SECONDS} s with {RATE:,} requests a second; the intervals cover the median with {coverage:.1%}.")
table.end()
