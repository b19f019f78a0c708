"""The file of `squall fleet manifest slurm` on a real Slurm of four machines. A task is killed: the others go on, and drive its share."""

import os
import re
import signal
import subprocess
import unittest
from pathlib import Path

from fleet import TOKEN, Counter, Fleet, Nats
from launchers.slurm.slurm import MACHINES, Slurm
from peers import SQUALL, until
from test_fleet import LEASE, RATE, WITHOUT_ROWS, FleetTest


class Submitted(Fleet):
    """A fleet whose nodes are the tasks of a job."""

    def __init__(self, folder):
        self.folder, self.nodes, self.controller, self.slurm = folder, {}, None, None
        self.counter, self.nats = Counter("127.0.0.1"), Nats(folder, "127.0.0.1")

    def submit(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/squall").symlink_to(Path(SQUALL).resolve())
        self.slurm = Slurm(self.folder / "slurm", self.folder / "bin")
        token = self.folder / "token"
        token.write_text(f"{TOKEN}\n")
        self.slurm.environment.update(SQUALL_NATS_TOKEN_FILE=str(token), SLURM_TMPDIR=str(self.folder))
        printed = subprocess.run([SQUALL, "fleet", "manifest", "slurm", "--nodes", str(MACHINES), "--nats", f"nats://127.0.0.1:{self.nats.port}",
                                  "--allow-hosts", "127.0.0.1"], check=True, capture_output=True, text=True).stdout
        said = self.slurm.run("sbatch", text=printed)
        self.job, = re.findall(r"Submitted batch job (\d+)", said) or [said]

    def is_over(self):
        return not self.slurm.run("squeue", "--noheader").strip()

    def logs(self):
        return super().logs() + (self.slurm.logs() if self.slurm else "")

    def close(self):
        if self.slurm:
            self.slurm.stop()
        if self.controller and self.controller.poll() is None:
            self.controller.kill()
            self.controller.wait()
        self.nats.kill()
        self.counter.close()


def task(number):
    """The process of a task: that of squall with this number."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words, environment = ((entry / name).read_bytes().split(b"\0") for name in ("cmdline", "environ"))
            except OSError:
                continue
            if b"node" in words and words[0].endswith(b"squall") and f"SLURM_PROCID={number}".encode() in environment:
                return int(entry.name)
    raise AssertionError(f"task {number} does not run")


class OnSlurm(FleetTest):
    def test_a_job_goes_on_without_a_task(self):
        fleet = Submitted(self.folder)
        self.addCleanup(fleet.close)
        fleet.submit()
        plan = (f"target: {fleet.counter.url}\nscenarios:\n  arrivals:\n    load: {{rate: {RATE}/s, for: 25s, max_users: 200}}\n"
                f"    steps: [{WITHOUT_ROWS}]\n")
        fleet.control(plan, MACHINES, "--lease", f"{LEASE}s")
        fleet.sent(RATE * 5)
        os.kill(task(2), signal.SIGKILL)
        run, cells = self.counts(fleet, lost=2)
        names = [f"node-{fleet.job}-{number}" for number in range(MACHINES)]
        ends = {node["node"]: node["end"] for node in run["nodes"]}
        self.assertEqual(sorted(ends), names)
        self.assertEqual([name for name in names if ends[name] == "done"], [names[0], names[1], names[3]], ends)
        self.assertGreater(len(cells["missing"]), 0)
        last = max(gap["to_s"] for gap in cells["missing"])
        self.assertLess(last, 23, f"nobody drives its share: {cells}")
        until(fleet.is_over, "the job goes on after its run")
        said = (fleet.slurm.folder / f"slurm-{fleet.job}.out").read_text()
        for number in (0, 1, 3):
            self.assertRegex(said, rf"(?m)^{number}: squall node: is done with run ")


if __name__ == "__main__":
    unittest.main()
