"""Runs the public k6 scripts that corpus.py has fetched with squall and with the oracle of ../k6_oracle, in the same network, and compares
what they count: requests, checks, groups, iterations, and the metrics that scripts make.

Usage: compare.py [--list FILE] [--only WORDS]. Scripts without a default function are left out, as the oracle knows no loads, and those
that are longer than 30 s. `Math.random()` is 0.5 for both."""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import corpus
import world

sys.path.insert(0, str(corpus.HERE.parent))
import test_k6_oracle as oracle  # noqa: E402

ITERATIONS = "5"
# What does not depend on times, as values that scripts measure do.
COUNTED = ("http_reqs", "http_req_failed", "checks", "group_duration", "iterations")
FIXED = "Math.random = () => 0.5;"


def by_squall(script, scratch):
    """What squall counts; `None`: the script did not end by itself, or was refused."""
    points = Path(scratch, "points.json")
    line = [corpus.SQUALL, "k6", "run", "--quiet", "--insecure-skip-tls-verify", "-u", "1", "-i", ITERATIONS, "--out", f"json={points}", script]
    try:
        ran = subprocess.run(line, cwd=script.parent, capture_output=True, text=True, errors="replace", timeout=corpus.LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return None
    if ran.returncode not in (0, 99, 107, 108, 110) or not points.exists():
        return None
    with open(points, encoding="utf-8") as lines:
        own = [point for point in map(json.loads, lines) if point["type"] == "Point"]
    return oracle.counted((point["metric"], point["data"]["tags"], 1, point["data"]["value"]) for point in own)


def by_oracle(script):
    line = ["node", oracle.FOLDER / "oracle.mjs", script, "-i", ITERATIONS]
    try:
        ran = subprocess.run(line, cwd=script.parent, capture_output=True, text=True, errors="replace", timeout=2 * corpus.LIMIT,
                             check=False, env={**os.environ, "NODE_TLS_REJECT_UNAUTHORIZED": "0"})
    except subprocess.TimeoutExpired:
        return None
    if ran.returncode != 0:
        return None
    points = []
    for key, (count, value) in json.loads(ran.stdout)["counts"].items():
        metric, *tags = re.split(r" (?=\w+=)", key)
        points.append((metric, dict(tag.split("=", 1) for tag in tags), count, value))
    return oracle.counted(points)


def compared(row):
    """One word, and how the counts differ."""
    path = (corpus.folder(row) / row["path"]).resolve()
    text = path.read_text(errors="replace") if path.is_file() else ""
    if not re.search(r"export\s+default", text) or corpus.LATER.search(text):
        return "left out", []
    fixed = path.with_name(f"fixed-{path.name}")
    fixed.write_text(FIXED + text)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = by_squall(fixed, scratch)
        expected = found and by_oracle(fixed)
    finally:
        fixed.unlink()
    # The oracle reads no TypeScript, and no modules of URLs.
    if not found or not expected:
        return "not run by both", []
    differ = [f"{key}: squall {found.get(key)}, oracle {expected.get(key)}" for key in sorted({*found, *expected}) if found.get(key) != expected.get(key)]
    if not differ:
        return "equal", []
    return ("differ" if any(key.startswith(COUNTED) for key in differ) else "equal counts"), differ


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--list", default=corpus.HERE / "scripts.tsv")
    options.add_argument("--only", default="")
    given = options.parse_args()
    world.enter()
    rows = [row for row in corpus.listed(given.list) if given.only in f"{row['repo']}/{row['path']}"]
    with tempfile.TemporaryDirectory() as scratch:
        world.serve(corpus.ports(rows), scratch)
    total = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(corpus.AT_ONCE) as pool:
        for row, (word, differ) in zip(rows, pool.map(compared, rows)):
            total[word] += 1
            print(f"{word:15} {row['repo']}/{row['path']}", *differ, sep="\n    ", flush=True)
    print(dict(total))


if __name__ == "__main__":
    main()
