#!/usr/bin/env python3
"""CPU time a request against wrk, in alternated runs. Usage: cpu.py [RUNS] [SECONDS]"""

import sys
import tempfile

from lib import Table, counted, load, median, nginx, spread, target, wrk

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 10

PLAN = """
name: ten
target: URL
scenarios:
  user:
    load: {users: 64, for: SECONDSs}
    steps:
""" + "".join(f"""
      - get: /page/{name}
        check: status == 200
        extract: {{word: {{between: [abc, xyz]}}}}
""" for name in "abcdefghij")


def compare(table, name, users, goal, arguments, server, more=(), path="/page"):
    """Alternates wrk and squall; one row. `more`: arguments of both."""
    theirs, ours = [], []
    for _ in range(RUNS):
        for runs, one, words in ((theirs, wrk, (server.url(path), users, SECONDS, more)), (ours, load, ([*arguments, *more],))):
            # Only nginx counts.
            runs.append(counted(server, one, *words) if path == "/page" else one(*words))
    errors = sum(run["json"]["totals"]["errors"] for run in ours)
    ratio = median(ours, "us") / median(theirs, "us")
    table.row(name, f"{median(theirs, 'us'):.2f} ({spread(theirs, 'us')})",
              f"{median(ours, 'us'):.2f} ({spread(ours, 'us')})", f"{ratio:.2f}",
              f"{goal:.1f}", table.goal(ratio <= goal and errors == 0),
              f"{median(ours, 'requests') / SECONDS:,.0f}", f"{median(ours, 'rss'):.1f}")


with nginx() as server:
    table = Table("what", "wrk, µs a request", "squall, µs a request", "ratio", "goal", "", "squall, requests/s",
                  "squall, peak RSS MiB")
    for users, goal in ((64, 0.6), (512, 0.6)):
        arguments = [server.url("/page"), "-c", str(users), "-d", f"{SECONDS}s"]
        compare(table, f"one URL, {users} connections", users, goal, arguments, server)
    arguments = [server.url("/page"), "-c", "64", "-d", f"{SECONDS}s"]
    compare(table, "a new connection for each request, 64 at a time", 64, 0.9, arguments, server,
            ["-H", "Connection: close"])
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as plan, tempfile.TemporaryDirectory() as out:
        plan.write(PLAN.replace("URL", server.url("")).replace("SECONDS", str(SECONDS)))
        plan.flush()
        arguments = ["run", plan.name, "--out", out]
        compare(table, "plan of 10 requests, check and extract, 64 users", 64, 0.9, arguments, server)
with nginx(tls=True) as server:
    arguments = ["-k", server.url("/page"), "-c", "64", "-d", f"{SECONDS}s"]
    compare(table, "HTTPS, TLS 1.3, 64 connections", 64, 1.0, arguments, server)
with target() as server:
    # wrk has no rates: it makes 20,000 a second of 64 connections where each answer takes 3.2 ms.
    arguments = [server.url("/delay/3"), "-c", "64", "-d", f"{SECONDS}s"]
    compare(table, "some 20,000/s: 64 connections, answers that take 3 ms", 64, 0.9, arguments, server, path="/delay/3")
table.end()
