"""What the guides say of other programs: single sign-on, against a provider of our own in Python. (What needs nothing but
the built-in target is run by crates/cli/tests/it/guides.rs.)"""

import collections
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from peers import SQUALL, Process, free_port

HERE = Path(__file__).resolve().parent


def shown(guide, name):
    """A file that a guide shows: its name stands behind the block's language, or in the comment that a plan begins with."""
    text = (HERE.parent / "docs" / guide).read_text()
    name = re.escape(name)
    return re.search(rf"^```\w+(?: {name}\n|\n(?=# {name}\n))(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]


class SingleSignOn(unittest.TestCase):
    def test_the_plan_logs_in_with_openid_connect(self):
        port = free_port()
        with tempfile.TemporaryDirectory(prefix="squall-interop-") as name:
            folder = Path(name)
            provider = Process([sys.executable, str(HERE / "servers/oidc.py"), str(port), str(folder / "log")], port)
            try:
                plan = shown("howto/login.md", "oidc.yaml").replace("127.0.0.1:9000", f"127.0.0.1:{port}")
                (folder / "oidc.yaml").write_text(plan)
                (folder / "people.csv").write_text(shown("howto/login.md", "people.csv"))
                ran = subprocess.run([SQUALL, "run", "oidc.yaml"], cwd=folder, capture_output=True, text=True, timeout=60)
            finally:
                provider.stop()
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            log = collections.Counter((folder / "log").read_text().splitlines())
        # Three users log in once each, and look twice.
        self.assertEqual(log, {"GET /authorize 200": 3, "POST /login 302": 3, "POST /token 200": 3, "GET /userinfo 200": 6})


if __name__ == "__main__":
    unittest.main()
