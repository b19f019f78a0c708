#!/usr/bin/env python3
"""How long the load of a node that is killed (-9) stands still: of three nodes one is killed in the middle of a run; from that moment
until its shards are given to the others, and until these drive them, by the events and the coverage of the run.
Usage: loss.py [ROUNDS] [LEASE_S ...]"""

import json
import signal
import statistics
import sys
import time

from machines import Fleet

from lib import Table, target

ROUNDS, LEASES = int((sys.argv[1:] or [4])[0]), [int(word) for word in sys.argv[2:]] or [3, 15]
# Seconds beyond the lease.
GOAL = 2
# Seconds of the run before the kill, and after the load goes on.
BEFORE, AFTER = 6, 5
RATE, NODES = 60, 3


def lost(server, lease, number):
    """Seconds from the kill until the shards were given away, and until they were driven again; cells that are neither driven nor
    listed, and nodes of which cells are listed."""
    with Fleet() as fleet:
        plan, out = fleet.folder / "plan.yaml", fleet.folder / "run.json"
        plan.write_text(f"target: {server.url('')}\nscenarios:\n  a:\n"
                        f"    load: {{rate: {RATE}/s, for: {BEFORE + lease + AFTER}s, max_users: 50}}\n"
                        "    steps: [{get: /bytes/100}]\n")
        nodes = [fleet.node(f"n{node}") for node in range(1, NODES + 1)]
        for node in nodes:
            node.said("waits for a run")
        control = fleet.control(["run", plan, "--lease", f"{lease}s", "--out", fleet.folder / "runs", "--json", out], NODES)
        control.said("the load starts on")
        # At another moment of its second in each round.
        time.sleep(BEFORE + number / ROUNDS)
        killed = time.time()
        nodes[0].child.send_signal(signal.SIGKILL)
        given = control.said("has shards")[0]
        control.wait()
        run = json.loads(out.read_text())
    cells = run["fleet"]["cells"]
    at = next(event["at_s"] for event in run["fleet"]["events"] if "has shards" in event["text"])
    again = max((gap["to_s"] for gap in cells["missing"]), default=-1) + 1
    listed = sum(gap["to_s"] - gap["from_s"] + 1 for gap in cells["missing"])
    return {"given": given - killed, "again": again - at + given - killed,
            "unknown": cells["cells"] - cells["driven"] - listed, "of": sorted({gap["node"] for gap in cells["missing"]})}


with target() as server:
    rounds = {lease: [lost(server, lease, number) for number in range(ROUNDS)] for lease in LEASES}
table = Table("lease, s", "kills", "shards given to others after, s: median, most", "goal: s, most", "", "driven again after, s: median, most",
              "cells neither driven nor listed", "")
for lease, those in rounds.items():
    given, again = [own["given"] for own in those], [own["again"] for own in those]
    unknown = sum(abs(own["unknown"]) for own in those)
    table.row(lease, len(those), f"{statistics.median(given):.1f}, {max(given):.1f}", lease + GOAL,
              table.goal(max(given) <= lease + GOAL), f"{statistics.median(again):.1f}, {max(again):.1f}", unknown,
              table.goal(unknown == 0 and all(own["of"] == ["n1"] for own in those)))
print("\nShards are driven again from the next whole second on that their new nodes can still be told of.")
table.end()
