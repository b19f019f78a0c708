#!/usr/bin/env python3
"""A stall of the generator is never an error of the target: squall is stopped for 1.6 s (SIGSTOP) while 20 users
wait for responses that take 0.2 s and may take 1 s. No response may count as an error, and the run must be
questionable by the rule `stalled`. Usage: stall.py [RUNS]"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import GENERATOR_CPU, Table, pinned, squall, target

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
STALL_S = 1.6
PLAN = """
target: {url}
scenarios:
  user: {{load: {{users: 20, for: 6s}}, steps: [{{get: /delay/200, timeout: {{total: 1s}}}}]}}
"""


def stalled(server, io):
    """The result of one run, stopped from its second second on."""
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.yaml"
        plan.write_text(PLAN.format(url=server.url("")))
        command = [squall(), "run", str(plan), "--out", folder, "--io", io, "--quiet", "--json", "-"]
        process = subprocess.Popen(pinned(GENERATOR_CPU, command), stdout=subprocess.PIPE, text=True)
        time.sleep(2)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(STALL_S)
        os.kill(process.pid, signal.SIGCONT)
        return json.loads(process.communicate()[0])


with target() as server:
    table = Table("I/O backend", "requests", "errors", "kinds", "validity", "rules", "goal", "")
    for io in ("epoll", "io_uring"):
        runs = [stalled(server, io) for _ in range(RUNS)]
        errors = sum(run["totals"]["errors"] for run in runs)
        kinds = {kind for run in runs for kind in run["totals"]["error_kinds"]}
        rules = [{reason["rule"] for reason in run["validity_reasons"]} for run in runs]
        told = all(run["validity"] == "questionable" and "stalled" in own for run, own in zip(runs, rules))
        table.row(io, f"{sum(run['totals']['count'] for run in runs):,}", errors, ", ".join(sorted(kinds)) or "none",
                  ", ".join(sorted({run["validity"] for run in runs})), ", ".join(sorted(set.union(*rules))),
                  "no errors, questionable: stalled", table.goal(errors == 0 and told))
table.end()
