#!/usr/bin/env python3
"""Large bodies, in CPU seconds a GiB and memory. Downloads of 1 GiB, one after the other on one connection from
nginx, against curl to /dev/null in the same run; and uploads of a sparse file of 10 GiB to the built-in target,
as it is and with two markers replaced. Usage: bodies.py [DOWNLOADS] [RUNS]"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import SERVER_CPU, Server, Table, free_port, load, median, need, pinned, run, spread, target

DOWNLOADS, RUNS = ([int(word) for word in sys.argv[1:]] + [20, 3][len(sys.argv) - 1:])[:2]

PLAN = """
target: {url}
scenarios:
  user: {{load: {{users: 1, iterations: {count}}}, steps: [{{get: /big{save}, timeout: 5m}}]}}
"""
# What is done with the body, and the goal against curl.
SAVES = [("thrown away", ", response_body: discard", 0.5), ("{hash: xxh3}", ", response_body: {hash: xxh3}", 1.2), ("{hash: sha256}", ", response_body: {hash: sha256}", 3.0)]


UPLOAD = """
target: {url}
scenarios:
  user: {{load: {{users: 1, iterations: 1}}, steps: [{{post: /upload, timeout: 10m, body: {{file: {file}{replace}}}}}]}}
"""
UPLOADS = [("upload as it is", "", 0.3), ("two markers replaced", ", replace: {'@ONE@': 'first', '@TWO@': 'second'}", 1.0)]
UPLOAD_GIB = 10


def uploads(table, folder):
    file = folder / "sparse"
    with open(file, "wb") as out:
        out.truncate(UPLOAD_GIB << 30)
        for at, marker in ((1 << 30, b"@ONE@"), (9 << 30, b"@TWO@")):
            out.seek(at)
            out.write(marker)
    # The first reading of a sparse file fills the page cache with zeros: that is not what is measured.
    subprocess.run(["cat", str(file)], stdout=subprocess.DEVNULL, check=True)
    with target() as server:
        for what, replace, goal in UPLOADS:
            plan = folder / "plan.yaml"
            plan.write_text(UPLOAD.format(url=server.url(""), file=file, replace=replace))
            result = load(["run", str(plan), "--out", str(folder), "-w", "1"])
            assert result["json"]["totals"]["errors"] == 0, result["json"]["log"]
            cpu = result["cpu"] / UPLOAD_GIB
            table.row(what, f"{cpu:.3f}", "", f"{goal} s", table.goal(cpu <= goal), f"{result['rss']:.1f}", 32,
                      table.goal(result["rss"] <= 32))


def files(folder):
    """nginx that serves 1 GiB from memory."""
    need("nginx", "curl")
    port, shared = free_port(), Path(tempfile.mkdtemp(prefix="squall-bench-", dir="/dev/shm"))
    with open(shared / "big", "wb") as file:
        block = os.urandom(1 << 20)
        for _ in range(1024):
            file.write(block)
    (folder / "nginx.conf").write_text(f"""
{"user root;" if os.geteuid() == 0 else ""} daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 100; }}
http {{ access_log off; sendfile on; keepalive_requests 1000000; server {{ listen 127.0.0.1:{port}; root {shared}; }} }}
""")
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    return Server(pinned(SERVER_CPU, command), port), shared


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server, shared = files(folder)
        try:
            with server:
                table = Table("what", "CPU s a GiB", "against curl", "goal", "", "peak RSS MiB", "goal", "")
                runs = {what: [] for what, _, _ in SAVES} | {"curl": []}
                for _ in range(RUNS):
                    # The files of many URLs on one connection: curl's own globbing.
                    result = run(["curl", "-s", "-o", "/dev/null", f"{server.url('/big')}?[1-{DOWNLOADS}]"])
                    runs["curl"].append({"cpu": result["cpu"] / DOWNLOADS, "rss": result["rss"]})
                    for what, save, _ in SAVES:
                        plan = folder / "plan.yaml"
                        plan.write_text(PLAN.format(url=server.url(""), count=DOWNLOADS, save=save))
                        result = load(["run", str(plan), "--out", name, "-w", "1"])
                        assert result["json"]["totals"]["bytes_in"] > DOWNLOADS << 30, result["json"]["log"]
                        runs[what].append({"cpu": result["cpu"] / DOWNLOADS, "rss": result["rss"]})
                curl = median(runs["curl"], "cpu")
                table.row("curl -o /dev/null", f"{curl:.3f} ({spread(runs['curl'], 'cpu')})", "", "", "",
                          f"{median(runs['curl'], 'rss'):.1f}", "", "")
                for what, _, goal in SAVES:
                    cpu, rss = median(runs[what], "cpu"), median(runs[what], "rss")
                    table.row(what, f"{cpu:.3f} ({spread(runs[what], 'cpu')})", f"{cpu / curl:.2f}", goal,
                              table.goal(cpu <= goal * curl), f"{rss:.1f}", 16, table.goal(rss <= 16))
                uploads(table, folder)
        finally:
            subprocess.run(["rm", "-r", str(shared)], check=True)
    table.end()


if __name__ == "__main__":
    main()
