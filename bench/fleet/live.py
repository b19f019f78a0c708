#!/usr/bin/env python3
"""How late a second is seen: from its end until the controller hands it to its outputs (here JSON lines on standard output, each read as it
comes; the live view and the page get it at the same time), with 20 nodes on this machine, and of a squall alone. What 1,000 simulated nodes
take until a second is merged is in publishers.py.
Usage: live.py [NODES] [SECONDS]"""

import json
import sys

from machines import Fleet

from lib import Table, squall, target

NODES, SECONDS = ([int(word) for word in sys.argv[1:]] + [20, 60][len(sys.argv) - 1:])[:2]
GOAL_MS = 1_000
# Requests a second of each node, which are not what is measured.
RATE = 20


def plan(folder, server, rate):
    path = folder / "plan.yaml"
    path.write_text(f"target: {server.url('')}\nscenarios:\n  a:\n    load: {{rate: {rate}/s, for: {SECONDS}s, max_users: 1000}}\n"
                    "    steps: [{get: /bytes/100}]\n")
    return path


def lateness(process):
    """How many ms after its end each second was seen, the last one left out, which ends with the load."""
    process.wait()
    seen = {}
    for at, line in process.lines:
        point = json.loads(line) if line.startswith("{") else {}
        if point.get("measurement") == "squall_load":
            seen.setdefault(point["second"], (at - point["time"] - 1) * 1e3)
    return sorted(seen[second] for second in seen if second < SECONDS - 1)


def row(table, name, late, goal):
    at = lambda share: late[min(int(share * len(late)), len(late) - 1)]  # noqa: E731: it is short
    met = table.goal(len(late) >= SECONDS - 2 and at(0.99) <= GOAL_MS) if goal else ""
    table.row(name, len(late), *(f"{at(share):.0f}" for share in (0.5, 0.99, 1)), GOAL_MS if goal else "", met)


with target() as server:
    table = Table("", "seconds", "seen after, ms: median", "p99", "most", "goal: p99", "")
    outputs = ["--quiet", "--out", "jsonl=-"]
    with Fleet() as fleet:
        runs = ["--out", fleet.folder / "runs"]
        alone = fleet.run([squall(), "run", plan(fleet.folder, server, RATE * NODES), *outputs, *runs])
        row(table, "alone", lateness(alone), False)
        for node in [fleet.node(f"n{number}") for number in range(NODES)]:
            node.said("waits for a run")
        run = fleet.control(["run", plan(fleet.folder, server, RATE * NODES), *outputs, *runs], NODES)
        row(table, f"{NODES} nodes", lateness(run), True)
table.end()
