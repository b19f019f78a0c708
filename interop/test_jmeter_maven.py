"""A Maven build that runs a plan with JMeter's plug-in runs it with squall, by a script in the place of `java`: it passes where
the samples are good, and fails where they are not. Skipped without `mvn` and `java`."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "jmeter"))

from peers import SQUALL
from plans import group, plan, request
from test_jmeter import Server

PLAN = plan(group(request("home", "/home") + request("item", "/status/${__P(status,200)}"), threads="${__P(users)}", loops=3))


@unittest.skipUnless(shutil.which("mvn") and shutil.which("java"), "there is no Maven")
class Build(unittest.TestCase):
    def build(self, folder, server, *more):
        command = ["mvn", "-B", "-q", "verify", f"-Dport={server.server_address[1]}", *more]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500, env=os.environ | {"SQUALL": SQUALL})

    def test_a_build_runs_squall_in_the_place_of_jmeter(self):
        server = Server()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "shop")
            shutil.copytree(HERE / "maven", folder)
            tests = folder / "src/test/jmeter"
            tests.mkdir(parents=True, exist_ok=True)
            (tests / "shop.jmx").write_text(PLAN)
            done = self.build(folder, server)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])
            [samples] = (folder / "target/jmeter/results").glob("*.csv")
            with open(samples, newline="") as file:
                rows = [row["label"] for row in csv.DictReader(file)]
            self.assertEqual(sorted(rows), ["home"] * 6 + ["item"] * 6)
            self.assertEqual(len(server.seen), 12)
            self.assertTrue(any(file.name == "index.html" for file in (folder / "target/jmeter/reports").rglob("*")))
            # The plug-in judges the samples: a build whose requests fail is a failure.
            (tests / "user.properties").write_text("status = 500\n")
            done = self.build(folder, server)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("error", done.stdout.lower())
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    unittest.main()
