#!/usr/bin/env python3
"""The page of a long run: how large it is, how long it takes to make, and to open. An hour with 200 names, by default:
bench/report.py [SECONDS] [NAMES]. The run's folder is made, not run (crates/report/examples/long_run.rs)."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "interop"))


def measured(command):
    """(seconds, seconds of CPU) of a command."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    seconds, names = (int(argument) for argument in (sys.argv[1:] + ["3600", "200"][len(sys.argv) - 1:]))
    build = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", ROOT / "Cargo.toml"]
    subprocess.run([*build, "-p", "squall"], check=True)
    subprocess.run([*build, "-p", "squall-report", "--example", "long_run"], check=True)
    os.environ["SQUALL"] = squall = str(ROOT / "target/release/squall")
    from test_page import look

    with tempfile.TemporaryDirectory() as base:
        made = subprocess.run([ROOT / "target/release/examples/long_run", base, str(seconds), str(names)],
                              check=True, capture_output=True, text=True)
        folder = made.stdout.strip()
        page = str(Path(base) / "page.html")
        text = measured([squall, "report", folder])
        html = measured([squall, "report", folder, "--out", f"html={page}"])
        size = Path(page).stat().st_size
        opened = [form["opened"] / 1e3 for form in look({"long": page})["long"]["forms"]]
    print("| what | seconds | of CPU |")
    print("| --- | --- | --- |")
    print(f"| `squall report` of {seconds} s and {names} names, as text | {text[0]:.2f} | {text[1]:.2f} |")
    print(f"| the same, as a page of {size / 1e6:.2f} MB | {html[0]:.2f} | {html[1]:.2f} |")
    print(f"| opening it (light, dark, phone), until it is drawn | {', '.join(f'{s:.2f}' for s in opened)} | |")


if __name__ == "__main__":
    main()
