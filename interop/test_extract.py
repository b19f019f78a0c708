"""Extractors against suites that others wrote. The suites are no part of the project: they are
read from ../../shared/suites (see the README there), and what is not there is skipped."""

import lzma
import pathlib
import re
import subprocess
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent
SUITES = PROJECT.parent / "shared" / "suites"


def tally(kind, name):
    """Runs a suite and gives how many cases are the same, refused and different."""
    suite = SUITES / name
    if not suite.exists():
        raise unittest.SkipTest(f"{suite} is not there")
    command = ["cargo", "run", "--quiet", "--locked", "-p", "squall-extract", "--example", "suites"]
    run = subprocess.run(
        [*command, "--", kind], cwd=PROJECT, input=lzma.open(suite).read(), capture_output=True,
        check=True, timeout=600,
    )
    last = run.stdout.decode().splitlines()[-1]
    return tuple(int(number) for number in re.findall(r"\d+", last))


class Suites(unittest.TestCase):
    def test_jsonpath(self):
        self.assertEqual(tally("jsonpath", "jsonpath-cts.json.xz"), (703, 0, 0))

    def test_css(self):
        # Most of what is refused needs a browser, or is of soupsieve alone.
        same, _, _ = tally("css", "css-soupsieve.jsonl.xz")
        self.assertGreaterEqual(same, SAME_CSS)


SAME_CSS = 152

if __name__ == "__main__":
    unittest.main()
