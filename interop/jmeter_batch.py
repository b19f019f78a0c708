#!/usr/bin/env python3
"""JMeter's own batch tests with squall: plans with the samples that are expected (`bin/testfiles` of its source, 5.6.3). Prints a
table of those that squall runs whole, and whether it makes the same samples, and of what the others lack; that of
docs/jmeter.md is made with `--page`.

    interop/jmeter_batch.py FOLDER [--page]

FOLDER is a copy of JMeter's source. Samples are compared in the columns that a test expects and squall writes, thread by thread."""

import argparse
import collections
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import SQUALL

PAGE = Path(__file__).resolve().parent.parent / "docs/jmeter.md"
COMPARED = ("label", "responseCode", "responseMessage", "threadName", "success", "failureMessage", "URL", "grpThreads")
#: Plans that are no tests of JMeter's build, or whose expectations it does not look at.
NO_TESTS = ("Bug47165", "Http4ImplPreemptiveBasicAuth-data")
#: What is expected without a line of names, by the number of columns.
USUAL = ["label", "responseCode", "responseMessage", "threadName", "dataType", "success", "grpThreads", "allThreads", "SampleCount", "ErrorCount"]
UNNAMED = {4: ["label", "threadName", "dataType", "success"], 5: ["label", "responseCode", "threadName", "dataType", "success"], 6: USUAL[:6],
           10: USUAL}
MOST_REASONS = 3


def tests(folder):
    """The plans, each with the file of what is expected and the client that is asked for, if one is."""
    for expected in (file for file in sorted(folder.glob("*.csv")) if file.stem not in NO_TESTS):
        for client in ("", "HttpClient4", "Java"):
            plan = folder / f"{re.sub(f'_{client}$', '', expected.stem) if client else expected.stem}.jmx"
            if plan.exists() and (not client or expected.stem.endswith(f"_{client}")):
                yield expected.stem, plan, expected, client
                break


def rows_of(path):
    """Rows with their names, and the names."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    named = lines and "label" in lines[0]
    names = lines[0] if named else UNNAMED.get(len(lines[0]) if lines else 0, [])
    return [dict(zip(names, line)) for line in lines[1 if named else 0:]], names


def by_thread(rows, columns):
    found = collections.defaultdict(list)
    for row in rows:
        found[row.get("threadName", "")].append(tuple(row.get(column, "") for column in columns))
    return found


def reasons(text):
    """What a plan lacks, without the places."""
    found = [re.search(r" \(([^()]*)\): (.*)$", line) for line in text.splitlines()[1:]]
    counted = collections.Counter(f"{line[1]}: {line[2]}" for line in found if line)
    shown = [what for what, _ in counted.most_common(MOST_REASONS)]
    return "; ".join(shown) + (f"; and {len(counted) - MOST_REASONS} more" if len(counted) > MOST_REASONS else "")


def one_worker():
    """On one processor, and so in one worker: several deal out shared numbers and rows beforehand, and not in one order."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def look(plan, expected, client):
    """What came of a test: whether it is whole, whether it passes, and what is to say of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "bin"
        shutil.copytree(plan.parent, folder / "testfiles")
        line = ["-n", "-t", f"testfiles/{plan.name}", "-l", "out.jtl", "-j", "log", "-f", "-Jmodule=Module", "-JCSVFILE=listener.csv"]
        # The files of what is expected have no parts of samples.
        line.append("-Jjmeter.save.saveservice.subresults=false")
        line += [f"-Jjmeter.httpsampler={client}"] if client else []
        if plan.stem == "Bug54685":
            line.append("-Jsample_variables=REFERENCE,JSESSIONID")
        done = subprocess.run([SQUALL, "jmeter", *line], cwd=folder, capture_output=True, text=True, timeout=120, preexec_fn=one_worker)
        if done.returncode == 2:
            return False, False, reasons(done.stderr)
        if done.returncode != 0:
            return True, False, f"it ends with code {done.returncode}: {done.stderr.strip().splitlines()[-1]}"
        theirs, names = rows_of(expected)
        ours, _ = rows_of(folder / "out.jtl")
        columns = [column for column in COMPARED if column in names]
        if not columns:
            return True, False, "columns that nobody names"
        ours = [row | {"URL": row["URL"] or "null"} for row in ours]
        if "threadName" not in columns:
            ours = [row | {"threadName": ""} for row in ours]
        theirs, ours = by_thread(theirs, columns), by_thread(ours, columns)
        if theirs == ours:
            return True, True, f"{sum(map(len, theirs.values()))} samples"
        for thread in sorted(set(theirs) | set(ours)):
            one, other = theirs.get(thread, []), ours.get(thread, [])
            for expected_row, row in zip([*one, None], [*other, None]):
                if expected_row != row:
                    return True, False, f"{thread}: {expected_row} is expected, and not {row}".replace("|", "\\|")
        return True, False, "samples of other threads"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--page", action="store_true")
    given = arguments.parse_args()
    lines, passed = ["| test | runs whole | the same samples | why not, or how many |", "| --- | --- | --- | --- |"], 0
    for name, plan, expected, client in tests(given.folder / "bin/testfiles"):
        whole, same, words = look(plan, expected, client)
        passed += same
        lines.append(f"| `{name}` | {'yes' if whole else 'no'} | {'yes' if same else 'no' if whole else ''} | {words} |")
    table = "\n".join(lines)
    print(table)
    if given.page:
        place = re.compile(r"(<!-- batch tests -->\n).*?(<!-- end of batch tests -->)", re.DOTALL)
        PAGE.write_text(place.sub(lambda found: f"{found[1]}{table}\n{found[2]}", PAGE.read_text()))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
