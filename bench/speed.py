#!/usr/bin/env python3
"""Users with a speed: 100 users, each with 2 Mbit/s, get (and send) as much as takes 20 s at that speed.
Usage: speed.py"""

import tempfile
from pathlib import Path

from lib import Table, load, target

USERS, SECONDS, SPEED = 100, 20, 250_000
PLAN = """
target: {url}
bandwidth: 2Mbit/s
scenarios:
  phone: {{load: {{users: {users}, ramp: 5s, iterations: 1}}, steps: [{step}]}}
"""


def measure(table, name, step, server, folder):
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=server.url(""), users=USERS, step=step))
    result = load(["run", str(plan), "--out", str(folder), "-w", "1"])
    times = result["json"]["totals"]["latency_us"]
    speeds = [SPEED * SECONDS / times[key] * 1e6 * 8 / 1e6 for key in ("max", "min")]
    worst = max(abs(speed / 2 - 1) for speed in speeds)
    errors = result["json"]["totals"]["errors"]
    table.row(name, f"{speeds[0]:.3f}", f"{speeds[1]:.3f}", f"{worst:.2%}", "3 %",
              table.goal(worst <= 0.03 and errors == 0), f"{result['cpu'] / result['wall']:.1%}", f"{result['rss']:.1f}")


with target() as server, tempfile.TemporaryDirectory() as folder:
    table = Table("100 users at 2 Mbit/s", "slowest user, Mbit/s", "fastest", "furthest off", "goal", "", "processor",
                  "peak RSS MiB")
    folder, bytes = Path(folder), SPEED * SECONDS
    measure(table, "download of 5 MB", f"{{get: /bytes/{bytes}, response_body: discard}}", server, folder)
    (folder / "big.bin").write_bytes(bytes * b"x")
    measure(table, "upload of 5 MB", "{post: /upload, body: {file: big.bin}}", server, folder)
table.end()
