#!/usr/bin/env python3
"""What the live view costs: CPU of its threads and of the whole process with and without it, at 20,000 requests a second
of 200 names, in a terminal of 200x60 that is read. Usage: live.py [RUNS] [SECONDS]"""

import sys
import tempfile
import time
from pathlib import Path

from lib import Table, in_terminal, median, spread, squall, target

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
NAMES, RATE = 200, 20_000
# How much of a core the view may take, in percent.
MOST_ADDED = 1.0


def plan(url):
    steps = "\n".join(f"      - {{get: /bytes/100, name: 'request {number}'}}" for number in range(NAMES))
    return (f"target: {url}\nscenarios:\n  a:\n    load: {{rate: {RATE // NAMES}/s, for: {SECONDS}s, max_users: 400}}\n"
            f"    steps:\n{steps}\n")


def watching(pid):
    """CPU seconds of the threads that watch the run: sinks, and the view. From the scheduler's own clock: what runs for less than
    a tick is seldom seen in the times that are counted in ticks."""
    tasks = [task for task in Path(f"/proc/{pid}/task").iterdir() if task.joinpath("comm").read_text().strip() in ("sink", "live view")]
    return sum(int(task.joinpath("schedstat").read_text().split()[0]) for task in tasks) / 1e9


def run(path, folder, *flags):
    def meanwhile(pid):
        time.sleep(SECONDS - 1)
        return watching(pid)

    ran = in_terminal([squall(), "run", str(path), "--out", folder, "-w", "1", *flags], meanwhile)
    return {"watching": ran["found"] / (SECONDS - 1) * 100, "process": ran["cpu"] / SECONDS * 100,
            "written": ran["written"] / SECONDS / 1024, "rss": ran["rss"]}


with target() as server, tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "plan.yaml"
    path.write_text(plan(server.url("")))
    runs = {"--quiet": [], "live view": []}
    for _ in range(RUNS):
        runs["--quiet"].append(run(path, folder, "--quiet"))
        runs["live view"].append(run(path, folder))
    table = Table("run", "sinks and view, % of a core", "added", "goal, at most", "", "process, % of a core", "written, KiB/s",
                  "peak RSS, MiB")
    for name, these in runs.items():
        added = median(these, "watching") - median(runs["--quiet"], "watching")
        goal = [f"{added:+.2f}", f"{MOST_ADDED} %", table.goal(added <= MOST_ADDED)] if name == "live view" else ["", "", ""]
        table.row(name, f"{median(these, 'watching'):.2f} ({spread(these, 'watching')})", *goal,
                  f"{median(these, 'process'):.1f} ({spread(these, 'process')})",
                  f"{median(these, 'written'):.1f}", f"{median(these, 'rss'):.0f}")
    table.end()
