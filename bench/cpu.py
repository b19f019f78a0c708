#!/usr/bin/env python3
"""CPU time a request against wrk, in alternated runs. With `--against BINARY`, against another version of squall instead:
both run in each round, one round in this order, the next in the other, and the ratio of each round counts. The answer is the
median of these ratios and its interval, which needs no distribution; a difference is one only if 1 is outside of it.
Usage: cpu.py [RUNS] [SECONDS]
       cpu.py --against BINARY [ROUNDS] [SECONDS] [--io epoll,io_uring] [--write]"""

import argparse
import contextlib
import datetime
import io
import statistics
import sys
import tempfile
from pathlib import Path

from lib import GENERATOR_CPU, Table, counted, load, machine, median, median_interval, nginx, spread, target, wrk

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("runs", nargs="?", type=int, help="runs of each (5; with --against 10)")
parser.add_argument("seconds", nargs="?", type=int, help="how long each takes (10; with --against 5)")
parser.add_argument("--against", metavar="BINARY", help="another version of squall")
parser.add_argument("--io", metavar="NAMES", default="auto", help="with --against: the I/O backends, with a comma between them")
parser.add_argument("--write", action="store_true",
                    help="with --against: keep the answer in docs/develop/benchmarks/cpu-against.md")
options = parser.parse_args()
RUNS = options.runs or (10 if options.against else 5)
SECONDS = options.seconds or (5 if options.against else 10)

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


def verdict(ratios):
    """What the ratios of all rounds say, in words."""
    low, high, coverage = median_interval(ratios)
    answer = "less CPU time" if high < 1 else "more CPU time" if low > 1 else "no difference beyond noise"
    return f"ratio {statistics.median(ratios):.2f} ({low:.2f} to {high:.2f}): {answer}", coverage


def against(binary):
    """Alternates another version of squall and this one; a row, and a line that says what follows, for each I/O backend."""
    with nginx() as server:
        table = Table("64 users, GET of 1 KiB", f"against {Path(binary).name}, µs a request", "squall, µs a request", "ratios of the rounds")
        lines = []
        for backend in options.io.split(","):
            arguments = [server.url("/page"), "-c", "64", "-d", f"{SECONDS}s", "-w", "1", "--io", backend]
            runs = {binary: [], None: []}
            for number in range(RUNS):
                for own in [binary, None] if number % 2 == 0 else [None, binary]:
                    run = counted(server, load, arguments, GENERATOR_CPU, own)
                    if run["json"]["totals"]["errors"] > 0:
                        sys.exit(f"errors of {own or 'squall'}: {run['json']['totals']['error_kinds']}")
                    runs[own].append(run)
            ratios = [ours["us"] / theirs["us"] for theirs, ours in zip(runs[binary], runs[None])]
            table.row(f"`--io {backend}`", *(f"{median(own, 'us'):.2f} ({spread(own, 'us')})" for own in runs.values()),
                      " ".join(f"{ratio:.2f}" for ratio in sorted(ratios)))
            line, coverage = verdict(ratios)
            lines.append(f"`--io {backend}`: {line}.")
    print("\n" + "\n\n".join(lines))
    print(f"\nThe median of the ratios of {RUNS} rounds, and the interval that covers it with {coverage:.1%}.")


def write(text):
    """Keeps an answer as `all.py` keeps the tables."""
    from all import RAW, version

    now = datetime.datetime.now(datetime.timezone.utc)
    shown = f"bench/cpu.py --against {Path(options.against).name} {RUNS} {SECONDS} --io {options.io}"
    head = f"`{shown}`, {now:%Y-%m-%d %H:%M} UTC, commit {version()}, {machine()}."
    (RAW / "cpu-against.md").write_text(f"{head}\n\n{text.strip()}\n")


if options.against:
    if RUNS < 6:
        sys.exit("six rounds at least: fewer have no interval of 95 %")
    with contextlib.redirect_stdout(io.StringIO() if options.write else sys.stdout) as out:
        against(options.against)
    if options.write:
        print(out.getvalue())
        write(out.getvalue())
    sys.exit()

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
