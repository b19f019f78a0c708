#!/usr/bin/env python3
"""What the live view costs: CPU of its threads and of the whole process with and without it, at 20,000 requests a second
of 200 names, in a terminal of 200x60 that is read. Usage: live.py [RUNS] [SECONDS]"""

import os
import pty
import sys
import tempfile
import threading
import time
import fcntl
import struct
import termios
from pathlib import Path

from lib import Table, median, spread, squall, target

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
NAMES, RATE = 200, 20_000
TICK = os.sysconf("SC_CLK_TCK")


def plan(url):
    steps = "\n".join(f"      - {{get: /bytes/100, name: 'request {number}'}}" for number in range(NAMES))
    return (f"target: {url}\nscenarios:\n  a:\n    load: {{rate: {RATE // NAMES}/s, for: {SECONDS}s, max_users: 400}}\n"
            f"    steps:\n{steps}\n")


def watching(pid):
    """CPU seconds of the threads that watch the run: sinks, and the view."""
    spent = 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        name, _, rest = task.joinpath("stat").read_text().partition("(")[2].rpartition(")")
        if name in ("sink", "live view"):
            fields = rest.split()
            spent += (int(fields[11]) + int(fields[12])) / TICK
    return spent


def run(path, folder, *flags):
    pid, leader = pty.fork()
    if pid == 0:
        os.execve(squall(), ["squall", "run", str(path), "--out", folder, "-w", "1", *flags],
                  os.environ | {"TERM": "xterm-256color"})
    fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    written = []
    reader = threading.Thread(target=read, args=(leader, written))
    reader.start()
    time.sleep(SECONDS - 1)
    watched = watching(pid)
    _, status, usage = os.wait4(pid, 0)
    reader.join()
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit("the run failed:\n" + b"".join(written)[-3000:].decode(errors="replace"))
    return {"watching": watched / (SECONDS - 1) * 100, "process": (usage.ru_utime + usage.ru_stime) / SECONDS * 100,
            "written": len(b"".join(written)) / SECONDS / 1024, "rss": usage.ru_maxrss / 1024}


def read(leader, written):
    try:
        while chunk := os.read(leader, 65536):
            written.append(chunk)
    except OSError:
        pass


with target() as server, tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "plan.yaml"
    path.write_text(plan(server.url("")))
    runs = {"--quiet": [], "live view": []}
    for _ in range(RUNS):
        runs["--quiet"].append(run(path, folder, "--quiet"))
        runs["live view"].append(run(path, folder))
    table = Table("run", "sinks and view, % of a core", "process, % of a core", "written, KiB/s", "peak RSS, MiB")
    for name, these in runs.items():
        table.row(name, f"{median(these, 'watching'):.2f} ({spread(these, 'watching')})",
                  f"{median(these, 'process'):.1f} ({spread(these, 'process')})",
                  f"{median(these, 'written'):.1f}", f"{median(these, 'rss'):.0f}")
    table.end()
    added = median(runs["live view"], "watching") - median(runs["--quiet"], "watching")
    print(f"the view adds {added:.2f} % of a core")
