#!/usr/bin/env python3
"""What looking at a run costs: CPU time a request, late sends and memory at 20,000 requests a second of 200 names, with
everything on at once (all of squall on one processor; the live view in a terminal, the page of the result, JSON lines, an endpoint that Prometheus would
scrape each 5 s, InfluxDB's line protocol to a receiver that takes it) and with nothing on. Usage: sinks.py [RUNS] [SECONDS]"""

import contextlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from lib import SERVER_CPU, Table, free_port, in_terminal, lateness, median, pinned, spread, squall, target, wait_for

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [3, 20][len(sys.argv) - 1:])[:2]
NAMES, RATE = 200, 20_000
# Goals: at most so much more CPU time a request, and so many MiB more; and nothing sent later than without, of which the p99 of
# the latest run is taken, as runs differ.
MORE_CPU, MORE_MIB = 1.05, 20
# Takes what is posted, and says so: what InfluxDB answers.
RECEIVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@contextlib.contextmanager
def receiver():
    port = free_port()
    process = subprocess.Popen(pinned(SERVER_CPU, [sys.executable, "-c", RECEIVER, str(port)]))
    try:
        wait_for(port)
        yield port
    finally:
        process.kill()
        process.wait()


def plan(url):
    steps = "\n".join(f"      - {{get: /bytes/100, name: 'request {number}'}}" for number in range(NAMES))
    return (f"target: {url}\nscenarios:\n  a:\n    load: {{rate: {RATE // NAMES}/s, for: {SECONDS}s, max_users: 400}}\n"
            f"    steps:\n{steps}\n")


def scrape(port):
    """Fetches the totals; whether there is somebody to give them."""
    try:
        return bool(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read())
    except (urllib.error.URLError, ConnectionError):
        return False


def run(path, *flags, scraped=None):
    """A run with these flags; its CPU time a request, how late it sent, its memory, and points that were lost."""
    def meanwhile(_):
        until = time.time() + SECONDS - 1
        while time.time() < until:
            time.sleep(min(5, max(0, until - time.time())))
            if scraped:
                scrape(scraped)
        # As Prometheus would at its next turn: the run waits a moment for whoever has the last totals to come.
        while scraped and scrape(scraped):
            time.sleep(1)

    result = path.with_name("result.json")
    command = [squall(), "run", str(path), "-w", "1", "--out", str(path.parent), "--out", f"json={result}", *flags]
    ran = in_terminal(command, meanwhile)
    found = json.loads(result.read_text())
    lost = sum(feed["points_lost"] for feed in found.get("feeds") or [])
    late = lateness({"json": found}, 1, SECONDS - 1)
    return {"us": ran["cpu"] / found["totals"]["count"] * 1e6, "rss": ran["rss"], "late": late["p99"], "second": late["second"],
            "requests": found["totals"]["count"], "lost": lost}


with target() as server, receiver() as port, tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "plan.yaml"
    path.write_text(plan(server.url("")))
    runs = {"nothing": [], "everything": []}
    for _ in range(RUNS):
        runs["nothing"].append(run(path, "--quiet"))
        scraped = free_port()
        outs = [f"html={folder}/page.html", f"jsonl={folder}/points.jsonl", f"prometheus={scraped}",
                f"influxdb=http://127.0.0.1:{port}/write?db=load"]
        everything = run(path, *[word for out in outs for word in ("--out", out)], scraped=scraped)
        runs["everything"].append(everything)
    table = Table("on", "requests", "µs CPU a request", "of that with nothing", "goal", "", "sent late by, p99 µs", "p99 of the median second", "goal: p99 µs", "",
                  "peak RSS MiB", "more", "goal", "", "points lost")
    nothing = runs["nothing"]
    latest = max(own["late"] for own in nothing)
    for name, these in runs.items():
        ratio, more = median(these, "us") / median(nothing, "us"), median(these, "rss") - median(nothing, "rss")
        goals = [""] * 6 if these is nothing else [
            f"{MORE_CPU}x", table.goal(ratio <= MORE_CPU), f"{latest:,.0f}", table.goal(median(these, "late") <= latest),
            f"{MORE_MIB}", table.goal(more <= MORE_MIB)]
        table.row(name, f"{median(these, 'requests'):,.0f}", f"{median(these, 'us'):.2f} ({spread(these, 'us')})", f"{ratio:.2f}x",
                  *goals[:2], f"{median(these, 'late'):,.0f} ({spread(these, 'late')})", f"{median(these, 'second'):,.0f}", *goals[2:4],
                  f"{median(these, 'rss'):.1f}", f"{more:+.1f}", *goals[4:], f"{sum(own['lost'] for own in these):,}")
    table.end()
