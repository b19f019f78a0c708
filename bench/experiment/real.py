#!/usr/bin/env python3
"""The experiments of examples/experiment, one after the other, as they come: three with a known answer (equal, 5 % and 20 % slower),
and two published comparisons beside their published figures. The lab's server needs Maven, and `java` 21 or later (JAVA_HOME may
be another one for Maven); keep-alive needs `nginx`; the kernel's settings need root, and get a network namespace of their own.
Exit code 1: a known answer was not found. Usage: real.py [--short] [NAME ...] (names of experiments' files, without
.experiment.yaml)"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lib import ROOT, machine, need, squall  # noqa: E402: it is found by the line above

EXAMPLES = ROOT / "examples/experiment"
# In the order in which they are made: folder, and the options of each run that make it short.
EXPERIMENTS = {
    "equal": ("", []),
    "five-percent": ("", []),
    "twenty-percent": ("", []),
    "lab": ("java-server", ["--iterations", "20000"]),
    "keep-alive": ("keep-alive", ["--for", "2s"]),
    "kernel": ("keep-alive", []),
    "users": ("java-server", ["--iterations", "10000"]),
}
SHORT = "--short" in sys.argv
NAMES = [name for name in sys.argv[1:] if not name.startswith("--")] or list(EXPERIMENTS)
# How much longer the second variant of these takes.
KNOWN = {"equal": 0.0, "five-percent": 0.05, "twenty-percent": 0.2}
# The lab report's averages in ms, by threads, parser and request.
PUBLISHED_LAB = {
    ("virtual", "own"): (1.191, 0.1448), ("virtual", "gson"): (1.2595, 0.1276),
    ("classic", "own"): (1.1144, 0.1368), ("classic", "gson"): (1.212, 0.1198),
}
REQUESTS = ("store", "compute")


def java_version():
    output = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', output)
    return int(found[1]) if found else 0


def lacks(name):
    """What this machine lacks for an experiment; None: nothing."""
    folder, _ = EXPERIMENTS[name]
    if folder == "java-server":
        need("java", "mvn")
        return None if java_version() >= 21 else f"`java` is {java_version()}, and virtual threads need 21"
    if folder == "keep-alive":
        need("nginx", "ss", "unshare", "ip")
        return None if os.geteuid() == 0 else "kernel settings and a network namespace need root"
    return None


def experiment(name, out):
    """Makes an experiment: its result, and what it printed."""
    folder, short = EXPERIMENTS[name]
    file, result = EXAMPLES / folder / f"{name}.experiment.yaml", out / f"{name}.json"
    command = [squall(), "experiment", str(file), "--allow-exec", "--allow-sysctl", "--out", str(out), "--json", str(result)]
    command += ["--", *short] if SHORT and short else []
    if folder == "keep-alive":
        command = ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", *command]
    # `squall target` is the server of some.
    path = f"{Path(squall()).resolve().parent}:{os.environ['PATH']}"
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": path})
    if not result.exists():
        sys.exit(f"{name} has no result: exit code {output.returncode}")
    return json.loads(result.read_text()), output.stdout


def between(result, measure, first, second):
    """The difference of a variant from another."""
    for own in result["comparisons"]:
        if own["measure"] == measure and (own["first"], own["second"]) == (first, second):
            return own["difference"]
    sys.exit(f"nothing compares {first} with {second}")


def percent(value):
    return f"{100 * value:+.1f} %"


def told(difference):
    if difference is None or difference["low"] is None:
        return "unknown"
    text = f"{percent(difference['value'])} ({percent(difference['low'])} to {percent(difference['high'])})"
    return text + (", real" if difference["is_real"] else ", not to be told from chance")


def told_here(text):
    """What an experiment printed, without the folders that it was in."""
    lines = [line for line in text.splitlines() if not line.startswith((" experiment's folder", " plan  "))]
    return re.sub(r"/\S*/", "", "\n".join(lines)).strip()


def known(name, result):
    """Whether a known answer was found, with what was: nothing is called different that is equal, no interval misses the truth, and
    what is not to be told from chance is said to need more repeats than there are."""
    first, second = (own["name"] for own in result["variants"])
    difference = between(result, "mean(search)", first, second)
    if KNOWN[name] == 0:
        return not any(own["difference"]["is_real"] for own in result["comparisons"]), difference
    needed = difference["repeats_needed"] or sys.maxsize
    is_seen = difference["is_real"] or needed > result["about"]["repeats"]
    return is_seen and difference["low"] <= KNOWN[name] <= difference["high"], difference


def value(result, variant, measure):
    own = next(own for own in result["variants"] if own["name"] == variant)
    return next(cell["value"] for cell in own["cells"] if cell["measure"] == measure)


def lab(result):
    """The published averages, and what was found, in the published unit: an average a request is the time of the whole run,
    divided by its requests."""
    print("| threads, parser | store: published, ms | here, ms | compute: published, ms | here, ms |")
    print("| --- | --- | --- | --- | --- |")
    for (threads, parser), published in PUBLISHED_LAB.items():
        cells = []
        for request, figure in zip(REQUESTS, published):
            rate = value(result, f"{threads}, {parser}, {request}", "rate")
            cells += [f"{figure}", f"{1e3 / rate:.4f}" if rate else "-"]
        print(f"| {threads}, {parser} | {' | '.join(cells)} |")
    print("\n| published conclusion | variants | here, of the mean |\n| --- | --- | --- |")
    rows = [("classic threads are 5 to 8 % faster", [(f"virtual, {parser}, {request}", f"classic, {parser}, {request}")
            for parser in ("own", "gson") for request in REQUESTS])]
    for request, said in zip(REQUESTS, ("the own parser is 5 to 8 % faster on simple bodies",
                                        "Gson is 13.4 to 14.1 % faster on bodies with arrays")):
        rows.append((said, [(f"{threads}, own, {request}", f"{threads}, gson, {request}")
                            for threads in ("virtual", "classic")]))
    for said, pairs in rows:
        for first, second in pairs:
            print(f"| {said} | {second} against {first} | {told(between(result, 'mean', first, second))} |")


def main():
    good = True
    print(f"Measured on {machine()}.\n")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        for name in NAMES:
            print(f"## {name}\n", flush=True)
            if missing := lacks(name):
                print(f"Not run: {missing}.\n")
                continue
            result, text = experiment(name, out)
            short = EXPERIMENTS[name][1] if SHORT else []
            print(f"Made in {result['about']['elapsed_s']:.0f} s"
                  + (f", each run made short by `{' '.join(short)}`" if short else "") + ".\n")
            print(f"```text\n{told_here(text)}\n```\n", flush=True)
            if name in KNOWN:
                found, difference = known(name, result)
                good &= found
                print(f"Known: {percent(KNOWN[name])}. Found: {told(difference)}: {'as it is' if found else 'WRONG'}.\n", flush=True)
            if name == "lab":
                lab(result)
                print()
    return 0 if good else 1


if __name__ == "__main__":
    unknown = [name for name in NAMES if name not in EXPERIMENTS]
    sys.exit(f"no such experiment: {', '.join(unknown)}" if unknown else main())
