#!/usr/bin/env python3
"""io_uring, which `--io auto` takes wherever there is one, beside epoll, in alternated runs: CPU time a request (counted by
nginx where it is the target), the rate, and how late requests are sent, which is where a ring that waits for
several things would show. The loads: as fast as they can with 64 and 512 connections; one user; even arrivals;
bursts (64 connections, responses that take 3 ms); a plan that mixes users with one that has a bandwidth; HTTPS.
The goals: io_uring costs at most 1.03x of epoll, and sends at most 50 µs later.
Usage: ring.py [RUNS] [SECONDS]"""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from lib import Table, counted, lateness, load, median, nginx, spread, target

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [5, 5][len(sys.argv) - 1:])[:2]
LATER_US, COST = 50, 1.03
BACKENDS = ("epoll", "io_uring")

RATE = """
target: {url}
scenarios:
  user: {{load: {{rate: {rate}/s, for: {seconds}s, max_users: 2000}}, steps: [{{get: /page}}]}}
"""
MIXED = """
target: {url}
scenarios:
  fast: {{load: {{users: 64, for: {seconds}s}}, steps: [{{get: /page}}]}}
  phone: {{load: {{users: 1, for: {seconds}s}}, bandwidth: 2Mbit/s, steps: [{{get: /page}}]}}
"""


def alternated(arguments, one):
    """Runs of each backend."""
    runs = {io: [] for io in BACKENDS}
    for _ in range(RUNS):
        for io in BACKENDS:
            run = one([*arguments, "-w", "1", "--io", io])
            if run["json"]["totals"]["errors"] > 0:
                sys.exit(f"errors with {io}: {run['json']['totals']['error_kinds']}")
            runs[io].append(run)
    return runs


def row(table, name, arguments, server=None, late=False):
    """One load. `server`: nginx, which counts the requests; otherwise squall does."""
    runs = alternated(arguments, (lambda words: counted(server, load, words)) if server else load)
    us = {io: median(own, "us") for io, own in runs.items()}
    rates = [sum(run["requests"] / run["json"]["elapsed_s"] for run in runs[io]) / RUNS for io in BACKENDS]
    ratio = us["io_uring"] / us["epoll"]
    cells = [""] * 6
    if late:
        sent = {io: [lateness(run, 1, SECONDS) for run in runs[io]] for io in BACKENDS}
        added = median(sent["io_uring"], "second") - median(sent["epoll"], "second")
        cells = [f"{median(own, key):.0f}" for key in ("p50", "second") for own in sent.values()]
        cells += [f"{added:+.0f}", table.goal(added <= LATER_US)]
    table.row(name, *[f"{us[io]:.2f} ({spread(runs[io], 'us')})" for io in BACKENDS], f"{ratio:.2f}x",
              table.goal(ratio <= COST), *[f"{rate:,.0f}" for rate in rates], *cells)


def rows(table, folder):
    """All of the loads."""
    length = ["-d", f"{SECONDS}s"]
    plan = folder / "plan.yaml"
    with ExitStack() as servers:
        server = servers.enter_context(nginx())
        for users in (64, 512):
            row(table, f"{users} connections, as fast as they can", [server.url("/page"), "-c", str(users), *length], server)
        row(table, "one user", [server.url("/page"), "-c", "1", *length], server)
        for rate in (1_000, 5_000, 20_000):
            plan.write_text(RATE.format(url=server.url(""), rate=rate, seconds=SECONDS))
            row(table, f"{rate:,}/s", ["run", str(plan), "--out", str(folder)], server, late=True)
        plan.write_text(MIXED.format(url=server.url(""), seconds=SECONDS))
        row(table, "64 users and one with 2 Mbit/s", ["run", str(plan), "--out", str(folder)], server)
        slow = servers.enter_context(target())
        row(table, "bursts: 64 connections, responses that take 3 ms", [slow.url("/delay/3"), "-c", "64", *length])
        secure = servers.enter_context(nginx(tls=True))
        row(table, "HTTPS, 64 connections", ["-k", secure.url("/page"), "-c", "64", *length], secure)


with tempfile.TemporaryDirectory() as name:
    table = Table("load", "epoll, µs CPU a request", "io_uring", "io_uring, of epoll", f"goal {COST}x",
                  "requests/s: epoll", "io_uring", "sent late by, µs, p50: epoll", "io_uring",
                  "p99 of the median second: epoll", "io_uring", "io_uring adds", f"goal {LATER_US} µs")
    rows(table, Path(name))
table.end()
