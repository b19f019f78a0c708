"""An sshd of its own: four hosts on loopback addresses, with keys that nobody else has. It needs nothing of the machine's sshd or of
a user's ~/.ssh, and changes nothing there."""

import getpass
import os
import shutil
import subprocess
from pathlib import Path

from peers import wait_for
from ports import free_port

UNPACKED = Path(__file__).resolve().parents[3] / "target/interop/sshd"

# sshd wants a user and a folder of its own where it runs as root. They are there for this process and its children alone.
AS_ROOT = """
mount --bind "$0/passwd" /etc/passwd
mount -t tmpfs none /run && mkdir -m 755 /run/sshd
exec "$@"
"""


class Sshd:
    """Four hosts, `east-1`, `east-2`, `west-1` and `west-2`: one sshd at four addresses. `path` has an `ssh` that knows them."""

    hosts = {"east-1": "127.0.0.1", "east-2": "127.0.0.2", "west-1": "127.0.0.3", "west-2": "127.0.0.4"}

    def __init__(self, folder):
        self.folder, self.port = Path(folder), free_port()
        self.folder.mkdir(mode=0o700)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        shutil.copy(self.folder / "user.pub", self.folder / "authorized")
        self.configure()
        program = UNPACKED / "usr/sbin/sshd"
        command = [program, "-D", "-e", "-f", self.folder / "sshd_config"]
        if os.geteuid() == 0:
            users = Path("/etc/passwd").read_text()
            (self.folder / "passwd").write_text(users if "\nsshd:" in users else users + "sshd:x:59999:65534::/run/sshd:/bin/false\n")
            command = ["unshare", "--mount", "sh", "-ec", AS_ROOT, self.folder, *command]
        libraries = next(UNPACKED.glob("usr/lib/*/"))
        with (self.folder / "sshd.log").open("wb") as log:
            self.process = subprocess.Popen(command, env={**os.environ, "LD_LIBRARY_PATH": str(libraries)}, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        wait_for(self.port)

    def configure(self):
        listen = "".join(f"ListenAddress {address}:{self.port}\n" for address in self.hosts.values())
        (self.folder / "sshd_config").write_text(f"""{listen}HostKey {self.folder}/host
AuthorizedKeysFile {self.folder}/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
MaxStartups 100
SetEnv SQUALL_SPOOL={self.folder}/spool
""")
        key = (self.folder / "host.pub").read_text()
        known = "".join(f"[{address}]:{self.port} {key}" for address in self.hosts.values())
        (self.folder / "known").write_text(known)
        named = "".join(f"Host {name}\n  HostName {address}\n" for name, address in self.hosts.items())
        (self.folder / "ssh_config").write_text(f"""{named}Host *
  Port {self.port}
  User {getpass.getuser()}
  IdentityFile {self.folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {self.folder}/known
  StrictHostKeyChecking yes
""")
        self.path = self.folder / "bin"
        self.path.mkdir()
        ssh = self.path / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.folder}/ssh_config "$@"\n')
        ssh.chmod(0o755)

    def log(self):
        return (self.folder / "sshd.log").read_text(errors="replace")

    def stop(self):
        self.process.terminate()
        self.process.wait()
