#!/usr/bin/env python3
"""What monitors cost: CPU time of squall beside a light load, with monitors of ten processes with 20 threads each and one scrape of 2,000 series, of
which ten are chosen, once a second, and without. Usage: monitor/cost.py [RUNS] [SECONDS]"""

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from lib import Table, free_port, median, squall, target

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [3, 20][len(sys.argv) - 1:])[:2]
PROCESSES, SERIES = 10, 2_000
# Goal: at most so much of a core.
MOST = 0.01


THREADS = 20
# A process with idle threads.
PROCESS = f"import threading, time\nfor _ in range({THREADS - 1}): threading.Thread(target=time.sleep, args=(10000,), daemon=True).start()\ntime.sleep(10000)"


@contextlib.contextmanager
def processes():
    """Ten processes with 20 threads each."""
    started = [subprocess.Popen([sys.executable, "-c", PROCESS]) for _ in range(PROCESSES)]
    try:
        yield [own.pid for own in started]
    finally:
        for own in started:
            own.kill()
            own.wait()


@contextlib.contextmanager
def endpoint():
    """An endpoint with 2,000 series, which are made once: it should not take the processor from squall."""
    lines = ["# TYPE requests_total counter"]
    lines += [f'requests_total{{path="/items/{number}",code="200",method="GET"}} {number}' for number in range(SERIES)]
    body = ("\n".join(lines) + "\n").encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    port = free_port()
    server = HTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield port
    finally:
        server.shutdown()


def plan(folder, monitors):
    own = {"target": f"http://127.0.0.1:{SERVER}", "monitor": monitors, "scenarios": {
        "light": {"load": {"rate": "10/s", "for": f"{SECONDS}s"}, "steps": [{"get": "/"}]}}}
    path = Path(folder) / "plan.yaml"
    path.write_text(json.dumps(own))
    return path


def run(folder, monitors):
    """CPU time of squall a second of load, and how many samples were lost."""
    result = Path(folder) / "run.json"
    command = [squall(), "run", str(plan(folder, monitors)), "-q", "--out", folder, "--json", str(result)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
    own = json.loads(result.read_text())
    cpu = own["generator"]["cpu_user_s"] + own["generator"]["cpu_sys_s"]
    lost = sum("were lost" in warning for warning in own["warnings"])
    return {"cpu": cpu / own["elapsed_s"], "lost": lost}


with target() as server, processes() as pids, endpoint() as port, tempfile.TemporaryDirectory() as folder:
    SERVER = server.port
    monitors = {f"p{number}": {"pid": pid} for number, pid in enumerate(pids)}
    chosen = [f'requests_total{{path="/items/{number}"}}' for number in range(10)]
    monitors["app"] = {"prometheus": f"http://127.0.0.1:{port}/metrics", "metrics": chosen}
    kinds = {"none": {}, "10 processes": {name: own for name, own in monitors.items() if name != "app"},
             "one scrape of 2,000 series": {"app": monitors["app"]}, "both": monitors}
    results = {name: [] for name in kinds}
    for _ in range(RUNS):
        for name, own in kinds.items():
            results[name].append(run(folder, own))
    table = Table("monitors", "CPU of a core", "more than without", "goal", "", "monitors that lost samples")
    before = median(results["none"], "cpu")
    for name, runs in results.items():
        cpu, all_of = median(runs, "cpu"), sorted(own["cpu"] for own in runs)
        goal = [f"{MOST:.1%}", table.goal(cpu - before <= MOST)] if name == "both" else ["", ""]
        shown = f"{cpu:.2%} ({all_of[0]:.2%}..{all_of[-1]:.2%})"
        table.row(name, shown, f"{cpu - before:+.2%}", *goal, max(own["lost"] for own in runs))
table.end()
