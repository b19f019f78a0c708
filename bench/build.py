#!/usr/bin/env python3
"""What a newcomer waits for: the README's first command in a fresh clone, from nothing compiled to its result; how large the
binary is, and of how many crates of others. The crates are fetched before the clock starts. Usage: build.py"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import ROOT, Table

# The example itself runs for 18 s of this.
COMMAND = ["cargo", "run", "--release", "--locked", "--quiet", "--", "run", "examples/first.yaml", "--quiet"]

with tempfile.TemporaryDirectory(prefix="squall-build-") as folder:
    subprocess.run(["git", "clone", "--quiet", str(ROOT), folder], check=True)
    subprocess.run(["cargo", "fetch", "--locked", "--quiet"], cwd=folder, check=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CARGO_")}
    before, began = os.times(), time.monotonic()
    ran = subprocess.run(COMMAND, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    took, after = time.monotonic() - began, os.times()
    if ran.returncode not in (0, 1):
        sys.exit(f"the README's first command ended with code {ran.returncode}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    size = Path(folder, "target/release/squall").stat().st_size
    tree = ["cargo", "tree", "--locked", "-p", "squall", "--edges", "normal", "--prefix", "none", "--format", "{p}"]
    crates = subprocess.run(tree, cwd=folder, check=True, capture_output=True, text=True).stdout
    others = {line.split(" (")[0] for line in crates.splitlines() if folder not in line and line}

table = Table("what", "measured", "goal")
table.row("from the clone to the first result, s", f"{took:.0f} ({cpu:.0f} of CPU)", f"at most 240: {table.goal(took <= 240)}")
table.row("binary, MB", f"{size / 1e6:.1f}", f"at most 25: {table.goal(size <= 25e6)}")
table.row("crates of others in it", len(others), f"at most 180: {table.goal(len(others) <= 180)}")
table.end()
