#!/usr/bin/env python3
"""CPU time a request of the built-in target against nginx, both loaded by wrk. Usage: target.py [RUNS]"""

import statistics
import sys

from lib import Table, nginx, target, wrk

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SECONDS = 5

table = Table("server", "µs CPU a request", "ratio", "goal", "")
with nginx() as peer, target() as ours:
    costs = {peer: [], ours: []}
    for _ in range(RUNS):
        for server in (peer, ours):
            before = server.cpu_seconds()
            requests = wrk(server.url("/"), 64, SECONDS)["requests"]
            costs[server].append((server.cpu_seconds() - before) / requests * 1e6)
    nginx_cost, own_cost = statistics.median(costs[peer]), statistics.median(costs[ours])
    table.row("nginx", f"{nginx_cost:.2f}", "", "", "")
    ratio = own_cost / nginx_cost
    table.row("built-in target", f"{own_cost:.2f}", f"{ratio:.2f}", "1.5", table.goal(ratio <= 1.5))
table.end()
