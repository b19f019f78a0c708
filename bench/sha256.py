#!/usr/bin/env python3
"""What SHA-256 of a response of 1 GiB costs, in CPU seconds, and whose cost it is: `response_body: {hash: sha256}`
beside a bare loop that reads from a socket and digests with the same crate (`bench/floor`), and the digest
alone, of a piece that stays in the caches and of memory that is read once. Usage: sha256.py [RUNS]"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bodies import files
from floor import built
from lib import Table, load, median, run, spread

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
DOWNLOADS, GOAL = 3, 1.1
PLAN = """
target: {url}
scenarios:
  user: {{load: {{users: 1, iterations: {count}}}, steps: [{{get: /big, timeout: 5m, response_body: {body}}}]}}
"""


def in_run(server, folder, body):
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(url=server.url(""), count=DOWNLOADS, body=body))
    result = load(["run", str(plan), "--out", str(folder), "-w", "1"])
    assert result["json"]["totals"]["errors"] == 0, result["json"]["log"]
    return {"cpu": result["cpu"] / DOWNLOADS}


def bare(loops, what):
    result = run([str(loops / "floor-sha256"), what])
    if result["code"] != 0:
        sys.exit("floor-sha256 failed")
    return {"cpu": json.loads(result["text"])["cpu_s"]}


def measured(server, folder):
    """Alternated runs."""
    loops, socket = built(), f"127.0.0.1:{server.port}"
    ways = {
        "digest alone, in the caches": lambda: bare(loops, "hot"),
        "digest alone, memory read once": lambda: bare(loops, "cold"),
        "bare loop: read and digest": lambda: bare(loops, socket),
        "squall, {hash: xxh3}": lambda: in_run(server, folder, "{hash: xxh3}"),
        "squall, {hash: sha256}": lambda: in_run(server, folder, "{hash: sha256}"),
    }
    runs = {what: [] for what in ways}
    for _ in range(RUNS):
        for what, one in ways.items():
            runs[what].append(one())
    return runs


def main():
    with tempfile.TemporaryDirectory() as name:
        server, shared = files(Path(name))
        try:
            with server:
                runs = measured(server, Path(name))
        finally:
            subprocess.run(["rm", "-r", str(shared)], check=True)
    table = Table("what", "CPU s a GiB", "of the bare loop", "goal, at most", "")
    floor = median(runs["bare loop: read and digest"], "cpu")
    for what, own in runs.items():
        ratio, judged = median(own, "cpu") / floor, what == "squall, {hash: sha256}"
        table.row(what, f"{median(own, 'cpu'):.3f} ({spread(own, 'cpu')})", f"{ratio:.2f}", GOAL if judged else "",
                  table.goal(ratio <= GOAL) if judged else "")
    table.end()


main()
