"""Installing from the sources, as the README says: the program, its manual, and bash that completes it."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Install(unittest.TestCase):
    def test_cargo_install_puts_a_working_squall_on_the_path(self):
        with tempfile.TemporaryDirectory(prefix="squall-interop-") as folder:
            subprocess.run(["cargo", "install", "--quiet", "--locked", "--path", str(ROOT / "crates/cli"), "--root", folder],
                           check=True, timeout=900)
            program = Path(folder) / "bin/squall"
            version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
            self.assertEqual(self.said(program, "--version"), f"squall {version}\n")
            self.assertIn(".TH squall 1", self.said(program, "man"))
            script = f"PATH={folder}/bin:$PATH; source <(squall completions bash); complete -p squall"
            ran = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
            self.assertIn("-F _squall", ran.stdout)
            # It needs nothing of its sources: the example runs from elsewhere.
            ran = subprocess.run([program, "run", str(ROOT / "examples/first.yaml"), "--for", "2s", "--quiet"], cwd=folder,
                                 capture_output=True, text=True, timeout=60)
            self.assertIn("POST /pay", ran.stdout, ran.stderr)

    @staticmethod
    def said(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    unittest.main()
