#!/usr/bin/env python3
"""squall's numbers against ground truth: a server of our own that shares no code with squall and logs the kernel's
stamps of each request (server.c, compiled with `cc`), over loopback or a wire of our own with delay and loss (wire.c),
beside squall's log of requests, joined request by request, with both I/O backends. Exit code 1 where a figure is off by
more than is allowed: counts must be equal, and times within 50 µs or 5 %.

Usage: requests.py [--counts] [--fast] [--figures] [--only TEXT] [--io epoll|io_uring]
  --counts   judges counts and kinds alone, which no other program on the machine can change: times are printed, and
             not judged, and the server and the wire have no real-time priority, which would hold others up
  --fast     --counts, and only the cases that take some two minutes together
  --figures  prints every figure, not only a line for each case and those that miss
  --only     cases whose name holds this"""

import argparse
import os
import shutil
import subprocess
import sys

from cases import CASES
from figures import figures
from ground import measure
from wire import Wire, missing

from lib import Table

BACKENDS = ("epoll", "io_uring")
COLUMNS = ("truth", "squall", "difference, µs", "allowed", "")
# What the line of a case shows, beside how many figures are within their limits.
SHOWN = ("latency, p50", "latency, p99", "latency, request by request: p50 of the differences",
         "latency, request by request: p99 of the differences")


def options():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--counts", action="store_true")
    words.add_argument("--fast", action="store_true")
    words.add_argument("--figures", action="store_true")
    words.add_argument("--only", default="")
    words.add_argument("--io", choices=BACKENDS)
    given = words.parse_args()
    given.counts |= given.fast
    return given


def measured(case, io, is_prompt):
    """One run of a case, over a wire of its own if it needs one."""
    if not case.wire:
        return measure(case, io, is_prompt)
    wire = Wire(*case.wire, is_prompt)
    try:
        return measure(case, io, is_prompt, wire)
    finally:
        wire.end()


def line(own, judged):
    """What the line of a case shows, of all figures and of those that are judged."""
    by_name = {figure.name: figure for figure in own}
    latencies = [by_name.get(name) for name in SHOWN]
    pairs = [(f"{figure.truth:,.0f}", f"{figure.squall:,.0f}") if figure else ("", "") for figure in latencies]
    met = sum(figure.is_met for figure in judged)
    return (f"{by_name['requests'].truth:,}", *pairs[0], *pairs[1], pairs[2][1], pairs[3][1], f"{met} of {len(judged)}")


def as_root_of_a_namespace():
    """Starts this again as the root of a user namespace, if it is not root and may be: only root makes wires."""
    inside = ["unshare", "--user", "--map-root-user"]
    if os.geteuid() == 0 or not shutil.which("unshare"):
        return
    if subprocess.call([*inside, "true"], stderr=subprocess.DEVNULL) == 0:
        os.execvp("unshare", [*inside, sys.executable, *sys.argv])


words = options()
as_root_of_a_namespace()
no_wire, missed = missing(), []
table = Table("case", "I/O backend", "figure", *COLUMNS) if words.figures else \
    Table("case", "I/O backend", "requests", "p50, µs: truth", "squall", "p99, µs: truth", "squall",
          "apart, request by request, µs: p50", "p99", "figures within limits", "")
for case in CASES:
    if words.only not in case.name or (words.fast and not case.fast) or (case.wire and no_wire):
        continue
    for io in [words.io] if words.io else BACKENDS:
        own = list(figures(measured(case, io, is_prompt=not words.counts)))
        judged = [figure for figure in own if not (words.counts and figure.is_timed)]
        missed += [(case.name, io, figure) for figure in judged if not figure.is_met]
        if words.figures:
            for figure in own:
                table.row(case.name, io, figure.name, *figure.cells(), table.goal(figure.is_met) if figure in judged else "not judged")
        else:
            table.row(case.name, io, *line(own, judged), table.goal(all(figure.is_met for figure in judged)))
if words.counts:
    print("\nCounts and kinds are judged, times are not.")
if no_wire:
    print(f"\nWithout the cases over a wire: {no_wire}.")
if missed and not words.figures:
    print("\nOutside their limits:\n")
    table.row("case", "I/O backend", "figure", *COLUMNS[:-1])
    table.row(*["---"] * 7)
    for name, io, figure in missed:
        table.row(name, io, figure.name, *figure.cells())
table.end()
