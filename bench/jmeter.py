#!/usr/bin/env python3
"""JMeter 5.6.3 with 1 GB of heap and squall run the same files: `peers/ten.jmx`, ten requests, each asserted about and a
value taken from it, by 64 threads, without a file of samples and with one (`-l`); and `peers/slow.jmx`, 10,000 threads that
send a request each 10 s. The command lines differ in the program alone. CPU time a request is that of the second half of a
run, so that JMeter is warm; requests are nginx's count. `peers/install.sh FOLDER jmeter` installs it.
Usage: jmeter.py [SECONDS of a run] [RUNS] [THREADS that are slow]"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Table, in_halves, need, nginx, squall

SECONDS, RUNS, SLOW = [int(given) for given in sys.argv[1:]] + [25, 3, 10_000][len(sys.argv) - 1:]
# Ten seconds in which threads start, ten until the last has sent for the first time, and as long again to be measured.
SLOW_SECONDS = 50
USERS = 64
CPU_GOAL, MEMORY_GOAL = 10, 20
RATE_GOAL, SLOW_MIB_GOAL = 0.005, 120


def line(program, plan, port, folder, users, seconds, samples=False):
    """JMeter's command line, for either program."""
    command = [*program, "-n", "-t", str(ROOT / "bench/peers" / plan), "-j", str(folder / "log")]
    command += ["-l", str(folder / "samples.jtl"), "-f"] if samples else []
    return command + [f"-Jport={port}", f"-Jusers={users}", f"-Jseconds={seconds}"]


def alternated(server, folder, programs, runs, *plan):
    """The median of each figure of each program."""
    found = {name: [] for name in programs}
    for _ in range(runs):
        for name, program in programs.items():
            command, seconds = line(program, plan[0], server.port, folder, *plan[1:]), plan[2]
            found[name].append(in_halves(server, command, seconds))
    return {name: {key: statistics.median(run[key] for run in own) for key in own[0]}
            | {"all": sorted(run["warm"] for run in own)} for name, own in found.items()}


def ten(table, server, folder, programs):
    """The plan of ten requests."""
    for samples in (False, True):
        found = alternated(server, folder, programs, RUNS, "ten.jmx", USERS, SECONDS, samples)
        theirs, ours = found["JMeter"], found["squall"]
        what = "10 requests, 64 threads" + (", `-l`" if samples else "")
        for name, own in found.items():
            cpu, memory = theirs["warm"] / ours["warm"], theirs["rss"] / ours["rss"]
            is_ours = name == "squall"
            goal = f"CPU 1/{CPU_GOAL}, memory 1/{MEMORY_GOAL}" if is_ours else ""
            met = table.goal(cpu >= CPU_GOAL and memory >= MEMORY_GOAL) if is_ours else ""
            table.row(what, name, f"{own['warm']:.2f} ({own['all'][0]:.2f}..{own['all'][-1]:.2f})", f"{own['whole']:.2f}",
                      f"1/{cpu:.1f}" if is_ours else "", f"{own['rss']:.0f}", f"1/{memory:.0f}" if is_ours else "",
                      f"{own['rate']:,.0f}", goal, met)


def slow(table, server, folder, programs):
    """The plan of many threads that mostly wait."""
    wanted = SLOW / 10
    for name, program in programs.items():
        own = in_halves(server, line(program, "slow.jmx", server.port, folder, SLOW, SLOW_SECONDS), SLOW_SECONDS - 20)
        is_ours = name == "squall"
        goal = f"{wanted:,.0f}/s but for {RATE_GOAL:.1%}, {SLOW_MIB_GOAL} MiB" if is_ours else ""
        met = abs(own["rate"] / wanted - 1) <= RATE_GOAL and own["rss"] <= SLOW_MIB_GOAL
        table.row(f"{SLOW:,} threads, a request each 10 s", name, f"{own['warm']:.1f}", f"{own['whole']:.1f}", "",
                  f"{own['rss']:.0f}", "", f"{own['rate']:,.1f}", goal, table.goal(met) if is_ours else "")


need("jmeter")
with nginx() as served, tempfile.TemporaryDirectory() as temporary:
    # JMeter keeps preferences, and squall what it found out, where they are started.
    os.chdir(temporary)
    measured = Table("plan", "program", "µs CPU a request, second half (lowest..highest)", "whole run", "of JMeter's",
                     "peak RSS MiB", "of JMeter's", "requests/s, second half", "goal", "")
    both = {"JMeter": ["jmeter"], "squall": [squall(), "jmeter"]}
    ten(measured, served, Path(temporary), both)
    slow(measured, served, Path(temporary), both)
measured.end()
