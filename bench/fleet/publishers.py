#!/usr/bin/env python3
"""1,000 nodes that publish a record of 200 names with 50 requests each every second, on one nats-server (on the PATH, or
named by SQUALL_NATS_SERVER), and one controller that merges them while they come.
Usage: publishers.py [--quick]: without optimisation, 50 nodes and 5 seconds, to see whether it works"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from lib import Table, free_port, wait_for  # noqa: E402: it is found by the line above

QUICK = "--quick" in sys.argv
NODES, SECONDS = (50, 5) if QUICK else (1_000, 20)
NAMES, SAMPLES = 200, 50
# Cores of the server and of the controller, and MiB of the controller.
SERVER_CORE, CONTROLLER_CORE, CONTROLLER_MIB = 0.6, 0.7, 300
TICK = os.sysconf("SC_CLK_TCK")


def used(pid):
    """CPU time of a process, in s, and its peak memory, in MiB."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return (int(stat[11]) + int(stat[12])) / TICK, int(status["VmHWM"].split()[0]) / 1024


def example():
    profile, folder = ([], "debug") if QUICK else (["--release"], "release")
    command = ["cargo", "build", "--quiet", *profile, "-p", "squall-fleet", "--example", "publishers"]
    subprocess.run(command, cwd=ROOT, check=True)
    return str(ROOT / "target" / folder / "examples/publishers")


def serve(folder, port):
    server = os.environ.get("SQUALL_NATS_SERVER") or shutil.which("nats-server")
    if not server:
        sys.exit("nats-server is not on the PATH: see bench/README.md")
    command = [server, "--addr", "127.0.0.1", "--port", str(port), "--jetstream", "--store_dir", folder]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(port)
    return process


def run(folder):
    port = free_port()
    publishers, server = example(), serve(folder, port)
    url, size = f"nats://127.0.0.1:{port}", [str(NODES), str(SECONDS)]
    merger = subprocess.Popen([publishers, "merge", url, *size], stdout=subprocess.PIPE, text=True)
    try:
        if merger.stdout.readline().strip() != "ready":
            sys.exit("the controller cannot make its stream")
        publish = [publishers, "publish", url, *size, str(NAMES), str(SAMPLES)]
        server_before, began = used(server.pid)[0], time.time()
        said = subprocess.run(publish, check=True, capture_output=True, text=True).stdout
        wall = time.time() - began
        server_cpu, server_mib = used(server.pid)
        merged = json.loads(merger.stdout.readline())
        _, status, usage = os.wait4(merger.pid, 0)
        merger.returncode = os.waitstatus_to_exitcode(status)
        controller = (usage.ru_utime + usage.ru_stime) / SECONDS, usage.ru_maxrss / 1024
        return json.loads(said), merged, ((server_cpu - server_before) / SECONDS, server_mib), controller, wall
    finally:
        for process in (merger, server):
            if process.poll() is None:
                process.kill()
                process.wait()


with tempfile.TemporaryDirectory() as folder:
    said, merged, server, controller, wall = run(folder)
print(f"\n{NODES:,} connections, {SECONDS} s, {NAMES} names with {SAMPLES} requests each; {wall:.0f} s in all.")
table = Table("", "measured", "goal", "")
rate = NODES * said["bytes"] / 1e6
table.row("message, bytes", f"{said['bytes']:,}", "14,000", table.goal(said["bytes"] <= 14_000))
table.row("to the server, MB/s", f"{rate:.1f}", "", "")
table.row("acknowledged within, ms: median, p99, most",
          f"{said['ack_p50_ms']}, {said['ack_p99_ms']}, {said['ack_max_ms']}", "", "")
table.row("server, cores", f"{server[0]:.2f}", SERVER_CORE, table.goal(server[0] <= SERVER_CORE))
table.row("server, MiB", f"{server[1]:.0f}", "", "")
table.row("controller, cores", f"{controller[0]:.2f}", CONTROLLER_CORE,
          table.goal(QUICK or controller[0] <= CONTROLLER_CORE))
table.row("controller, peak MiB", f"{controller[1]:.0f}", CONTROLLER_MIB, table.goal(controller[1] <= CONTROLLER_MIB))
table.row("merged after it was sent, ms: median, p99, most",
          f"{merged['age_p50_ms']}, {merged['age_p99_ms']}, {merged['age_max_ms']}", "", "")
table.row("a second seen as a whole after its last record was sent, ms: median, p99, most",
          f"{merged['whole_p50_ms']}, {merged['whole_p99_ms']}, {merged['whole_max_ms']}", "2,000",
          table.goal(merged["whole_p99_ms"] <= 2_000))
table.row("lost", merged["lost"], 0, table.goal(merged["lost"] == 0))
table.row("seconds whole", f"{merged['whole_seconds']} of {SECONDS}", "all", table.goal(merged["whole_seconds"] == SECONDS))
table.end()
