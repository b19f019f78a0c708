#!/usr/bin/env python3
"""Runs every measuring script, one after the other, with the arguments below, and writes
what each prints into docs/develop/benchmarks/NAME.md, with the version, the machine and the time it took, and its tables into
docs/measurement.md and docs/fleet.md, between the marks `<!-- NAME -->` and `<!-- end -->` (a link alone for
`<!-- NAME: link -->`): so that all figures are of one version. Prints a line for each. Wants a machine that does nothing
else, for some three hours; exit code 1 if a script missed a goal or did not end in its time. Usage: all.py [NAME ...] (only
these), all.py --rest (only those whose figures are of another version, so that a round can be made in several sittings), all.py
--list (the names, and the version that each was measured with), all.py --page (puts what is kept into the pages again)"""

import datetime
import os
import re
import signal
import subprocess
import sys
import time

from lib import ROOT, machine, squall

PAGES = [ROOT / "docs/measurement.md", ROOT / "docs/fleet.md"]
RAW = ROOT / "docs/develop/benchmarks"
# Arguments of each script, and how many minutes it may take. What is short, and most read, comes first.
SCRIPTS = {
    "cpu": ("3 2", 6),
    "build": ("", 15),
    "floor": ("3 2", 6),
    "ring": ("3 3", 6),
    "rendered": ("3 2", 6),
    "http2": ("3 3", 10),
    "page": ("2 4", 6),
    "syscalls": ("", 3),
    "sends": ("3", 8),
    "request_log": ("3", 5),
    "sinks": ("3 20", 10),
    "monitor/cost": ("3 20", 6),
    "target": ("3", 5),
    "workers": ("2", 5),
    "memory": ("", 8),
    "users": ("", 12),
    "ramp": ("", 8),
    "connections": ("40", 6),
    "speed": ("", 5),
    "bodies": ("5 1", 10),
    "report": ("", 8),
    "check": ("3", 5),
    "hostile": ("", 10),
    "healthy": ("2 8", 30),
    "situations": ("", 10),
    "limit": ("10", 20),
    "truth/requests": ("", 20),
    "truth/series": ("", 20),
    "compare": ("20", 60),
    "gates": ("24 60", 80),
    "limit_queues": ("100", 60),
    "saturation": ("", 20),
    "truth": ("10 120 8", 60),
    "peers": ("30", 40),
    "jmeter": ("25 2", 12),
    "jmeter_large": ("3", 5),
    "jmeter_groups": ("", 10),
    "extractors": ("6 2", 15),
    "soak": ("--minutes 10", 40),
    "experiment/real": ("--short", 45),
    "script_gc": ("", 4),
    "script_soak": ("", 20),
    "fleet/sizes": ("", 10),
    "fleet/publishers": ("", 10),
    "fleet/node_cost": ("6", 12),
    "fleet/loss": ("", 15),
    "fleet/live": ("", 6),
}


def version():
    """The last commit that changed squall itself, which later ones of documentation, tests and scripts do not; and whether
    anything differs from it."""
    def git(*arguments):
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout.strip()

    code = ["--", "Cargo.toml", "Cargo.lock", "crates", ":(exclude)crates/*/tests/*", ":(exclude)crates/*/examples/*"]
    return git("log", "-1", "--format=%h", *code) + (" with changes" if git("status", "--porcelain", *code) else "")


def raw(name):
    """Where what a script printed is kept."""
    return RAW / f"{name.replace('/', '-')}.md"


def measured_version(name):
    """The version that what is kept of a script is of; empty: nothing is kept."""
    found = re.search(r", commit (.*?), ", raw(name).read_text().partition("\n")[0]) if raw(name).exists() else None
    return found[1] if found else ""


def put_into_pages(name):
    """Puts what is kept of a script in the places that the pages have for it."""
    head, _, text = raw(name).read_text().partition("\n\n")
    # All but how it ended: the command, when, which version, on which machine.
    tables = re.sub(r"^Measured on .*\n\n?", "", text, flags=re.MULTILINE).strip()

    place = re.compile(rf"(<!-- {re.escape(name)}(: link)? -->).*?<!-- end -->", re.DOTALL)
    for page in PAGES:
        link = f"Measured with [{head.partition(';')[0]}]({raw(name).relative_to(page.parent)})."

        def block(place):
            return "\n\n".join([place[1], link, *([] if place[2] else [tables]), "<!-- end -->"])

        page.write_text(place.sub(block, page.read_text()))


def run(command, minutes):
    """What a command prints, and its exit code; None: it did not end in time, and was stopped with all that it started."""
    process = subprocess.Popen(command, cwd=ROOT / "bench", stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        text, _ = process.communicate(timeout=60 * minutes)
        return text, process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0], None


def main(names):
    unknown = [name for name in names if name not in SCRIPTS]
    if unknown:
        sys.exit(f"no such script: {', '.join(unknown)}")
    squall()
    RAW.mkdir(exist_ok=True)
    good = True
    print("| script | seconds | exit code |\n| --- | --- | --- |", flush=True)
    for name in names or SCRIPTS:
        arguments, minutes = SCRIPTS[name]
        command = [sys.executable, f"{name}.py", *arguments.split()]
        began, now = time.monotonic(), datetime.datetime.now(datetime.timezone.utc)
        text, code = run(command, minutes)
        seconds = time.monotonic() - began
        shown = " ".join(["bench/" + command[1], *command[2:]])
        how = f"ended with {code}" if code is not None else f"was stopped after {minutes} minutes"
        head = f"`{shown}`, {now:%Y-%m-%d %H:%M} UTC, commit {version()}, {machine()}; {how} after {seconds:.0f} s."
        raw(name).write_text(f"{head}\n\n{text.strip()}\n")
        put_into_pages(name)
        print(f"| {name} | {seconds:.0f} | {'none' if code is None else code} |", flush=True)
        good &= code == 0
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{name}\t{measured_version(name)}" for name in SCRIPTS))
    elif sys.argv[1:] == ["--rest"]:
        current = version()
        rest = [name for name in SCRIPTS if measured_version(name) != current]
        sys.exit(main(rest) if rest else 0)
    elif sys.argv[1:] == ["--page"]:
        for name in filter(lambda name: raw(name).exists(), SCRIPTS):
            put_into_pages(name)
    else:
        sys.exit(main(sys.argv[1:]))
