#!/usr/bin/env python3
"""A JMeter plan of 1,326 samplers, as large as the largest that is known: how long `squall check`, `squall convert` and a run
take that sends each of them once, with their memory; and, where it is on the PATH, how long JMeter takes for the same. An error
in it must be said with its place in the tree. Usage: jmeter_large.py [RUNS]"""

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Table, run, squall, target

sys.path.insert(0, str(ROOT / "interop/jmeter"))
from plans import argument, asserts, by_regex, group, headers, loop, plan, request, simple, timer, transaction

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
GROUPS, TRANSACTIONS, SAMPLERS = 6, 13, 17
CHECK_GOAL, RUN_GOAL = 1.0, 2.0


def sampler(n):
    below = headers(("X-Step", str(n)), ("Accept", "text/html")) + asserts("found", 2, "[a-z]+") + by_regex(f"v{n}", "([a-z]+)")
    given = argument("q", f"${{v{n - 1}}}" if n else "first") + argument("n", str(n))
    return request(f"step {n}", "/echo", arguments=given, below=below)


def large(broken=""):
    """A plan of GROUPS x TRANSACTIONS x SAMPLERS samplers; `broken` stands in the last transaction."""
    groups, n = [], 0
    for of_group in range(GROUPS):
        transactions = []
        for of_transaction in range(TRANSACTIONS):
            samplers = "".join(sampler(n + index) for index in range(SAMPLERS))
            n += SAMPLERS
            is_last = (of_group, of_transaction) == (GROUPS - 1, TRANSACTIONS - 1)
            inner = loop(1, simple(samplers)) + (broken if is_last else "")
            transactions.append(transaction(f"page {of_transaction}", timer(0) + inner))
        groups.append(group("".join(transactions), f"users {of_group}"))
    return plan(*groups), n


def main():
    with target() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        content, count = large()
        file, broken = folder / "large.jmx", folder / "broken.jmx"
        file.write_text(content)
        broken.write_text(large('<com.example.Teapot testname="brew"/><hashTree/>')[0])
        port, samples = f"-Jport={server.port}", folder / "samples.jtl"
        line = ["-n", "-t", str(file), "-l", str(samples), "-f", "-j", str(folder / "log"), port]
        commands = {"squall check": ([squall(), "check", str(file), port], CHECK_GOAL),
                    "squall convert": ([squall(), "convert", str(file), port, "-o", str(folder / "large.yaml")], CHECK_GOAL),
                    "squall jmeter, each sampler once": ([squall(), "jmeter", *line], RUN_GOAL)}
        if shutil.which("jmeter"):
            commands["jmeter, each sampler once"] = (["jmeter", *line], None)
        table = Table("command", "seconds", "CPU seconds", "peak RSS MiB", "goal", "")
        for what, (command, goal) in commands.items():
            runs = [run(command) for _ in range(RUNS)]
            wall = statistics.median(own["wall"] for own in runs)
            rows = sum(1 for _ in open(samples)) - 1 if samples.exists() else 0
            samples.unlink(missing_ok=True)
            expected = count + GROUPS * TRANSACTIONS if "once" in what else 0
            met = all(own["code"] == 0 for own in runs) and rows == expected and (goal is None or wall <= goal)
            table.row(what, f"{wall:.2f}", f"{statistics.median(own['cpu'] for own in runs):.2f}",
                      f"{statistics.median(own['rss'] for own in runs):.0f}", f"{goal:.0f} s" if goal else "", table.goal(met))
        done = subprocess.run([squall(), "check", str(broken), port], capture_output=True, text=True)
        path = f"users {GROUPS - 1} > page {TRANSACTIONS - 1} > brew"
        table.row("an element that is not known, in the last transaction", "", "", "", "its path is said", table.goal(path in done.stderr))
        print(f"\nThe plan has {count:,} samplers in {len(content) / 2**20:.1f} MiB.")
    table.end()


main()
