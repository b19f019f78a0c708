#!/usr/bin/env python3
"""CPU time a request over HTTP/2 against h2load, in alternated runs against nginx: 64 streams of one
connection, and 64 connections with a stream each. Usage: http2.py [--quick] [RUNS] [SECONDS]"""

import re
import sys
import tempfile

from lib import Table, load, median, need, nginx, run, spread

QUICK = "--quick" in sys.argv
NUMBERS = [int(text) for text in sys.argv[1:] if text.isdigit()]
RUNS = NUMBERS[0] if NUMBERS else 1 if QUICK else 5
SECONDS = NUMBERS[1] if len(NUMBERS) > 1 else 1 if QUICK else 10
GOAL = 1.2

PLAN = """
name: http2
target: URL
connections: {http: 2, reuse: pool, pool_size: CONNECTIONS, tls: {insecure: true}}
scenarios: {user: {load: {users: 64, for: SECONDSs}, steps: [{get: /page}]}}
"""


def h2load(url, connections, streams):
    need("h2load")
    result = run(["h2load", "-t1", f"-c{connections}", f"-m{streams}", f"-D{SECONDS}", url])
    requests, failed = (int(re.search(rf"(\d+) {word}", result["text"])[1]) for word in ("succeeded", "failed"))
    if failed:
        sys.exit(f"h2load: {failed} requests failed")
    result["requests"], result["us"] = requests, result["cpu"] / requests * 1e6
    return result


with nginx(http2=True) as plain, nginx(http2=True, tls=True) as tls:
    table = Table("what", "h2load, µs a request", "squall, µs a request", "ratio", "goal", "", "squall, requests/s",
                  "squall, peak RSS MiB")
    for server, kind in ((plain, "without TLS"), (tls, "TLS 1.3")):
        for connections, streams in ((1, 64), (64, 1)):
            theirs, ours = [], []
            text = PLAN.replace("URL", server.url("")).replace("SECONDS", str(SECONDS))
            for _ in range(RUNS):
                theirs.append(h2load(server.url("/page"), connections, streams))
                with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, tempfile.TemporaryDirectory() as out:
                    file.write(text.replace("CONNECTIONS", str(connections)))
                    file.flush()
                    ours.append(load(["run", file.name, "--out", out, "-w", "1"]))
            for result in ours:
                counters, totals = result["json"]["counters"], result["json"]["totals"]
                if totals["errors"] or counters["http2_connections"] < connections:
                    sys.exit(f"squall: {totals['error_kinds']}, {counters['http2_connections']} connections")
            ratio = median(ours, "us") / median(theirs, "us")
            table.row(f"{connections} connections with {streams} streams each, {kind}",
                      f"{median(theirs, 'us'):.2f} ({spread(theirs, 'us')})",
                      f"{median(ours, 'us'):.2f} ({spread(ours, 'us')})", f"{ratio:.2f}", f"{GOAL:.1f}",
                      table.goal(ratio <= GOAL), f"{median(ours, 'requests') / SECONDS:,.0f}",
                      f"{median(ours, 'rss'):.1f}")
table.end()
