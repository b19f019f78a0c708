"""What comes with the binary: its version, its manual, and bash that completes it. `release/build.sh` tries `cargo install`."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import SQUALL

ROOT = Path(__file__).resolve().parent.parent
# What bash has as words when a person has typed so much and presses Tab.
COMPLETED = """
PATH="$1:$PATH"
source <(squall completions bash)
complete -p squall
COMP_WORDS=(squall tar) COMP_CWORD=1
_squall squall tar squall
echo "${COMPREPLY[@]}"
"""


class Binary(unittest.TestCase):
    def test_it_says_its_version(self):
        version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
        said = self.said(SQUALL, "--version")
        self.assertRegex(said, rf"\Asquall {re.escape(version)}( \([0-9a-f]{{8,}} \d{{4}}-\d\d-\d\d\))?\n\Z")

    def test_it_has_a_manual(self):
        self.assertIn(".TH squall 1", self.said(SQUALL, "man"))

    def test_bash_completes_it(self):
        with tempfile.TemporaryDirectory(prefix="squall-interop-") as folder:
            os.symlink(Path(SQUALL).resolve(), Path(folder, "squall"))
            said = self.said("bash", "--norc", "-c", COMPLETED, "bash", folder)
        self.assertIn("-F _squall", said)
        self.assertEqual(said.splitlines()[-1], "target")

    def test_it_needs_nothing_of_its_sources(self):
        with tempfile.TemporaryDirectory(prefix="squall-interop-") as folder:
            command = [Path(SQUALL).resolve(), "run", ROOT / "examples/first.yaml", "--for", "2s", "--quiet"]
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        self.assertIn("POST /pay", ran.stdout, ran.stderr)

    @staticmethod
    def said(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    unittest.main()
