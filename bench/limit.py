#!/usr/bin/env python3
"""Is the limit found where theory says that it is? `squall limit` against M/M/c with 1, 4 and 16 servers,
whose p99 is known for each rate, all three at the same time (each takes a twentieth of a processor), and against nginx
that may have only so many connections.
Usage: limit.py [STEP_S]"""

import concurrent.futures
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import Server, Table, free_port, need, pinned, squall
from queues import quantile_at

STEP_S = int(sys.argv[1]) if len(sys.argv) > 1 else 20
# Where no load level met the requirement.
NONE = {"level": 0, "low": 0, "high": 0}
# Servers, mean service time in ms, required p99 in ms.
QUEUES = [(1, 2.0, 40), (4, 8.0, 60), (16, 32.0, 200)]

PLAN = """
target: {target}
scenarios:
  user: {{load: {{rate: 10/s, arrivals: poisson, for: 10s}}, steps: [{{get: "{path}"}}]}}
"""


def limit(plan, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.yaml"
        path.write_text(plan)
        command = [squall(), "limit", str(path), "--step", f"{STEP_S}s", "-o", folder, "-q", "-w", "1", "--json", "-"]
        output = subprocess.run(command + list(arguments), capture_output=True, text=True, timeout=3600)
    return json.loads(output.stdout)


def analytic(servers, service, p99):
    """The rate a second at which p99 is reached."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if quantile_at(servers, middle, service, 0.99) < p99 else (low, middle)
    return low * servers / service * 1e3


def small_nginx(connections):
    """nginx with one worker that may have so many connections, its listener among them."""
    need("nginx")
    port, folder = free_port(), Path(tempfile.mkdtemp(prefix="squall-bench-"))
    (folder / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; pid {folder}/pid; error_log /dev/null crit;
events {{ worker_connections {connections}; }}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; location / {{ return 200 "ok"; }} }} }}
""")
    return Server(pinned(1, ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]), port)


def search(queue):
    servers, service, p99 = queue
    path = f"/queue?servers={servers}&mean={service:g}"
    return limit(PLAN.format(target="builtin", path=path), "--require", f"p99 < {p99}ms")


table = Table("target", "requirement", "right answer", "found", "its interval", "error", "steps", "goal", "")
with concurrent.futures.ThreadPoolExecutor() as pool:
    searches = list(pool.map(search, QUEUES))
for (servers, service, p99), found in zip(QUEUES, searches):
    right = analytic(servers, service, p99)
    maximum, steps = found["sustained_maximum"] or NONE, len(found["steps"])
    error = maximum["level"] / right - 1
    table.row(f"M/M/{servers}, {service:g} ms", f"p99 < {p99} ms", f"{right:.0f}/s", f"{maximum['level']:.0f}/s",
              f"{maximum['low']:.0f} to {maximum['high']:.0f}", f"{error * 100:+.1f} %", steps, "5 %, 15 steps",
              table.goal(abs(error) <= 0.05 and steps <= 15))
with small_nginx(64) as server:
    plan = PLAN.format(target=server.url(""), path="/").replace("rate: 10/s, arrivals: poisson", "users: 1")
    # Each user has its connection; without repeats one that nginx closes for want of another is seen.
    plan = "defaults: {retry_stale: false}" + plan.replace("steps: [", "steps: [{think: 20ms}, ")
    found = limit(plan, "--require", "error_rate < 0.1%", "--by", "users")
    maximum, steps = found["sustained_maximum"] or NONE, len(found["steps"])
    # One of the 64 is the listener's, one the cycle's channel where there is a master process; and nginx closes idle ones when
    # no more than a sixteenth are free (ngx_drain_connections, since 1.19.10).
    table.row("nginx with 64 connections", "error_rate < 0.1 %", "57 to 59 users", f"{maximum['level']:.0f} users",
              f"{maximum['low']:.0f} to {maximum['high']:.0f}", found["violated_first"], steps, "", table.goal(57 <= maximum["level"] <= 59))
table.end()
