#!/usr/bin/env python3
"""Peak memory, and what many names and many users cost. Usage: memory.py [quick]"""

import sys
import tempfile

from lib import Table, load, nginx

QUICK = len(sys.argv) > 1 and sys.argv[1] == "quick"


def plan(text):
    file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
    file.write(text)
    file.flush()
    return file


def names(server, count, seconds):
    """One user step that picks one of `count` names at random."""
    return plan(f"""
name: names
target: {server.url('').rstrip('/')}
scenarios:
  user:
    load: {{users: 64, for: {seconds}s}}
    steps:
      - get: /page
        name: "page ${{random(1, {count})}}"
""")


with nginx() as server, tempfile.TemporaryDirectory() as out:
    table = Table("what", "peak RSS MiB", "goal", "", "µs CPU a request", "note")

    short, long = (3, 9) if QUICK else (10, 60)
    first = load([server.url("/page"), "-c", "64", "-d", f"{short}s"])
    later = load([server.url("/page"), "-c", "64", "-d", f"{long}s"])
    for result, seconds in ((first, short), (later, long)):
        table.row(f"64 users, {seconds} s", f"{result['rss']:.1f}", "16", table.goal(result["rss"] <= 16),
                  f"{result['us']:.2f}", f"{result['requests']:,} requests")

    seconds = 5 if QUICK else 30
    with names(server, 1, seconds) as one, names(server, 990, seconds) as many:
        single = load(["run", one.name, "--out", out])
        thousand = load(["run", many.name, "--out", out])
    ratio = thousand["us"] / single["us"]
    table.row("1 name, 64 users", f"{single['rss']:.1f}", "", "", f"{single['us']:.2f}", "")
    table.row("990 names, 64 users", f"{thousand['rss']:.1f}", "48, CPU 1.1x",
              table.goal(thousand["rss"] <= 48 and ratio <= 1.1), f"{thousand['us']:.2f}",
              f"{ratio:.2f}x, {len(thousand['json']['requests'])} names seen")

    users, seconds = (2_000, 25) if QUICK else (10_000, 40)
    with plan(f"""
name: idle
target: {server.url('').rstrip('/')}
scenarios:
  user:
    load: {{users: {users}, ramp: 10s, pacing: 10s, for: {seconds}s}}
    steps: [{{get: /page}}]
""") as idle:
        result = load(["run", idle.name, "--out", out])
    rows = [row for row in result["json"]["series"] if 11 <= row["second"] < seconds - 1]
    rates = [row["requests"] for row in rows]
    mean, want = sum(rates) / len(rates), users / 10
    worst = max(abs(rate - want) / want for rate in rates)
    good = result["rss"] <= 40 and abs(mean - want) / want <= 0.005 and worst <= 0.05
    table.row(f"{users:,} users, one GET each 10 s, {seconds} s", f"{result['rss']:.1f}",
              "40, rate 0.5 %, seconds 5 %", table.goal(good), f"{result['us']:.1f}",
              f"{mean:,.1f}/s of {want:,.0f}/s, worst second {worst:.1%} off")
    table.end()
