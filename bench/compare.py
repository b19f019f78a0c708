#!/usr/bin/env python3
"""Whether `squall compare` and `squall trend` are right. Prints the tables of docs/measurement.md: synthetic runs with
known answers (`crates/analysis/examples/comparison`), and pairs of real runs of 30 s at 500/s against the built-in
target (three times: the same plan, the target 5 % slower, one request of ten 10 % slower), eight runs at a time with a
target each; and a trend of 30 real runs of 4 s whose target steps by 10 % at the 18th. Ends with exit code 1 where a
goal is missed: 95 of 100.
Usage: compare.py [PAIRS [SYNTHETIC]]: real pairs of each kind (20), synthetic pairs of each line (1,000). With 0 they are
left out; the trend is always made. 20 pairs take some 14 minutes, 100 an hour."""

import concurrent.futures
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Table, squall

PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
SYNTHETIC = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
# How many runs at a time: each uses some 5 % of a core, its target included.
TOGETHER = 8
GOAL = 0.95


def plan(folder, name, delays, rate, seconds):
    """A plan of one request for each delay, in ms, at so many requests a second in all."""
    steps = "\n".join(f"      - {{get: '/delay/{ms}?dist=normal&sd={ms * 0.3}', name: r{number}}}"
                      for number, ms in enumerate(delays))
    path = Path(folder) / f"{name}.yaml"
    path.write_text(f"name: pairs\ntarget: builtin\nscenarios:\n  s:\n    load: {{rate: {rate / len(delays)}/s, "
                    f"for: {seconds}s, max_users: 500}}\n    steps:\n{steps}\n")
    return str(path)


def run(folder, path, seed, labels=()):
    """Runs a plan; returns its folder."""
    out = tempfile.mkdtemp(dir=folder)
    flags = [flag for label in labels for flag in ("--label", label)]
    done = subprocess.run([squall(), "run", path, "-w", "1", "--seed", str(seed), "--out", out, "--quiet", *flags],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"a run ended with {done.returncode}: {done.stdout}{done.stderr}")
    return str(next(Path(out).iterdir()))


def compare(before, after):
    """Two runs side by side. Which text differs is not the question."""
    done = subprocess.run([squall(), "compare", before, after, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout)["pairs"][0]


def changed(pair):
    """The measures of each row that changed: of requests by name, of other rows by kind."""
    rows = {row["name"] if row["kind"] == "request" else row["kind"] or "all":
            [own["measure"] for own in row["values"] if own["result"] == "changed"] for row in pair["rows"]}
    return {name: measures for name, measures in rows.items() if measures}


def pairs(folder, pool, before, after):
    """The pairs, whose runs alternate: what the machine does meanwhile hits both plans."""
    runs = [pool.submit(run, folder, path, seed) for seed, path in enumerate([before, after] * PAIRS, start=1)]
    return [compare(a.result(), b.result()) for a, b in zip(runs[::2], runs[1::2])]


def is_equal(pair):
    """Whether `squall compare` itself counts no change, of whatever row."""
    return pair["changed"] == 0


def real(table):
    with tempfile.TemporaryDirectory(prefix="squall-compare-") as folder, \
            concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        one, slower = plan(folder, "one", [10], 500, 30), plan(folder, "slower", [10.5], 500, 30)
        ten = plan(folder, "ten", [10] * 10, 500, 30)
        fifth = plan(folder, "fifth", [10, 10, 10, 10, 11, 10, 10, 10, 10, 10], 500, 30)
        cases = [
            ("the same plan", one, one, is_equal),
            ("the same plan of ten requests", ten, ten, is_equal),
            ("the target 5% slower", one, slower, lambda pair: "r0" in changed(pair)),
            # What holds that request changes with it.
            ("one request of ten 10% slower", ten, fifth, lambda pair: {"r4"} <= changed(pair).keys() <= {"r4", "all", "iteration"}),
        ]
        for name, before, after, is_right in cases if PAIRS else []:
            found = pairs(folder, pool, before, after)
            right = sum(map(is_right, found))
            table.row(name, len(found), right, table.goal(right >= GOAL * len(found)))
            for wrong in (own for own in found if not is_right(own)):
                print(f"not right: {changed(wrong)}", file=sys.stderr)
        trend(folder, pool, table)


def trend(folder, pool, table):
    """30 real runs of which the last 13 are slower."""
    base = Path(folder) / "trend"
    base.mkdir()
    plans = [plan(folder, f"trend{step}", [10 + step], 200, 4) for step in (0, 1)]
    for number in range(30):
        run(base, plans[number >= 17], number + 1, [f"commit={number:040x}"])
    for number, inner in enumerate(sorted(base.iterdir(), key=lambda path: path.stat().st_mtime)):
        next(inner.iterdir()).rename(base / f"run-{number}")
        inner.rmdir()
    done = subprocess.run([squall(), "trend", str(base), "--measure", "p50", "--json"], capture_output=True, text=True)
    print([round(own["value"]) for own in json.loads(done.stdout)["runs"]], file=sys.stderr)
    steps = [at for at, own in enumerate(json.loads(done.stdout)["runs"]) if own["step"] is not None]
    table.row("a step of 10% at run 18 of a trend of 30", 1, f"found at {[at + 1 for at in steps]}", table.goal(steps == [17]))


def synthetic():
    """Whether the pairs and trends with known answers met their goals."""
    command = ["cargo", "run", "--release", "--quiet", "--offline", "-p", "squall-analysis", "--example", "comparison"]
    code = subprocess.run(command + ["--", str(SYNTHETIC)], cwd=ROOT).returncode
    if code not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {code}")
    return code == 0


if __name__ == "__main__":
    met = synthetic() if SYNTHETIC else True
    table = Table("real runs", "pairs", "right", "goal: 95 of 100")
    table.missed |= not met
    real(table)
    table.end()
