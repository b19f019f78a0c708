#!/usr/bin/env python3
"""Healthy runs: ten kinds of plans that this machine runs well, three times each, alone and beside a program that
takes the target's processor a fifth of the time and leaves 20,000 closed connections of its own to another
destination. What is not `valid` is a false alarm; at most one in thirty may be. Usage: healthy.py [RUNS] [SECONDS]"""

import json
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from lib import GENERATOR_CPU, SERVER_CPU, Table, nginx, pinned, squall, target

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [3, 8][len(sys.argv) - 1:])[:2]
MOST = 1
# Loads and steps; `{}` is the length in seconds.
KINDS = {
    "one user": ("{users: 1, for: {}s}", "[{get: /}]"),
    "64 users that think": ("{users: 64, for: {}s}", "[{get: /}, {think: 10ms}]"),
    "200 users due at the same moment": ("{users: 200, for: {}s, pacing: 1s}", "[{get: /}]"),
    "1,000/s": ("{rate: 1000/s, for: {}s, max_users: 200}", "[{get: /}]"),
    "5,000/s": ("{rate: 5000/s, for: {}s, max_users: 200}", "[{get: /}]"),
    "a ramp to 2,000/s": ("{rate: 2000/s, ramp: 3s, for: {}s, max_users: 200}", "[{get: /}]"),
    "three requests and a check": (
        "{users: 20, for: {}s}",
        "[{get: /a, check: [status == 200]}, {think: 20ms}, {get: /b}, {get: /c}, {think: 20ms}]"),
    "posts": ("{rate: 500/s, for: {}s, max_users: 100}", "[{post: /, body: \"a=1&b=2\"}]"),
    "a new connection for each of 200/s": ("{rate: 200/s, for: {}s, max_users: 100}", "[{get: /}]"),
    "slow responses": ("{rate: 300/s, for: {}s, max_users: 300}", "[{get: \"/delay/40?dist=exponential\"}]"),
}


def plan(kind, url):
    load, steps = KINDS[kind]
    reuse = "connections: {reuse: per_iteration}\n" if "new connection" in kind else ""
    load = load.replace("{}", str(SECONDS))
    return f"target: {url}\nwarmup: none\n{reuse}scenarios:\n  user: {{load: {load}, steps: {steps}}}\n"


def run(kind, url):
    """Validity and reasons of a run."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "plan.yaml"
        path.write_text(plan(kind, url))
        command = [squall(), "run", str(path), "--out", name, "-w", "1", "--quiet", "--json", "-"]
        done = subprocess.run(pinned(GENERATOR_CPU, command), capture_output=True, text=True)
        return json.loads(done.stdout)


class Neighbour:
    """Another program: a fifth of the target's processor, and connections to a destination of its own."""

    def __enter__(self):
        code = "import time\nwhile True:\n e = time.time() + 0.02\n while time.time() < e: pass\n time.sleep(0.08)"
        self.busy = subprocess.Popen(pinned(SERVER_CPU, [sys.executable, "-c", code]))
        listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        # Whoever closes first keeps the connection in TIME_WAIT: that is the connecting side here.
        accept = threading.Thread(target=self.accept, args=(listener,), daemon=True)
        accept.start()
        for _ in range(20_000):
            socket.create_connection(listener.getsockname()).close()
        return self

    @staticmethod
    def accept(listener):
        while True:
            listener.accept()[0].close()

    def __exit__(self, *_):
        self.busy.kill()
        self.busy.wait()


def measure(table, where, servers):
    """Runs of each kind; how many were not valid."""
    wrong = 0
    for kind in KINDS:
        server = servers["target" if kind == "slow responses" else "nginx"]
        runs = [run(kind, server.url("")) for _ in range(RUNS)]
        doubted = [result for result in runs if result["validity"] != "valid"]
        rules = sorted({f"{reason['rule']} ({reason['validity']})" for result in runs for reason in result["validity_reasons"]})
        table.row(where, kind, f"{len(runs) - len(doubted)} of {len(runs)}", ", ".join(rules) or "none")
        wrong += len(doubted)
    return wrong


if __name__ == "__main__":
    table = Table("beside", "run", "valid", "reasons and notes")
    with nginx() as one, target() as other:
        servers = {"nginx": one, "target": other}
        wrong = {"nothing": measure(table, "nothing", servers)}
        with Neighbour():
            wrong["a neighbour"] = measure(table, "a neighbour", servers)
    runs = RUNS * len(KINDS)
    for where, count in wrong.items():
        print(f"\nBeside {where} {count} of {runs} healthy runs were doubted (goal: at most {MOST} of 30).")
    sys.exit(any(count > MOST * runs / 30 for count in wrong.values()))
