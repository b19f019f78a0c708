#!/usr/bin/env python3
"""How much equal runs differ: many short runs of the same load on the built-in target, one after the other in one sitting, of a page
that costs CPU time and of one that waits. What came of each is written to crates/experiment/tests/recorded.csv, from which the tests of experiments draw their noise:
bench/experiment/record.py [RUNS] [SECONDS]. SQUALL=PATH records another binary than a release build; the file says which."""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from lib import GENERATOR_CPU, ROOT, SERVER_CPU, free_port, pinned, squall, wait_for  # noqa: E402: found by the line above

FILE = ROOT / "crates/experiment/tests/recorded.csv"
USERS = 16
# The first is as fast as the machine is at that moment, the second mostly waits.
PATHS = ["/", "/delay/50"]


def run(url, seconds):
    """Mean and p99 in µs, and requests a second, of one run."""
    command = pinned(GENERATOR_CPU, [squall(), url, "-c", str(USERS), "-d", f"{seconds}s", "-w", "1", "-q", "--json", "-"])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    totals = json.loads(done.stdout)["totals"]
    if totals["errors"]:
        sys.exit(f"{totals['errors']} requests failed")
    return totals["latency_us"]["mean"], totals["latency_us"]["p99"], totals["rate"]


def main():
    runs, seconds = (int(argument) for argument in (sys.argv[1:] + ["60", "2"][len(sys.argv) - 1:]))
    port = free_port()
    target = subprocess.Popen(pinned(SERVER_CPU, [squall(), "target", "--threads", "1", "--listen", f"127.0.0.1:{port}"]), stdout=subprocess.DEVNULL)
    rows, began, load = [], time.time(), os.getloadavg()[0]
    try:
        wait_for(port)
        for path in PATHS:
            for number in range(runs):
                mean, p99, rate = run(f"http://127.0.0.1:{port}{path}", seconds)
                rows.append((path, mean, p99, rate))
                print(f"{path} {number + 1} of {runs}: mean {mean:.0f} µs, p99 {p99:.0f} µs, {rate:.0f}/s", file=sys.stderr)
    finally:
        target.terminate()
        target.wait()
    build = "a release build" if "release" in squall() else "a development build"
    with FILE.open("w") as file:
        print(f"# {runs} equal runs of {seconds} s of each path of the built-in target, {USERS} virtual users; {build};", file=file)
        print(f"# {os.cpu_count()} CPUs, Linux {platform.release()}, load average {load:.1f} before and {os.getloadavg()[0]:.1f} after, priority {-os.nice(0)}, {time.time() - began:.0f} s in all", file=file)
        print("path,mean_us,p99_us,rate_per_s", file=file)
        for path, mean, p99, rate in rows:
            print(f"{path},{mean:.2f},{p99:.0f},{rate:.1f}", file=file)


if __name__ == "__main__":
    main()
