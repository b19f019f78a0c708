#!/usr/bin/env python3
"""Whether `squall compare --fail-if` is red for a reason. Of equal pairs 5 in 100 at most may be called worse, and of pairs of
which the second is slower by twice the limit 5 in 100 at most may be called not worse; what is left is "cannot tell".
Prints two tables: synthetic runs with known answers (`crates/analysis/examples/gates`, one run a side, and three), and windows
cut from real runs against the built-in target at 200/s, on a machine that is left alone and on one with a busy loop for each
core. A real pair is two windows of different runs; the slower one is the same window with each latency 20 % longer. Only what
gates say by the numbers is counted: the runs' validity is left out. Ends with exit code 1 where a goal is missed.
Usage: gates.py [RUNS [SECONDS [PAIRS]]]: real runs of each kind (24), their length (60), and synthetic pairs of each line
(1,000). With 0 they are left out. 24 runs of 60 s take 50 minutes."""

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from lib import ROOT, Table, squall

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 24
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
SYNTHETIC = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
WINDOWS = (10, 30, 60)
# Most pairs of windows of a length.
MOST = 300
GATES = ("mean +10%", "p50 +10%", "p95 +10%", "p99 +10%")
SLOWER = 1.2
# A window may be shorter by this: the first seconds of a run may not be steady.
ALMOST = 0.9
GOAL = 0.05

PLAN = """name: gates
target: builtin
scenarios:
  s:
    load: {{rate: 200/s, for: {seconds}s, max_users: 200}}
    steps:
      - {{get: '/delay/10?dist=normal&sd=3', name: items}}
"""


@contextmanager
def busy(loops):
    """So many busy loops meanwhile; each ends by itself after a day."""
    code = "import time\nend = time.time() + 86400\nwhile time.time() < end: pass"
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def run(folder, name, seed):
    """A run as a baseline, which has each of its seconds as long as there are 60 at most."""
    plan, out, kept = (Path(folder) / f"{name}{end}" for end in (".yaml", "", ".gz"))
    plan.write_text(PLAN.format(seconds=SECONDS))
    # A run that failed has its numbers all the same.
    for codes, command in (((0, 1), ["run", plan, "-w", "1", "--seed", str(seed), "--out", out, "--quiet", "--label", "kind=gates"]),
                           ((0,), ["baseline", "save", "kind=gates", kept, "--in", out])):
        done = subprocess.run([squall(), *command], capture_output=True, text=True)
        if done.returncode not in codes:
            sys.exit(f"squall {command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(gzip.decompress(kept.read_bytes()))


def summed(blocks):
    """Buckets of several blocks as those of one."""
    counts = {}
    for block in blocks:
        low = 0
        for step, count in zip(block[::2], block[1::2]):
            low += step
            counts[low] = counts.get(low, 0) + count
    flat, last = [], 0
    for low, count in sorted(counts.items()):
        flat += [low - last, count]
        last = low
    return flat


def slower(block):
    """The buckets of a block in which each latency is longer."""
    flat, low, last = [], 0, 0
    for step, count in zip(block[::2], block[1::2]):
        low += step
        value = round(low * SLOWER)
        flat += [value - last, count]
        last = value
    return flat


def cut(whole, first, length, is_slower=False):
    """A window of a baseline."""
    window = slice(first, first + length)
    latency = slower if is_slower else list
    rows = []
    for row in whole["rows"]:
        blocks = [latency(block) for block in row["latency"][window]]
        sums = [round(own * (SLOWER if is_slower else 1)) for own in row["sum_us"][window]]
        rows.append({**row, "count": row["count"][window], "errors": row["errors"][window], "sum_us": sums,
                     "latency": blocks, "all": summed(blocks)})
    own = whole["runs"][0]
    run = {"about": {**own["about"], "validity": "valid"}, "seconds": own["seconds"][window]}
    return {**whole, "runs": [run], "rows": rows}


def judged(folder, before, after):
    """What each gate says of a pair."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        paths = [Path(place) / name for name in ("before.gz", "after.gz")]
        for path, document in zip(paths, (before, after)):
            path.write_bytes(gzip.compress(json.dumps(document).encode(), 1))
        flags = [flag for gate in GATES for flag in ("--fail-if", gate)]
        done = subprocess.run([squall(), "compare", *paths, *flags, "--json"], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"compare ended with {done.returncode}: {done.stderr}")
        return [gate["outcome"] for gate in json.loads(done.stdout)["pairs"][0]["gates"]]


def real(table, folder, kind, loops):
    with busy(loops):
        runs = [run(folder, f"{kind}{number}", number + 1) for number in range(RUNS)]
    chance = random.Random(1)
    for length in WINDOWS:
        windows = [(number, first) for number, own in enumerate(runs)
                   for first in range(0, len(own["runs"][0]["seconds"]) - round(length * ALMOST) + 1, length)]
        pairs = [(a, b) for a in windows for b in windows if a[0] != b[0]]
        pairs = chance.sample(pairs, min(MOST, len(pairs)))
        if not pairs:
            continue

        def both(pair):
            (a, at), (b, other) = pair
            before = cut(runs[a], at, length)
            return [judged(folder, before, cut(runs[b], other, length, is_slower)) for is_slower in (False, True)]

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(both, pairs))
        for at, gate in enumerate(GATES):
            def share(which, outcome):
                return sum(own[which][at] == outcome for own in found) / len(found)

            worse, missed = share(0, "worse"), share(1, "not_worse")
            table.row(kind, length, gate, len(found), f"{worse:.1%}", f"{share(0, 'cannot_tell'):.1%}", f"{missed:.1%}",
                      f"{share(1, 'cannot_tell'):.1%}", table.goal(worse <= GOAL and missed <= GOAL))


def synthetic(runs):
    """Whether the pairs with known answers met their goals."""
    command = ["cargo", "run", "--release", "--quiet", "--offline", "-p", "squall-analysis", "--example", "gates"]
    code = subprocess.run(command + ["--", str(SYNTHETIC), str(runs)], cwd=ROOT).returncode
    if code not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {code}")
    print(flush=True)
    return code == 0


if __name__ == "__main__":
    met = [synthetic(runs) for runs in (1, 3)] if SYNTHETIC else []
    table = Table("real runs", "s", "gate", "pairs", "equal: worse", "cannot tell", "slower by 20%: not worse", "cannot tell",
                  "goal: 5% each")
    table.missed |= not all(met)
    if RUNS:
        with tempfile.TemporaryDirectory(prefix="squall-gates-") as folder:
            real(table, folder, "quiet", 0)
            real(table, folder, "busy", os.cpu_count())
    table.end()
