#!/usr/bin/env python3
"""Ramps: 100,000 users (a request each 10 s, over 200 shared connections) up in 20 s and down in 20 s, and 8,000
users down to 0 in 8 s. Peak memory, and how far the number of users and the rate of any second are off the plan,
as a share of the plan's highest. Usage: ramp.py [USERS] [SECONDS]"""

import sys
import tempfile
from pathlib import Path

from lib import Table, load, target

USERS, SECONDS = ([int(word) for word in sys.argv[1:]] + [100_000, 20][len(sys.argv) - 1:])[:2]
PACING, DOWN, DOWN_S = 10, 8_000, 8
RSS_MIB, OFF = 60, 0.01
PLAN = """
target: {url}
{connections}
warmup: none
scenarios:
  user: {{load: {{stages: [{stages}], {pacing}}}, steps: [{{get: /}}]}}
"""


def ran(server, stages, pacing="", connections="connections: {reuse: pool, pool_size: 200}"):
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.yaml"
        stages = ", ".join(f"{{users: {users}, over: {over}}}" for users, over in stages)
        plan.write_text(PLAN.format(url=server.url(""), stages=stages, pacing=pacing, connections=connections))
        return load(["run", str(plan), "--out", folder, "-w", "1"])


def planned():
    """Most users, and starts of iterations, in each second of the large ramp. User n of N starts at n/N of the
    way up; the last to come is the first to go."""
    users, rate = [0] * (2 * SECONDS), [0] * (2 * SECONDS)
    for second in range(SECONDS):
        users[second] = users[2 * SECONDS - 1 - second] = USERS * (second + 1) // SECONDS
    for number in range(USERS):
        at = number / USERS * SECONDS
        # The one at the top begins and ends in the same moment.
        while at < 2 * SECONDS - number / USERS * SECONDS:
            rate[int(at)] += 1
            at += PACING
    return users, rate


def furthest(series, key, plan):
    """The largest difference to the plan in any second, as a share of the plan's highest second."""
    measured = {row["second"]: row[key] for row in series}
    return max(abs(measured.get(second, 0) - value) for second, value in enumerate(plan)) / max(plan)


def memory(table, name, result):
    table.row(name, "peak RSS", f"{result['rss']:.1f} MiB", f"{RSS_MIB} MiB", table.goal(result["rss"] <= RSS_MIB))
    errors = result["json"]["totals"]["errors"]
    table.row(name, "requests, errors", f"{result['requests']:,}, {errors}", "no errors", table.goal(errors == 0))
    used = result["cpu"] / result["json"]["elapsed_s"]
    table.row(name, "processor", f"{used:.0%} of one", "", "")


with target() as server:
    table = Table("ramp", "figure", "measured", "goal", "")
    name = f"{USERS:,} users up in {SECONDS} s, down in {SECONDS} s"
    result = ran(server, [(USERS, f"{SECONDS}s"), (0, f"{SECONDS}s")], f"pacing: {PACING}s")
    for key, what, plan in zip(("users", "requests"), ("users", "requests/s"), planned()):
        off = furthest(result["json"]["series"], key, plan)
        table.row(name, f"{what}, furthest off in any second", f"{off:.2%} of {max(plan):,}", f"{OFF:.0%}", table.goal(off <= OFF))
    memory(table, name, result)
    for kind, connections in (("200 shared connections", "connections: {reuse: pool, pool_size: 200}"), ("a connection each", "")):
        memory(table, f"{DOWN:,} users to 0 in {DOWN_S} s, as fast as they can, {kind}",
               ran(server, [(DOWN, "0s"), (0, f"{DOWN_S}s")], connections=connections))
table.end()
