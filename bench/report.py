#!/usr/bin/env python3
"""The page of a long run: how large it is, how long it takes to make, and to open, and what axe-core finds wrong with it. An hour
with 200 names, of which the goals are, by default: bench/report.py [SECONDS] [NAMES]. The run's folder is made, not run
(crates/report/examples/long_run.rs)."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import ROOT, Table, squall

# Goals: at most so many seconds until it is made, MB, and seconds until it is drawn; and nothing that axe-core finds.
MADE_S, SIZE_MB, DRAWN_S = 3, 3, 1


def measured(command):
    """(seconds, seconds of CPU) of a command."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    seconds, names = (int(argument) for argument in (sys.argv[1:] + ["3600", "200"][len(sys.argv) - 1:]))
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "-p", "squall-report", "--example", "long_run"], cwd=ROOT, check=True)
    os.environ["SQUALL"] = squall()
    # Before the scripts here, of which some have the names of modules there.
    sys.path.insert(0, str(ROOT / "interop"))
    from test_page import look

    with tempfile.TemporaryDirectory() as base:
        made = subprocess.run([ROOT / "target/release/examples/long_run", base, str(seconds), str(names)],
                              check=True, capture_output=True, text=True)
        folder = made.stdout.strip()
        page = str(Path(base) / "page.html")
        text = measured([squall(), "report", folder])
        html = measured([squall(), "report", folder, "--out", f"html={page}"])
        size = Path(page).stat().st_size / 1e6
        forms = look({"long": page})["long"]["forms"]
    drawn = [form["opened"] / 1e3 for form in forms]
    violations = sorted({violation for form in forms for violation in form["violations"]})
    table = Table("what", "found", "s of CPU", "goal, at most", "")
    table.row(f"`squall report` of {seconds} s and {names} names, as text", f"{text[0]:.2f} s", f"{text[1]:.2f}", f"{MADE_S} s", table.goal(text[0] <= MADE_S))
    table.row("the same, as a page", f"{html[0]:.2f} s", f"{html[1]:.2f}", f"{MADE_S} s", table.goal(html[0] <= MADE_S))
    table.row("its size", f"{size:.2f} MB", "", f"{SIZE_MB} MB", table.goal(size <= SIZE_MB))
    table.row("opening it (light, dark, phone), until it is drawn", f"{', '.join(f'{own:.2f}' for own in drawn)} s", "", f"{DRAWN_S} s",
              table.goal(max(drawn) <= DRAWN_S))
    table.row("what axe-core finds", len(violations), "", 0, table.goal(not violations))
    for violation in violations:
        print(violation, file=sys.stderr)
    table.end()


if __name__ == "__main__":
    main()
