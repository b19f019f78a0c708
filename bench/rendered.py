#!/usr/bin/env python3
"""What rendering costs: a request with variables in its path and a header, beside the same without; CPU time
a request in alternated runs, and calls of the allocator a request. The calls are counted by a library that is
loaded before the C library (compiled here, for glibc): the difference between a run of many requests and one
of few, so that what a run takes anyway is left out. Usage: rendered.py [RUNS] [SECONDS]"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import Table, counted, load, median, need, nginx, spread, squall

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [5, 3][len(sys.argv) - 1:])[:2]
GOAL = 1.05
USERS, FEW, MANY = 64, 64_000, 640_000
# What a run does once a second counts too: a request has none below this share.
NONE = 0.01

PLAN = """
target: {url}
scenarios:
  user:
    load: {{users: {users}, {end}}}
    steps: [{{get: "{path}", name: page, headers: {{X-Trace: "{header}"}}}}]
"""
# Of the same length when rendered, most of the time.
REQUESTS = {"constant": ("/page/63/100000", "user-63-100000"),
            "rendered": ("/page/${user}/${iteration}", "user-${user}-${iteration}")}

SHIM = """
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t), __libc_free(void *);
static _Atomic long allocated, freed;
static void count(_Atomic long *calls) { atomic_fetch_add_explicit(calls, 1, memory_order_relaxed); }
void *malloc(size_t size) { count(&allocated); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(&allocated); return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { count(&allocated); return __libc_realloc(old, size); }
void *aligned_alloc(size_t align, size_t size) { count(&allocated); return __libc_memalign(align, size); }
int posix_memalign(void **out, size_t align, size_t size) {
    count(&allocated);
    *out = __libc_memalign(align, size);
    return *out ? 0 : ENOMEM;
}
void free(void *old) { if (old) count(&freed); __libc_free(old); }
__attribute__((destructor)) static void end(void) {
    fprintf(stderr, "allocations: %ld, freed: %ld\\n", allocated, freed);
}
"""


def written(plan, server, kind, end):
    path, header = REQUESTS[kind]
    plan.write_text(PLAN.format(url=server.url(""), users=USERS, end=end, path=path, header=header))
    return ["run", str(plan), "--out", str(plan.parent), "-w", "1"]


def allocations(server, folder, shim, kind):
    """Allocations a request, and memory given back a request."""
    calls = []
    for requests in (FEW, MANY):
        command = [squall(), *written(folder / "plan.yaml", server, kind, f"iterations: {requests // USERS}"), "--quiet"]
        ran = subprocess.run(command, env=os.environ | {"LD_PRELOAD": str(shim)}, check=True, capture_output=True, text=True)
        found = re.search(r"allocations: (\d+), freed: (\d+)", ran.stderr)
        calls.append([int(number) for number in found.groups()])
    return [(many - few) / (MANY - FEW) for few, many in zip(*calls)]


need("cc")
with nginx() as server, tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    source, shim = folder / "shim.c", folder / "shim.so"
    source.write_text(SHIM)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-fno-builtin", "-o", shim, source], check=True)
    runs = {kind: [] for kind in REQUESTS}
    for _ in range(RUNS):
        for kind, own in runs.items():
            own.append(counted(server, load, written(folder / "plan.yaml", server, kind, f"for: {SECONDS}s")))
            assert own[-1]["json"]["totals"]["errors"] == 0, own[-1]["json"]["log"]
    table = Table("request", "µs CPU a request", "of the constant one", "goal, at most", "", "allocations a request",
                  "freed", "goal", "")
    constant = median(runs["constant"], "us")
    for kind, own in runs.items():
        us, (allocated, freed) = median(own, "us"), allocations(server, folder, shim, kind)
        judged = kind == "rendered"
        table.row(kind, f"{us:.2f} ({spread(own, 'us')})", f"{us / constant:.2f}x", f"{GOAL}x" if judged else "",
                  table.goal(us <= GOAL * constant) if judged else "", f"{allocated:.3f}", f"{freed:.3f}", 0,
                  table.goal(allocated < NONE))
table.end()
