"""A wire with delay and loss between two network namespaces (wire.c). Needs the right to make namespaces and TUN
devices, and is left out without it."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from ground import SEED, Program, read_rows

NET, CLIENT, SERVER = "10.77.0", "10.77.0.1", "10.77.0.2"


class Wire:
    """Two namespaces, each held by a process that sleeps, and the wire between them."""

    def __init__(self, delay_ms, loss_to_server, loss_to_client, is_prompt=True):
        """Losses are in per cent; `is_prompt`: see `Program`."""
        self.holders, self.program = [], None
        self.log = Path(tempfile.mkdtemp(prefix="squall-truth-")) / "wire.csv"
        try:
            for _ in range(2):
                self.holders.append(subprocess.Popen(["unshare", "-n", "sleep", "600"], stderr=subprocess.DEVNULL))
            self.wait()
            pids = [holder.pid for holder in self.holders]
            self.program = Program([], "wire", *pids, round(delay_ms * 1000), loss_to_server / 100,
                                   loss_to_client / 100, SEED, self.log, is_prompt=is_prompt)
            for holder, address in zip(self.holders, (CLIENT, SERVER)):
                for command in (f"address add {address}/24 dev wire", "link set lo up", "link set wire up"):
                    run([*self.into(holder), "ip", *command.split()])
        except BaseException:
            self.end()
            raise

    @staticmethod
    def into(holder):
        """What puts a command into a holder's namespace."""
        return ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]

    def wait(self):
        """Until each holder is in a namespace of its own."""
        ours = Path("/proc/self/ns/net").readlink()
        for holder in self.holders:
            while Path(f"/proc/{holder.pid}/ns/net").readlink() == ours:
                if holder.poll() is not None:
                    raise OSError("no network namespace is allowed here")

    def ends(self):
        """What puts a command at the client's end, what at the server's, and the server's address."""
        return self.into(self.holders[0]), self.into(self.holders[1]), SERVER

    def take_packets(self):
        """Ends the wire; the packets that passed the client's end."""
        self.program.end()
        self.program = None
        return read_rows(self.log)

    def end(self):
        if self.program:
            self.program.end()
        for holder in self.holders:
            holder.kill()
            holder.wait()
        shutil.rmtree(self.log.parent)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


def missing():
    """Why there can be no wire here; empty: there can."""
    for name in ("unshare", "nsenter", "ip"):
        if not shutil.which(name):
            return f"no {name} on the PATH"
    try:
        Wire(1, 0, 0, is_prompt=False).end()
    except OSError as error:
        return str(error)
    return ""
