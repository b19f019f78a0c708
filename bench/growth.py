#!/usr/bin/env python3
"""Memory and CPU a request with 1 to 1,000,000 users over shared connections: as fast as they can, and with a
pace that makes 1,000 requests a second of up to 60,000. Usage: growth.py [SECONDS] [MOST USERS]"""

import sys
import tempfile
from pathlib import Path

from lib import Table, load, nginx

SECONDS, MOST = ([int(word) for word in sys.argv[1:]] + [10, 1_000_000][len(sys.argv) - 1:])[:2]
PLAN = """
target: {url}
connections: {{reuse: pool, pool_size: 64}}
warmup: none
scenarios:
  user: {{load: {{users: {users}, {how}for: {seconds}s}}, steps: [{{get: /page}}]}}
"""


def grown(server, users, how, seconds):
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.yaml"
        plan.write_text(PLAN.format(url=server.url(""), users=users, how=how, seconds=seconds))
        return load(["run", str(plan), "--out", folder, "-w", "1"])


with nginx() as server:
    table = Table("users", "as fast as they can: requests/s", "µs CPU a request", "peak RSS MiB",
                  "a request each so long", "requests/s", "µs CPU a request", "peak RSS MiB", "bytes a user")
    one = None
    for users in (10**power for power in range(7) if 10**power <= MOST):
        fast = grown(server, users, "", SECONDS)
        # They start over one pace, and make two each.
        pace = min(max(users / 1_000, 0.001), 60)
        paced = grown(server, users, f"ramp: {pace:g}s, pacing: {pace:g}s, ", max(SECONDS, 2 * pace))
        one = one or paced
        seconds = [run["json"]["elapsed_s"] for run in (fast, paced)]
        each = (paced["rss"] - one["rss"]) * 2**20 / users
        table.row(f"{users:,}", f"{fast['requests'] / seconds[0]:,.0f}", f"{fast['us']:.2f}", f"{fast['rss']:.1f}",
                  f"{pace:g} s", f"{paced['requests'] / seconds[1]:,.0f}", f"{paced['us']:.1f}", f"{paced['rss']:.1f}",
                  f"{each:,.0f}" if users >= 1_000 else "")
table.end()
