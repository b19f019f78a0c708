#!/usr/bin/env python3
"""squall's numbers against ground truth: a server of our own that shares no code with squall and logs the kernel's
stamps of each request (server.c, compiled with `cc`) beside squall's log of requests, joined request by request, with
both I/O backends. Exit code 1 where a figure deviates by more than is allowed.

Usage: run.py [--fast] [--missed] [--only TEXT] [--io epoll|io_uring]
  --fast    what does not depend on how busy the machine is, in less than two minutes; a case that misses is repeated
  --missed  prints the figures that miss only
  --only    cases whose name holds this"""

import argparse
import sys

from cases import CASES
from compare import figures
from ground import measure
from wire import Wire, missing

from lib import Table

BACKENDS = ("epoll", "io_uring")


def options():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("--fast", action="store_true")
    words.add_argument("--missed", action="store_true")
    words.add_argument("--only", default="")
    words.add_argument("--io", choices=BACKENDS)
    return words.parse_args()


def measured(case, io):
    """One run of a case, over a wire of its own if it needs one."""
    if not case.wire:
        return measure(case, io)
    wire = Wire(*case.wire)
    try:
        return measure(case, io, wire)
    finally:
        wire.end()


def compared(case, io, fast):
    """The figures of a case; in the fast run, those that another program on the machine cannot move, and of two
    attempts the second if the first misses."""
    for attempt in (1, 2):
        own = [figure for figure in figures(measured(case, io)) if not (fast and figure.noisy)]
        if not fast or attempt == 2 or all(figure.is_met for figure in own):
            return own


def run_case(case, words, table):
    """Measures a case with each backend and prints its figures."""
    for io in [words.io] if words.io else BACKENDS:
        for figure in compared(case, io, words.fast):
            met = table.goal(figure.is_met)
            if not (words.missed and figure.is_met):
                table.row(case.name, io, figure.name, *figure.cells(), met)


words = options()
table = Table("case", "I/O backend", "figure", "truth", "squall", "difference, µs", "allowed", "")
no_wire = missing()
for case in CASES:
    if words.only in case.name and (case.fast or not words.fast) and not (case.wire and no_wire):
        run_case(case, words, table)
if no_wire:
    print(f"\nWithout the cases over a wire: {no_wire}.")
table.end()
