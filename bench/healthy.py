#!/usr/bin/env python3
"""Healthy runs: ten kinds of plans that this machine runs well, three times each, and the plans of the tutorial and the
how-tos, once each. All of that alone and beside a program that takes the target's processor a fifth of the time and leaves
20,000 closed connections of its own to another destination. What is not `valid` is a false alarm; at most one in thirty of the
ten kinds may be, and one in ten of the guides' plans. Usage: healthy.py [RUNS] [SECONDS], or healthy.py --quick (alone, once, 4 s each)"""

import json
import re
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from lib import GENERATOR_CPU, ROOT, SERVER_CPU, Table, nginx, pinned, squall, target

QUICK = sys.argv[1:] == ["--quick"]
RUNS, SECONDS = (1, 4) if QUICK else ([int(word) for word in sys.argv[1:]] + [3, 8][len(sys.argv) - 1:])[:2]
MOST = 1
# Pages whose plans are to be valid. Those of questionable.md are not meant to be.
GUIDES = ["README.md", "docs/tutorial.md", *(f"docs/howto/{name}.md" for name in ("ci", "coming-from", "data", "login"))]
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


def guides():
    """The plans of the guides, each with the files that stand before it: name, and files by name."""
    plans, address = [], "127.0.0.1:8080"
    for guide in GUIDES:
        files = {}
        for language, name, text in re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", (ROOT / guide).read_text(), re.M | re.S):
            plan = re.match(r"# (\S+\.yaml)\n", text) if language == "yaml" else None
            if name or plan:
                files[name or plan[1]] = text
            # What takes a minute or more is the same for less time.
            if plan and "target: http" in text:
                text = re.sub(r"for: \w+", f"for: {SECONDS}s", text)
                plans.append((f"{guide}: {plan[1]}", {**files, "plan.yaml": text}, address))
    return plans


def run(kind, url):
    """Validity and reasons of a run."""
    return run_of({"plan.yaml": plan(kind, url)})


def run_of(files):
    """The same of the plan in some files."""
    with tempfile.TemporaryDirectory() as name:
        for file, text in files.items():
            (Path(name) / file).write_text(text)
        path = Path(name) / "plan.yaml"
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


def measure_guides(table, where, server):
    """A run of each plan of the guides; how many there were, and how many were not valid."""
    wrong, plans = 0, guides()
    for kind, files, address in plans:
        own = {name: text.replace(address, f"127.0.0.1:{server.port}") for name, text in files.items()}
        wrong += doubted(table, where, kind, [run_of(own)])
    return len(plans), wrong


def doubted(table, where, kind, runs):
    """How many of some runs were not valid."""
    wrong = [result for result in runs if result["validity"] != "valid"]
    rules = sorted({f"{reason['rule']} ({reason['validity']})" for result in runs for reason in result["validity_reasons"]})
    table.row(where, kind, f"{len(runs) - len(wrong)} of {len(runs)}", ", ".join(rules) or "none")
    return len(wrong)


def measure(table, where, servers):
    """Runs of each kind; how many were not valid."""
    wrong = 0
    for kind in KINDS:
        server = servers["target" if kind == "slow responses" else "nginx"]
        wrong += doubted(table, where, kind, [run(kind, server.url("")) for _ in range(RUNS)])
    return wrong


if __name__ == "__main__":
    table = Table("beside", "run", "valid", "reasons and notes")
    with nginx() as one, target() as other:
        servers = {"nginx": one, "target": other}
        wrong, of_guides = {}, {}

        def measure_all(where):
            wrong[where] = measure(table, where, servers)
            of_guides[where] = measure_guides(table, where, other)

        measure_all("nothing")
        if not QUICK:
            with Neighbour():
                measure_all("a neighbour")
    runs = RUNS * len(KINDS)
    for where, count in wrong.items():
        plans, more = of_guides[where]
        print(f"\nBeside {where} {count} of {runs} healthy runs were doubted (goal: at most {MOST} of 30), "
              f"and {more} of {plans} runs of the guides' plans (goal: at most 1 of 10).")
    few = all(count <= max(MOST, MOST * runs / 30) for count in wrong.values())
    sys.exit(not few or any(more > plans / 10 for plans, more in of_guides.values()))
