#!/usr/bin/env python3
"""The published experiments with two rates, on the built-in target: what squall finds, and why."""

import json
import subprocess
import sys
import tempfile

from lib import ROOT, squall

PUBLISHED = [
    ("fixed", "20 users × 50 requests, responses after 100 ms", "2 %"),
    ("uniform", "responses after 100 ms + 0 to 333 ms, 20 × 50", "7.33 %"),
    ("uniform-40-users", "40 × 50", "12.11 %"),
    ("uniform-100-requests", "20 × 100", "6.78 %"),
    ("together", "20 × 50, all ended with the first", "2.78 %"),
    ("logging", "40 × 50, fixed 100 ms, ten log lines a request", "10 % of the rate lost"),
]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("| plan | published | squall, one run a seed | causes that squall names (first seed) |")
    print("| --- | --- | --- | --- |")
    for name, what, published in PUBLISHED:
        runs = []
        for seed in range(1, rounds + 1):
            with tempfile.TemporaryDirectory() as folder:
                command = [squall(), "run", str(ROOT / f"examples/two-rates/{name}.yaml"), "--quiet",
                           "--seed", str(seed), "--out", folder, "--json", "-"]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            runs.append(json.loads(output)["throughput_gap"])
        shares = ", ".join(f"{run['gap'] * 100:.2f} %" for run in runs)
        causes = "; ".join(f"{cause['share'] * 100:.2f} % {cause['text']}" for cause in runs[0]["causes"])
        print(f"| {what} (`{name}`) | {published} | {shares} | {causes or 'none'} |")


main()
