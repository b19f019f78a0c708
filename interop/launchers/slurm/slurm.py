"""A Slurm of its own: a controller and four machines, which are four slurmd of this one. Whoever is on this machine is believed to be who
they say: it has no munge."""

import getpass
import os
import socket
import subprocess
from pathlib import Path

from peers import until
from ports import free_port

UNPACKED = Path(__file__).resolve().parents[3] / "target/interop/slurm"
MACHINES = 4


def free_ports(count):
    """The first of so many ports in a row that nobody has."""
    while True:
        first = free_port()
        try:
            for port in range(first, first + count):
                with socket.socket() as listener:
                    listener.bind(("127.0.0.1", port))
            return first
        except OSError:
            pass


class Slurm:
    def __init__(self, folder, path):
        self.folder, self.processes = Path(folder), []
        self.folder.mkdir()
        plugins, = UNPACKED.glob("usr/lib/*/slurm-wlm")
        self.configure(plugins)
        libraries = f"{plugins.parent}:{plugins}"
        # Where jobs find srun, and squall.
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "LD_LIBRARY_PATH": libraries,
                            "PATH": f"{UNPACKED}/usr/bin:{path}:{os.environ['PATH']}"}
        self.start("slurmctld", "slurmctld-wlm", "-D")
        for number in range(1, MACHINES + 1):
            self.start(f"m{number}", "slurmd-wlm", "-D", "-N", f"m{number}", "-d", UNPACKED / "usr/sbin/slurmstepd-wlm")
        until(lambda: self.run("sinfo", "--noheader", "--format=%T %D").strip() == f"idle {MACHINES}", "the machines are not idle")

    def configure(self, plugins):
        port = free_ports(MACHINES + 1)
        user = getpass.getuser()
        (self.folder / "slurm.conf").write_text(f"""ClusterName=here
SlurmctldHost={socket.gethostname()}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/none
CredType=cred/none
PluginDir={plugins}
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/linear
SchedulerType=sched/builtin
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=m[1-{MACHINES}] NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port=[{port + 1}-{port + MACHINES}] CPUs=2 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES State=UP
""")

    def start(self, name, program, *words):
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes.append(subprocess.Popen([UNPACKED / "usr/sbin" / program, *words], env=self.environment, stdin=subprocess.DEVNULL,
                                                   stdout=log, stderr=log))

    def run(self, program, *words, text=None):
        """Runs a command of Slurm; what it prints."""
        ran = subprocess.run([UNPACKED / "usr/bin" / program, *words], env=self.environment, input=text, capture_output=True, text=True,
                             cwd=self.folder, check=False)
        return ran.stdout + ran.stderr

    def logs(self):
        files = [*self.folder.glob("*.log"), *self.folder.glob("slurm-*.out")]
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in sorted(files))

    def stop(self):
        self.run("scancel", "--me")
        until(lambda: not self.run("squeue", "--noheader").strip(), "jobs are left")
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
