#!/usr/bin/env python3
"""System calls and clock reads a request, by I/O backend and number of users: the difference between a run of
many requests and one of few, so that what a run takes anyway is left out. Needs strace and cc.
Usage: syscalls.py [PATH OF SQUALL]"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import Server, free_port, need, squall

FEW, MANY = 2_000, 22_000

PLAN = """
target: http://127.0.0.1:{port}
scenarios:
  main: {{load: {{users: {users}, iterations: {iterations}}}, steps: [{{get: /status/200}}]}}
"""

# Rust's standard library reads the clock by this function of the C library, which is no system call.
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
static _Atomic long reads;
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    reads++;
    return real(clock, time);
}
__attribute__((destructor)) static void end(void) { fprintf(stderr, "clock reads: %ld\\n", reads); }
"""


def calls(command, folder):
    """System calls of a run, by name."""
    out = Path(folder) / "strace"
    subprocess.run(["strace", "-f", "-c", "-o", out, *command], check=True, capture_output=True)
    lines = (line.split() for line in out.read_text().splitlines())
    return {line[-1]: int(line[3]) for line in lines if len(line) >= 5 and line[3].isdigit() and line[-1] != "total"}


def clock_reads(command, shim):
    ran = subprocess.run(["env", f"LD_PRELOAD={shim}", *command], check=True, capture_output=True, text=True)
    return int(re.search(r"clock reads: (\d+)", ran.stderr)[1])


need("strace", "cc")
program = sys.argv[1] if len(sys.argv) > 1 else squall()
port = free_port()
with tempfile.TemporaryDirectory() as folder:
    source, shim = Path(folder) / "shim.c", Path(folder) / "shim.so"
    source.write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    target = Server([program, "target", "-l", f"127.0.0.1:{port}"], port)
    try:
        print("| backend | users | system calls a request | clock reads a request |")
        print("| --- | --- | --- | --- |")
        for io in ("io_uring", "epoll"):
            for users in (1, 16):
                counted = []
                for requests in (FEW, MANY):
                    plan = Path(folder) / "plan.yaml"
                    plan.write_text(PLAN.format(port=port, users=users, iterations=requests // users))
                    command = [program, "run", str(plan), "--out", folder, "-w", "1", "--quiet", "--io", io]
                    counted.append((calls(command, folder), clock_reads(command, shim)))
                (few, few_reads), (many, many_reads) = counted
                made = (MANY // users - FEW // users) * users
                a_request = {name: (count - few.get(name, 0)) / made for name, count in many.items()}
                named = ", ".join(f"{name} {count:.2f}" for name, count in sorted(a_request.items()) if count >= 0.005)
                total = sum(count for count in a_request.values() if count >= 0.005)
                print(f"| {io} | {users} | {total:.2f}: {named} | {(many_reads - few_reads) / made:.2f} |")
    finally:
        target.process.terminate()
        target.process.wait()
