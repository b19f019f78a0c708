#!/usr/bin/env python3
"""Reads many JMeter plans and counts: how many are read, how many are whole, on how many lines these are written for each request,
and what the others lack.

    bench/jmeter_corpus.py plans.tar.xz [--most 40]

The archive is unpacked to a folder that goes away. Nothing is sent anywhere."""

import argparse
import collections
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/release/examples/inventory"


def build():
    command = ["cargo", "build", "--release", "-q", "-p", "squall-jmeter", "--example", "inventory"]
    subprocess.run(command, cwd=ROOT, check=True)


def look(paths):
    """The lines of each plan: one process for each, so that a panic is one plan's; and the slowest in seconds."""
    lines, broken, slowest = [], [], (0.0, None)
    for path in paths:
        began = time.monotonic()
        done = subprocess.run([BINARY, path], capture_output=True, text=True, timeout=60)
        slowest = max(slowest, (time.monotonic() - began, str(path)))
        if done.returncode != 0:
            broken.append((path, done.stderr.strip()))
        lines += [line.split("\t", 2) for line in done.stdout.splitlines()]
    return lines, broken, slowest


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("archive", type=pathlib.Path)
    arguments.add_argument("--most", type=int, default=40, help="rows of each table")
    given = arguments.parse_args()
    build()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(given.archive) as archive:
            archive.extractall(folder, filter="data")
        paths = sorted(pathlib.Path(folder).rglob("*.jmx"))
        lines, broken, slowest = look(paths)
        counts = collections.Counter((kind, what) for kind, _, what in lines if kind not in ("refused", "lines"))
        sizes = [[int(number) for number in what.split()] for kind, _, what in lines if kind == "lines"]
        requests, exact, short = (sum(column) for column in zip(*sizes)) if sizes else (0, 0, 0)
        refused = [(path, why) for kind, path, why in lines if kind == "refused"]
        print(f"{len(paths)} plans: {len(paths) - len(refused) - len(broken)} read, {len(refused)} refused, "
              f"{len(broken)} broken; {counts['plan', 'whole']} whole; slowest {slowest[0] * 1000:.0f} ms")
        print(f"{counts['plan', 'idle']} others lack nothing, but nothing in them runs without the properties that they want")
        print(f"{len(sizes)} plans with {requests} requests: {exact / max(requests, 1):.1f} lines a request with --exact, "
              f"{short / max(requests, 1):.1f} without")
        for path, why in refused + broken:
            print(f"  {pathlib.Path(path).relative_to(folder)}: {why}")
        for kind, title in (("element", "lack this element"), ("function", "call this function")):
            print(f"\nplans that {title}")
            rows = [(count, what) for (of, what), count in counts.items() if of == kind]
            for count, what in sorted(rows, key=lambda row: (-row[0], row[1]))[: given.most]:
                print(f"{count:5} {what}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
