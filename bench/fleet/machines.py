"""What the scripts of this folder share: a nats-server, nodes, and a controller, as processes of this machine."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from lib import SERVER_CPU, Peak, free_port, pinned, squall, wait_for  # noqa: E402: it is found by the line above

# How long something may take on a machine that does much else, in s.
PATIENCE = 120


def nats_server():
    """The program: that of SQUALL_NATS_SERVER, or the one on the PATH."""
    server = os.environ.get("SQUALL_NATS_SERVER") or shutil.which("nats-server")
    return server or sys.exit("nats-server is not on the PATH: see bench/README.md")


class Process:
    """A process whose lines are kept, each with the time at which it came."""

    def __init__(self, command, cpu=None):
        self.lines, self.changed, self.has_ended = [], threading.Condition(), False
        self.child = subprocess.Popen(pinned(cpu, command) if cpu is not None else command, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.peak = Peak(self.child.pid)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.child.stdout:
            with self.changed:
                self.lines.append((time.time(), line.rstrip()))
                self.changed.notify_all()
        with self.changed:
            self.has_ended = True
            self.changed.notify_all()

    def said(self, words):
        """The time and the text of the first line with these words; waits for it."""
        def find():
            return next((line for line in self.lines if words in line[1]), None)

        with self.changed:
            self.changed.wait_for(lambda: find() or self.has_ended, PATIENCE)
            found = find()
        return found or sys.exit(f"nothing was said of \"{words}\", but:\n{self.text()}")

    def text(self):
        return "\n".join(line for _, line in self.lines[-40:])

    def wait(self, codes=(0, 1)):
        """Its CPU time in s and its peak memory in MiB, once it has ended."""
        by = time.time() + PATIENCE
        while os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.time() > by:
                sys.exit(f"a process does not end:\n{self.text()}")
            time.sleep(0.02)
        _, status, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        if self.child.returncode not in codes:
            sys.exit(f"a process ended with code {self.child.returncode}:\n{self.text()}")
        return usage.ru_utime + usage.ru_stime, self.peak.mib(usage)

    def kill(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        self.peak.ended.set()
        self.reader.join()


class Fleet:
    """A server and its nodes, all of which end with the `with`."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="squall-fleet-")
        self.folder, self.port = Path(self.temporary.name), free_port()
        self.url, self.all = f"nats://127.0.0.1:{self.port}", []

    def __enter__(self):
        command = [nats_server(), "--addr", "127.0.0.1", "--port", str(self.port), "--jetstream",
                   "--store_dir", str(self.folder / "store")]
        self.run(command, SERVER_CPU)
        wait_for(self.port)
        return self

    def run(self, command, cpu=None):
        process = Process([str(word) for word in command], cpu)
        self.all.append(process)
        return process

    def node(self, name, cpu=None):
        """A node that takes one run."""
        return self.run([squall(), "node", "--nats", self.url, "--name", name, "--once", "--allow-hosts", "127.0.0.1",
                         "--spool", self.folder / f"spool-{name}"], cpu)

    def control(self, arguments, nodes, cpu=None):
        """A run on so many nodes."""
        return self.run([squall(), *arguments, "--nats", self.url, "--nodes", nodes, "--wait", f"{PATIENCE}s"], cpu)

    def __exit__(self, *_):
        for process in reversed(self.all):
            process.kill()
        self.temporary.cleanup()
