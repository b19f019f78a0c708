#!/usr/bin/env python3
"""Every case of the hostile corner, 8 users for 3 s each: the kinds of error, peak memory, time, and
whether the tool ended by itself with its own exit code. Usage: hostile.py [SECONDS]"""

import subprocess
import sys

from lib import Table, load, squall, target

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3

listed = subprocess.run([squall(), "target", "--routes"], capture_output=True, text=True, check=True)
cases = [word for word in listed.stdout.split() if word.startswith("/hostile/")]

table = Table("case", "requests", "errors", "kinds", "peak RSS MiB", "ended after s", "")
with target() as server:
    for case in cases:
        result = load([server.url(case), "-c", "8", "-d", f"{SECONDS}s", "-t", "1s", "--redirects", "5"])
        totals = result["json"]["totals"]
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(totals["error_kinds"].items()))
        good = result["code"] in (0, 1) and result["rss"] < 64 and result["wall"] < SECONDS + 7
        table.row(case, totals["count"], totals["errors"], kinds or "none", f"{result['rss']:.1f}",
                  f"{result['wall']:.1f}", table.goal(good))
table.end()
