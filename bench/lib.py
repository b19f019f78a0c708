"""What the measuring scripts share: servers, runs, medians, tables."""

import fcntl
import functools
import json
import math
import os
import platform
import pty
import re
import resource
import shutil
import signal
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Behind the scripts here, of which some have the names of modules there.
sys.path.append(str(ROOT / "interop"))

from ports import free_port  # noqa: E402: it is found by the line above

GENERATOR_CPU, SERVER_CPU = 0, 1


@functools.cache
def squall():
    """Path of the release binary, built if need be; or the one that SQUALL names, to compare versions."""
    if "SQUALL" in os.environ:
        return os.environ["SQUALL"]
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "squall"], cwd=ROOT, check=True)
    return str(ROOT / "target/release/squall")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            sys.exit(f"{program} is not on the PATH: see bench/README.md")


def pinned(cpu, command):
    return ["taskset", "-c", str(cpu)] + command


def wait_for(port, seconds=5):
    end = time.time() + seconds
    while time.time() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"nothing listens on port {port}")


class Server:
    """A server that is started for a measurement and stopped after it."""

    def __init__(self, command, port, scheme="http"):
        self.port, self.scheme = port, scheme
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_for(port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=10)

    def url(self, path="/"):
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"

    def served(self):
        """Requests that nginx has answered so far, this one left out."""
        context = ssl._create_unverified_context() if self.scheme == "https" else None
        text = urllib.request.urlopen(self.url("/status"), context=context).read().decode()
        return int(text.split("\n")[2].split()[2]) - 1

    def cpu_seconds(self):
        """CPU seconds of the server and its children so far."""
        total, tick = 0.0, os.sysconf("SC_CLK_TCK")
        pids = [self.process.pid]
        pids += map(int, Path(f"/proc/{pids[0]}/task/{pids[0]}/children").read_text().split())
        for pid in pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / tick
        return total


def nginx(cpu=SERVER_CPU, workers=1, tls=False, http2=False):
    """nginx with 1 KiB from memory under every path. Each worker has room for 19,900 connections."""
    need("nginx")
    port, folder = free_port(), Path(tempfile.mkdtemp(prefix="squall-bench-"))
    body = "abcdefghijklmnopqrstuvwxyz012345" * 32
    user = "user root;" if os.geteuid() == 0 else ""
    temps = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in
                    ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    listen = f"listen 127.0.0.1:{port} backlog=4096{' reuseport' if workers > 1 else ''}{' http2' if http2 else ''}"
    if tls:
        need("openssl")
        pair = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-days", "30", "-subj", "/CN=localhost"] + pair, check=True, capture_output=True)
        listen += f" ssl; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem; ssl_protocols TLSv1.3"
    (folder / "nginx.conf").write_text(f"""
{user} daemon off; worker_processes {workers}; pid {folder}/pid; error_log {folder}/error.log;
worker_rlimit_nofile 20000; events {{ worker_connections 19950; multi_accept on; }}
http {{ access_log off; keepalive_timeout 600s; keepalive_requests 1000000000; {temps}
  default_type text/plain; tcp_nodelay on;
  server {{ {listen}; location / {{ return 200 "{body}"; }}
    location /status {{ stub_status; }} }} }}
""")
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    return Server(pinned(cpu, command), port, "https" if tls else "http")


def target(cpu=SERVER_CPU, threads=1):
    """The built-in target."""
    port = free_port()
    command = [squall(), "target", "-l", f"127.0.0.1:{port}", "--threads", str(threads)]
    return Server(pinned(cpu, command), port)


# How much more memory than this process its copy has, at most, before it becomes another program.
COPY_GROWS_KIB = 4096


class Peak:
    """The peak resident memory of a child. The kernel's own figure (`wait4`) includes the memory that a process
    had before it became another program: at first it is a copy of this one, which grows a little. So it is exact where
    it is well above this process's own peak; below, the peak of the program is looked at, ten times a second."""

    def __init__(self, pid):
        self.pid, self.seen, self.ended = pid, 0, threading.Event()
        self.inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + COPY_GROWS_KIB
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.ended.wait(0.1):
            try:
                found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
            except OSError:
                return
            self.seen = int(found[1]) if found else self.seen

    def mib(self, usage):
        """In MiB, once the child has ended with this usage."""
        self.ended.set()
        self.thread.join()
        return (usage.ru_maxrss if usage.ru_maxrss > self.inherited or not self.seen else self.seen) / 1024


def run(command, cpu=GENERATOR_CPU, limit=600):
    """Runs a command; returns its output, CPU seconds, peak RSS in MiB, wall seconds."""
    with tempfile.TemporaryFile("w+") as out:
        begin = time.time()
        process = subprocess.Popen(pinned(cpu, command) if cpu is not None else command, stdout=out,
                                   stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.alarm(limit))
        peak = Peak(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.time() - begin
        out.seek(0)
        return dict(text=out.read(), code=process.returncode, cpu=usage.ru_utime + usage.ru_stime,
                    rss=peak.mib(usage), wall=wall)


def in_terminal(command, meanwhile, cpu=GENERATOR_CPU):
    """Runs a command in a terminal of 200x60 that is read, and `meanwhile(pid)` beside it; returns what that returned, CPU
    seconds, and peak RSS in MiB."""
    pid, leader = pty.fork()
    if pid == 0:
        os.execvpe("taskset", pinned(cpu, command), os.environ | {"TERM": "xterm-256color"})
    fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    peak, written = Peak(pid), []

    def read():
        try:
            while chunk := os.read(leader, 65536):
                written.append(chunk)
        except OSError:
            pass  # It has ended.

    reader = threading.Thread(target=read)
    reader.start()
    found = meanwhile(pid)
    _, status, usage = os.wait4(pid, 0)
    reader.join()
    os.close(leader)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit("the run failed:\n" + b"".join(written)[-3000:].decode(errors="replace"))
    return dict(found=found, cpu=usage.ru_utime + usage.ru_stime, rss=peak.mib(usage))


def wrk(url, connections, seconds, more=()):
    need("wrk")
    result = run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *more, url])
    result["requests"] = int(re.search(r"(\d+) requests in", result["text"])[1])
    result["us"] = result["cpu"] / result["requests"] * 1e6
    return result


def load(arguments, cpu=GENERATOR_CPU, binary=None):
    """squall, or another binary of it, with these arguments and its result as JSON."""
    result = run([binary or squall()] + arguments + ["--quiet", "--json", "-"], cpu)
    if result["code"] not in (0, 1):
        sys.exit(f"squall {' '.join(arguments)} ended with code {result['code']}: run it by hand to see why")
    result["json"] = json.loads(result["text"])
    result["requests"] = result["json"]["totals"]["count"]
    result["us"] = result["cpu"] / max(result["requests"], 1) * 1e6
    return result


def counted(server, one, *arguments):
    """A run by `one` (of squall, wrk or any command), with CPU time for each request that nginx counted."""
    before = server.served()
    result = one(*arguments)
    # The answer about the status before counts as a request too.
    result["served"] = server.served() - before - 1
    result["us"] = result["cpu"] / max(result["served"], 1) * 1e6
    return result


def cpu_of(pid):
    """CPU seconds of a process and of the children that it has ended, so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def in_halves(server, command, seconds, cpu=GENERATOR_CPU):
    """A run of a tool that takes so many seconds, against nginx, which counts: µs CPU a request over the whole and in its
    second half (when virtual machines are warm), requests a second there, peak RSS in MiB, when the first came."""
    before = server.served()
    process = subprocess.Popen(pinned(cpu, command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begin, peak = time.time(), Peak(process.pid)
    while server.served() < before + 100 and process.poll() is None:
        time.sleep(0.1)
    first = time.time()
    time.sleep(seconds / 2)
    half = server.served(), cpu_of(process.pid), time.monotonic()
    time.sleep(seconds / 2 - 2)
    late = server.served(), cpu_of(process.pid), time.monotonic()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    whole = server.served() - before
    return {"whole": (usage.ru_utime + usage.ru_stime) / whole * 1e6,
            "warm": (late[1] - half[1]) / (late[0] - half[0]) * 1e6,
            "rate": (late[0] - half[0]) / (late[2] - half[2]), "rss": peak.mib(usage), "start": first - begin}


def lateness(run, first, last):
    """How late a run sent, in µs: percentiles of all, and the median of the p99 of some of its seconds."""
    late = run["json"]["generator"]["send_delay_us"]
    seconds = [row["send_delay_p99_us"] for row in run["json"]["series"][first:last]]
    return {"p50": late["p50"], "p99": late["p99"], "max": late["max"], "second": statistics.median(seconds)}


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def spread(runs, key):
    values = sorted(run[key] for run in runs)
    return f"{values[0]:.2f}..{values[-1]:.2f}"


def median_interval(values):
    """An interval of the median that needs no distribution: from the k-th lowest of the values to the k-th highest. It misses
    the median only if fewer than k of them are on one side of it, where each is as likely as on the other; k is the largest with
    which it covers the median with 95 % at least. Returns lowest, highest, coverage. Needs six values."""
    values, k, missed, covered = sorted(values), 0, 0, 1
    while (less := 1 - 2 * (missed + math.comb(len(values), k)) / 2 ** len(values)) >= 0.95:
        k, missed, covered = k + 1, missed + math.comb(len(values), k), less
    return values[k - 1], values[-k], covered


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())[1]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} x {model}, {memory:.0f} GiB, {platform.system()} {platform.release()}"


class Table:
    """A Markdown table that knows whether a goal was missed."""

    def __init__(self, *columns):
        self.missed = False
        print(f"\nMeasured on {machine()}, {time.strftime('%Y-%m-%d')}.\n")
        self.row(*columns)
        self.row(*["---"] * len(columns))

    def row(self, *cells):
        print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)

    def goal(self, met):
        self.missed |= not met
        return "met" if met else "**missed**"

    def end(self):
        sys.exit(1 if self.missed else 0)
