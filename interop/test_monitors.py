"""The PostgreSQL monitor against PostgreSQL itself, with TLS and without."""

import os
import pwd
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from peers import PATIENCE, certify, squall, wait_for
from ports import free_port

PASSWORD = "mon/tor"


def programs():
    """Where PostgreSQL's programs are: Debian has them on nobody's PATH."""
    found = shutil.which("initdb")
    return Path(found).parent if found else max(Path("/usr/lib/postgresql").glob("*/bin"))


class Postgres:
    """A server that takes connections with TLS alone, by a certificate that nobody else has signed. It refuses to run as root."""

    def __init__(self, folder):
        self.port, self.folder, self.data = free_port(), folder, folder / "data"
        self.user = pwd.getpwnam("postgres").pw_uid if os.getuid() == 0 else None
        certify(folder)
        (folder / "password").write_text(PASSWORD)
        for path in [folder, *folder.iterdir()]:
            path.chmod(0o700 if path.is_dir() else 0o600)
            if self.user is not None:
                os.chown(path, self.user, -1)
        self.run("initdb", "-D", self.data, "-U", "squall", "-A", "scram-sha-256", f"--pwfile={folder}/password", "--no-sync")
        (self.data / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 scram-sha-256\n")
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "", "fsync": "off", "ssl": "on",
                    "ssl_cert_file": f"{folder}/cert.pem", "ssl_key_file": f"{folder}/key.pem"}
        options = [f"--{name}={value}" for name, value in settings.items()]
        self.process = subprocess.Popen([programs() / "postgres", "-D", self.data, *options], user=self.user, cwd=folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port)

    def run(self, program, *arguments):
        subprocess.run([programs() / program, *arguments], user=self.user, cwd=self.folder, check=True, capture_output=True)

    def monitor(self, rest="?sslmode=require", host="127.0.0.1"):
        """What `--monitor` takes."""
        return f"db=postgres:postgres://squall:{PASSWORD.replace('/', '%2F')}@{host}:{self.port}/postgres{rest}"

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)


class AgainstPostgres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.postgres = Postgres(Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.postgres.stop()
        cls.folder.cleanup()

    def sampled(self, monitor, trusted=True):
        """The result of a short run with a monitor, of a system that trusts the server's certificate or does not."""
        plan = Path(self.folder.name, "plan.yaml")
        plan.write_text("target: builtin\nscenarios: {a: {load: {users: 1, for: 4s}, steps: [{get: /}, {think: 20ms}]}}\n")
        roots = {"SSL_CERT_FILE": f"{self.folder.name}/cert.pem"} if trusted else {}
        with unittest.mock.patch.dict(os.environ, roots):
            return squall("run", str(plan), "--out", f"{self.folder.name}/runs", "--monitor", monitor)

    def test_with_tls(self):
        for host, mode in [("127.0.0.1", "require"), ("localhost", "verify-full")]:
            result = self.sampled(self.postgres.monitor(f"?sslmode={mode}", host))
            found = {row["name"]: row for row in result["metrics"] if row["tags"].get("monitor") == "db"}
            self.assertGreaterEqual(found["connections_limit"]["last"], 10, result["warnings"])
            self.assertGreater(found["commits"]["max"], 0)
            # Its own is not counted.
            self.assertEqual(found["connections"]["max"], 0)

    def test_what_is_wrong_is_said(self):
        for rest, trusted, said in [
            ("", True, "no encryption: add ?sslmode=require"),
            ("?sslmode=require", False, "its certificate is not trusted"),
        ]:
            result = self.sampled(self.postgres.monitor(rest), trusted)
            warnings = " ".join(result["warnings"])
            self.assertIn(said, warnings)
            self.assertNotIn(PASSWORD, warnings)

    def test_a_wrong_password(self):
        result = self.sampled(self.postgres.monitor().replace("mon", "nom"))
        self.assertIn("password authentication failed", " ".join(result["warnings"]))


if __name__ == "__main__":
    unittest.main()
