#!/usr/bin/env python3
"""CPU time a request beside the least that it costs a client in Rust: bare loops on io_uring and on tokio
(`bench/floor`, built by this script) that only send a prepared request, receive, and record; and wrk. All
alternate. Requests are counted by nginx. The goal is for squall's cheaper I/O backend (`ring.py` says
whether `auto` chooses it) against the cheaper bare loop. Usage: floor.py [RUNS] [SECONDS]"""

import subprocess
import sys

from lib import ROOT, Table, counted, load, median, need, nginx, run, spread, wrk

RUNS, SECONDS = ([int(word) for word in sys.argv[1:]] + [5, 3][len(sys.argv) - 1:])[:2]
GOAL = 1.08
SQUALL, FLOOR = ("squall, io_uring", "squall, epoll"), ("bare loop, io_uring", "bare loop, tokio")


def built():
    """Folder of the bare loops."""
    folder = ROOT / "target/floor"
    subprocess.run(["cargo", "build", "--release", "--quiet", "--locked", "--target-dir", str(folder)],
                   cwd=ROOT / "bench/floor", check=True)
    return folder / "release"


def checked(result):
    """A run that ended well."""
    if result["code"] != 0:
        sys.exit(f"a run ended with code {result['code']}: {result['text']}")
    return result


def tools(server, folder, users):
    """A run with each tool."""
    address, url = f"127.0.0.1:{server.port}", server.url("/page")
    own = [url, "-c", str(users), "-d", f"{SECONDS}s", "-w", "1", "--io"]
    bare = [address, "/page", str(users), str(SECONDS)]
    return {
        SQUALL[0]: lambda: checked(load([*own, "io_uring"])),
        SQUALL[1]: lambda: checked(load([*own, "epoll"])),
        FLOOR[0]: lambda: checked(run([str(folder / "floor-ring"), *bare])),
        FLOOR[1]: lambda: checked(run([str(folder / "floor-tokio"), *bare])),
        "wrk": lambda: wrk(url, users, SECONDS),
    }


def compare(table, server, folder, users):
    """The rows of one number of connections."""
    runs = {tool: [] for tool in tools(server, folder, users)}
    for _ in range(RUNS):
        for tool, one in tools(server, folder, users).items():
            runs[tool].append(counted(server, one))
    us = {tool: median(own, "us") for tool, own in runs.items()}
    floor, best = min(us[tool] for tool in FLOOR), min(SQUALL, key=us.get)
    for tool, own in runs.items():
        judged = tool == best
        table.row(users, tool, f"{us[tool]:.2f} ({spread(own, 'us')})", f"{us[tool] / floor:.2f}x",
                  f"{GOAL}x" if judged else "", table.goal(us[tool] <= GOAL * floor) if judged else "",
                  f"{median(own, 'served') / SECONDS:,.0f}", f"{median(own, 'rss'):.1f}")


def main():
    need("wrk")
    loops = built()
    with nginx() as server:
        table = Table("connections", "client", "µs CPU a request", "of the better bare loop", "goal, at most", "",
                      "requests/s", "peak RSS MiB")
        for users in (64, 512):
            compare(table, server, loops, users)
    table.end()


if __name__ == "__main__":
    main()
