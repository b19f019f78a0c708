#!/usr/bin/env python3
"""The record of a second, as a node of a fleet sends it: how large it is by names and requests, and what it costs to make
one and to merge it. Nothing is sent.
Usage: sizes.py [--quick]: without optimisation and with fewer sizes, to see whether it works"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from lib import Table  # noqa: E402: it is found by the line above

QUICK = "--quick" in sys.argv
SIZES = [(200, 50)] if QUICK else [(1, 50), (20, 50), (200, 1), (200, 10), (200, 50), (200, 500), (200, 5_000), (1_000, 50)]
SHAPES = ["small", "small+rate", "large", "large+rate"]
WORDS = {"small": "body with the head", "large": "body a tenth of the latency, lengths vary",
         "+rate": ", latencies also corrected"}
# Bytes of a record of 200 names with 50 requests each whose bodies come with their heads, and the share of a core that a
# controller has for 1,000 of them a second.
MOST_BYTES, MOST_CORE, NODES = 14_000, 0.7, 1_000


def measured(names, samples):
    profile = [] if QUICK else ["--release"]
    command = ["cargo", "run", "--quiet", *profile, "-p", "squall-fleet", "--example", "sizes", "--",
               str(names), str(samples), *SHAPES]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def words(shape):
    base, rate = shape.partition("+rate")[:2]
    return WORDS[base] + WORDS.get(rate, "")


table = Table("names", "requests a name", "requests", "bytes", "bytes a name", "encode µs", "decode µs", "merge µs",
              f"core for {NODES:,} nodes", "goal", "")
sections = {}
for names, samples in SIZES:
    for own in measured(names, samples):
        is_goal = (names, samples, own["shape"]) == (200, 50, "small")
        core = (own["decode_us"] + own["merge_us"]) * NODES / 1e6
        goal = f"{MOST_BYTES:,} bytes, {MOST_CORE} core" if is_goal else ""
        met = own["bytes"] <= MOST_BYTES and (core <= MOST_CORE or QUICK)
        table.row(names, samples, words(own["shape"]), f"{own['bytes']:,}", f"{own['bytes'] / names:.0f}",
                  f"{own['encode_us']:.0f}", f"{own['decode_us']:.0f}", f"{own['merge_us']:.0f}", f"{core:.2f}", goal,
                  table.goal(met) if is_goal else "")
        if (names, samples) == (200, 50):
            sections[own["shape"]] = own["sections"]

print("\nBytes by section, before and after compression, of 200 names with 50 requests each:\n")
table.row("section", *map(words, sections))
table.row(*["---"] * (1 + len(sections)))
for name in next(iter(sections.values())):
    table.row(name, *(f"{own[name][0]:,} → {own[name][1]:,}" for own in sections.values()))
table.end()
