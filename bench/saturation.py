#!/usr/bin/env python3
"""Does `squall limit` say what was full when the target broke? Six servers, each full in another way: a core, a lock, a pool, a
disk, garbage collection, a listen queue. What was said against what is true. Needs `java` and `javac`.
Usage: saturation.py [STEP_S [KIND...]]"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import GENERATOR_CPU, SERVER_CPU, Server, Table, free_port, need, pinned, squall

STEP_S = int(sys.argv[1]) if len(sys.argv) > 1 else 6
OWN = Path(__file__).parent / "saturation"

PLAN = """
target: http://127.0.0.1:{port}
connections: {{reuse: {reuse}}}
monitor:
  server: {{port: {port}}}
  host: {{host: local}}
{monitors}
scenarios:
  user: {{load: {{rate: 10/s, arrivals: poisson, for: 10s, max_users: 1000}}, steps: [{{get: /}}]}}
"""

# A listen queue that fills because the target is slow is full, too, and true.
QUEUES = {("server", "listen_queue"), ("host", "listen_overflows")}

# Of each: what is true, the first level, the required p99, which metrics of which monitors say so for certain (none: nothing that
# is measured is full, and saying anything for certain is wrong), and what else may be said for certain, because it is true too.
CASES = {
    "cpu": ("its only core, of which each request takes 5 ms", "20/s", "300ms", {("server", "cpu")}, {("server", "cpu_thread")}),
    "lock": ("a lock that each request holds for 10 ms: nothing that can be measured from outside", "10/s", "300ms", set(), set()),
    "pool": ("a pool of 8 connections, each taken for 50 ms", "20/s", "500ms", {("pool", "pool_waiting"), ("pool", "pool_active")}, set()),
    "disk": ("the disk, on which each request writes 8 MiB and waits for it", "10/s", "500ms", {("host", "disk_busy")}, set()),
    "gc": ("the Java heap: its garbage is collected all the time", "20/s", "1s", {("server", "gc_share")}, {("server", "cpu"), ("server", "cpu_thread")}),
    "backlog": ("the listen queue of 8, as a connection is accepted each 20 ms", "5/s", "800ms", {("server", "listen_queue"), ("host", "listen_overflows")}, set()),
}


def command_of(kind, port, folder):
    if kind == "gc":
        need("java", "javac")
        subprocess.run(["javac", "-d", folder, OWN / "Gc.java"], check=True)
        options = ["-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-cp", folder]
        return pinned(SERVER_CPU, ["java", *options, "Gc", str(port), "40"])
    return pinned(SERVER_CPU, [sys.executable, str(OWN / "target.py"), kind, str(port)])


def limit(kind, first, p99):
    """The result of a search."""
    port = free_port()
    monitors = f'  pool: {{prometheus: "http://127.0.0.1:{port}/metrics"}}' if kind == "pool" else ""
    reuse = "per_iteration" if kind == "backlog" else "per_user"
    with tempfile.TemporaryDirectory(prefix="squall-saturation-") as folder:
        plan = Path(folder) / "plan.yaml"
        plan.write_text(PLAN.format(port=port, reuse=reuse, monitors=monitors))
        with Server(command_of(kind, port, folder), port):
            command = [squall(), "limit", str(plan), "--require", f"p99 < {p99}", "--from", first, "--step", f"{STEP_S}s",
                       "--steps", "12", "-w", "1", "-o", os.environ.get("SATURATION_RUNS", folder), "-q", "--json", "-"]
            output = subprocess.run(pinned(GENERATOR_CPU, command), capture_output=True, text=True, timeout=1800)
    if not output.stdout:
        sys.exit(f"{kind}: {output.stderr}")
    return json.loads(output.stdout)


def level(result):
    found = result["sustained_maximum"]
    return f"{found['level']:.0f}/s" if found else result["end"]


def main():
    table = Table("what is full", "sustained maximum", "what squall says", "judged")
    asked = sys.argv[2:] or list(CASES)
    right = 0
    for kind in asked:
        truth, first, p99, expected, also = CASES[kind]
        result = limit(kind, first, p99)
        seen = result["saturation"]
        if seen is None:
            table.row(f"`{kind}`: {truth}", level(result), "nothing: the target did not break", "**no result**")
            continue
        certain = [(own["monitor"], own["metric"]) for own in seen["findings"] if own["certain"]]
        true = expected | also | (QUEUES if expected else set())
        is_wrong = any(own not in true for own in certain)
        is_right = not is_wrong and (certain[0] in expected if certain else not expected)
        right += is_right
        judged = "right" if is_right else "**wrong, and certain**" if is_wrong else "not seen"
        table.row(f"`{kind}`: {truth}", level(result), "; ".join(seen["text"]), judged)
        table.missed |= is_wrong
    print(f"\n{right} of {len(asked)} are right; the goal is 5 of 6, and nothing wrong said for certain: "
          f"{table.goal(right >= len(asked) - 1)}.")
    table.end()


main()
