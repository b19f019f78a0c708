"""`squall fleet up --ssh` as docs/fleet.md shows it, with a real sshd and a real nats-server: four hosts, which are four addresses of
this machine. What a counting server was sent is what run.json says, and no node outlives its connection."""

import os
import signal
import subprocess
import unittest

from fleet import TOKEN, Counter, Fleet, Nats
from launchers.ssh.sshd import Sshd
from peers import PATIENCE, SQUALL, until
from test_fleet import PLAN, RATE, SECONDS, WITHOUT_ROWS, FleetTest
from test_fleet_commands import is_there, processes_of

HOSTS = """# a host a line, as ssh takes it
east-1   zone=east
east-2   zone=east weight=2
west-1   zone=west
west-2   zone=west name=far
"""


class Remote(Fleet):
    """A fleet whose nodes are started by `squall fleet up --ssh`."""

    def __init__(self, folder):
        self.folder, self.nodes, self.controller, self.up = folder, {}, None, None
        self.counter, self.nats, self.sshd = Counter("127.0.0.1"), Nats(folder, "127.0.0.1"), Sshd(folder / "sshd")

    def join(self):
        """Starts the nodes, and waits until all have joined."""
        (self.folder / "hosts.txt").write_text(HOSTS)
        (self.folder / "token").write_text(f"{TOKEN}\n")
        environment = {**os.environ, "PATH": f"{self.sshd.path}:{os.environ['PATH']}"}
        with (self.folder / "up.log").open("wb") as log:
            self.up = subprocess.Popen(
                [SQUALL, "fleet", "up", "--ssh", "hosts.txt", "--nats", f"nats://127.0.0.1:{self.nats.port}", "--nats-token-file", "token",
                 "--allow-hosts", "127.0.0.1", "--squall", SQUALL],
                cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: self.said().count(": joined as ") == 4 or "squall: " in self.said().replace("squall: starting", ""), "no node joins")
        if self.said().count(": joined as ") < 4:
            raise AssertionError(f"four nodes should join:\n{self.logs()}")

    def said(self):
        """What `squall fleet up` has said."""
        return (self.folder / "up.log").read_text()

    def running(self):
        """The nodes' processes, which sshd has started."""
        return [process for process in processes_of(self.sshd.process.pid) if "node" in words(process[0])]

    def logs(self):
        return f"{super().logs()}\n== sshd\n{self.sshd.log()}"

    def close(self):
        for process in (self.controller, self.up):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.sshd.stop()
        self.nats.kill()
        self.counter.close()


def words(pid):
    """The command line of a process that may have ended."""
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read().split("\0")
    except OSError:
        return []


class Ssh(FleetTest):
    def remote(self, seconds=SECONDS):
        fleet = Remote(self.folder)
        self.addCleanup(fleet.close)
        fleet.join()
        plan = PLAN.format(url=fleet.counter.url, rows="rows.csv", rate=RATE, seconds=seconds, steps=f"[{WITHOUT_ROWS}]")
        (self.folder / "rows.csv").write_text("id\n1\n")
        fleet.control(plan, "east=2,west=2")
        return fleet

    def test_four_hosts_run_a_plan_and_end_with_ctrl_c(self):
        fleet = self.remote()
        run = self.whole(fleet)
        nodes = {node["node"]: node["zone"] for node in run["nodes"]}
        self.assertEqual(nodes, {"east-1": "east", "east-2": "east", "west-1": "west", "far": "west"})
        self.assertNotIn(TOKEN, "".join(" ".join(words(pid)) for pid, _ in processes_of(fleet.sshd.process.pid) + processes_of(fleet.up.pid)))
        nodes = fleet.running()
        self.assertGreaterEqual(len(nodes), 4, fleet.logs())
        self.assertIsNone(fleet.up.poll(), "they wait for the next run")
        fleet.up.send_signal(signal.SIGINT)
        self.assertEqual(fleet.up.wait(timeout=PATIENCE), 130, fleet.logs())
        until(lambda: not any(map(is_there, nodes)), "nodes are left")
        self.assertIn("west-2: ", fleet.said())

    def test_a_node_ends_with_its_connection(self):
        fleet = self.remote(seconds=20)
        fleet.sent(RATE * 4)
        ssh, = [pid for pid, _ in processes_of(fleet.up.pid) if "west-1" in words(pid)]
        node, = [process for process in fleet.running() if "west-1" in words(process[0])]
        os.kill(ssh, signal.SIGKILL)
        until(lambda: not is_there(node), "the node outlives its connection")
        until(lambda: "squall: west-1: ssh ended: signal: 9 (SIGKILL)\n" in fleet.said(), "nobody is told")
        run = self.whole(fleet, 20)
        self.assertEqual([node["end"] for node in run["nodes"] if node["node"] == "west-1"], ["left"])
        others = fleet.running()
        fleet.up.kill()
        until(lambda: not any(map(is_there, others)), "nodes outlive the squall that has started them")

    def test_a_node_ends_when_its_connection_is_silent(self):
        fleet = Remote(self.folder)
        self.addCleanup(fleet.close)
        fleet.join()
        ssh, = [pid for pid, _ in processes_of(fleet.up.pid) if "west-1" in words(pid)]
        nodes = fleet.running()
        os.kill(ssh, signal.SIGSTOP)
        try:
            until(lambda: not all(map(is_there, nodes)), "the node goes on without being heard of")
            left, = [process for process in nodes if not is_there(process)] or [None]
            self.assertIsNotNone(left)
        finally:
            os.kill(ssh, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
