#!/usr/bin/env python3
"""Thread groups and the timer of JMeter's plug-ins beside JMeter with these plug-ins: the same plan with both, how many threads
send in each half second, and how many requests in each second. A figure is how far squall is off JMeter where it is furthest
off, if either may be half a second late. `peers/install.sh FOLDER jmeter plugins` installs what is needed; the built-in target
answers. Usage: jmeter_groups.py [WORDS in a case's name]"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Table, need, squall, target

sys.path.insert(0, str(ROOT / "interop/jmeter"))
from plans import element, flag, group, plan, request, text, timer

APC, BLAZE = "kg.apc.jmeter.threads", "com.blazemeter.jmeter.threads"


def rows(name, *lines):
    """A table of numbers."""
    def line(number, values):
        inner = "".join(text(str(place), value) for place, value in enumerate(values))
        return f'<collectionProp name="{number}">{inner}</collectionProp>'
    return f'<collectionProp name="{name}">{"".join(line(n, values) for n, values in enumerate(lines))}</collectionProp>'


def main_loop():
    inner = flag("LoopController.continue_forever", False) + text("LoopController.loops", -1)
    return f'<elementProp name="ThreadGroup.main_controller" elementType="LoopController">{inner}</elementProp>'


STEPS = timer(100) + request("a", "/")


def ultimate(*lines):
    tag = f"{APC}.UltimateThreadGroup"
    inner = rows("ultimatethreadgroupdata", *lines) + main_loop() + text("ThreadGroup.on_sample_error", "continue")
    return element(tag, "users", inner, STEPS, f'guiclass="{tag}Gui"')


def stepping(threads, delay, burst, count, period, rise, hold, out, out_period):
    tag = f"{APC}.SteppingThreadGroup"
    inner = text("ThreadGroup.on_sample_error", "continue") + text("ThreadGroup.num_threads", threads) + main_loop()
    for name, value in (("Threads initial delay", delay), ("Start users count", count), ("Start users count burst", burst),
                        ("Start users period", period), ("Stop users count", out), ("Stop users period", out_period),
                        ("flighttime", hold), ("rampUp", rise)):
        inner += text(name, value)
    return element(tag, "users", inner, STEPS, f'guiclass="{tag}Gui"')


def blaze(kind, below=STEPS, **values):
    tag = f"{BLAZE}.{kind.lower()}.{kind}ThreadGroup"
    inner = '<elementProp name="ThreadGroup.main_controller" elementType="com.blazemeter.jmeter.control.VirtualUserController"/>'
    inner += text("ThreadGroup.on_sample_error", "continue")
    values = {"Steps": "", "Iterations": "", "LogFilename": "", "Unit": "S"} | values
    return element(tag, "users", inner + "".join(text(n, v) for n, v in values.items()), below, f'guiclass="{tag}Gui"')


def shaped(*lines, threads=10):
    tag = "kg.apc.jmeter.timers.VariableThroughputTimer"
    shape = element(tag, "shape", rows("load_profile", *lines), attributes=f'guiclass="{tag}Gui"')
    ends = flag("ThreadGroup.scheduler", True) + text("ThreadGroup.duration", sum(line[2] for line in lines) + 1)
    return group(shape + request("a", "/"), threads=threads, loops=-1, more=ends)


#: The groups, and whether it is requests that are counted, and not threads.
CASES = {
    "Ultimate, one row": (ultimate((8, 1, 4, 3, 4)), False),
    "Ultimate, rows on top of each other": (ultimate((4, 0, 2, 6, 2), (6, 3, 0, 2, 3), (2, 9, 0, 2, 0)), False),
    "Stepping, a step at a time": (stepping(8, 1, 0, 2, 2, 0, 3, 2, 1), False),
    "Stepping, a burst and a rise": (stepping(10, 0, 4, 3, 2, 1, 3, 5, 2), False),
    "Concurrency, even": (blaze("Concurrency", TargetLevel=8, RampUp=4, Hold=4), False),
    "Concurrency, in steps": (blaze("Concurrency", TargetLevel=9, RampUp=6, Hold=3, Steps=3), False),
    "Arrivals, even": (blaze("Arrivals", request("a", "/"), TargetLevel=20, RampUp=4, Hold=4, ConcurrencyLimit=50), True),
    "Throughput Shaping Timer, up and steady": (shaped((1, 40, 5), (40, 40, 4)), True),
    "Throughput Shaping Timer, steps": (shaped((10, 10, 4), (40, 40, 4), (20, 5, 4)), True),
}


def timeline(path, counts_requests):
    """Threads in each half second, or requests in each second, from the first sample on."""
    with open(path, newline="") as file:
        samples = [(int(row["timeStamp"]), row["threadName"]) for row in csv.DictReader(file)]
    begin, wide = min(time for time, _ in samples), 1000 if counts_requests else 500
    bins = [[] for _ in range((max(time for time, _ in samples) - begin) // wide + 1)]
    for time, thread in samples:
        bins[(time - begin) // wide].append(thread)
    return [len(own) if counts_requests else len(set(own)) for own in bins]


def off(theirs, ours):
    """How far one is off the other at most, where each may be one place late."""
    def one_way(these, those):
        padded = [0, *those, *[0] * (len(these) + 1)]
        near = [padded[place:place + 3] for place in range(len(these))]
        return [max(min(own) - value, value - max(own), 0) for value, own in zip(these, near)]
    return max(one_way(theirs, ours) + one_way(ours, theirs))


def main():
    need("jmeter")
    table = Table("case", "what is counted", "JMeter", "squall", "furthest off", "goal", "")
    with target() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case, (steps, counts_requests) in CASES.items():
            if any(word not in case for word in sys.argv[1:]):
                continue
            file = folder / "plan.jmx"
            file.write_text(plan(steps))
            found = {}
            for program in (["jmeter"], [squall(), "jmeter"]):
                samples = folder / "samples.jtl"
                command = [*program, "-n", "-t", str(file), "-l", str(samples), "-f", "-j", str(folder / "log"), f"-Jport={server.port}"]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
                if done.returncode != 0:
                    found[program[0]] = (done.stderr or done.stdout).strip().splitlines()[-1][:80]
                    continue
                found[program[0]] = timeline(samples, counts_requests)
            theirs, ours = found.values()
            is_run = isinstance(theirs, list) and isinstance(ours, list)
            most = off(theirs, ours) if is_run else None
            goal = max(2, max(theirs) // 10) if counts_requests and is_run else 1
            shown = [" ".join(map(str, own)) if isinstance(own, list) else own for own in (theirs, ours)]
            table.row(case, "requests in a second" if counts_requests else "threads in half a second", *shown,
                      most if is_run else "-", f"at most {goal}", table.goal(is_run and most <= goal))
    table.end()


main()
