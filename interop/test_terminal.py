"""What a person sees: the report in terminals of two sizes, without colours, and progress without a terminal."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import SQUALL
from terminal import Terminal

EXAMPLE = Path(__file__).resolve().parent.parent / "examples/first.yaml"
PROGRESS = re.compile(r"^ *\d+s/3s \[[#.]+\]")
COLOUR = "\x1b["


def command(*more):
    folder = tempfile.mkdtemp(prefix="squall-interop-")
    return [SQUALL, "run", str(EXAMPLE), "--for", "3s", "-w", "2", "--out", folder, *more]


class ATerminal(unittest.TestCase):
    def test_of_80_columns(self):
        self.seen(80, 24)

    def test_of_200_columns(self):
        self.seen(200, 60)

    def seen(self, columns, rows):
        terminal = Terminal(command(), columns, rows)
        self.assertEqual(terminal.code, 0, terminal.raw)
        report = self.report(terminal)
        self.assertIn(COLOUR, report, "colours")
        lines = re.sub(r"\x1b\[[\d;]*m", "", report).splitlines()
        self.assertGreater(len(lines), 20)
        # As wide as the terminal, but for its last column.
        self.assertLess(max(map(len, lines)), columns, max(lines, key=len))

    @staticmethod
    def report(terminal):
        """What stands on the terminal when the live view is over."""
        return terminal.raw.rsplit("\x1b[?1049l", 1)[-1]

    def test_without_colours(self):
        report = self.report(Terminal(command(), 80, 24, NO_COLOR="1"))
        self.assertNotIn(COLOUR, report)
        self.assertIn("passed", report)

    def test_quiet(self):
        terminal = Terminal(command("--quiet"), 80, 24)
        self.assertNotIn("\x1b[?1049h", terminal.raw)
        self.assertFalse([line for line in terminal.shown if PROGRESS.match(line)])
        self.assertIn("passed", terminal.raw)


class NoTerminal(unittest.TestCase):
    def test_pipes_get_text_alone(self):
        ran = subprocess.run(command(), capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotIn("\x1b", ran.stdout + ran.stderr)
        self.assertNotIn("\r", ran.stdout + ran.stderr)
        self.assertIn("passed", ran.stdout)
        # Progress is for people who look: every five seconds, on the standard error.
        self.assertNotRegex(ran.stdout, PROGRESS)

    def test_progress_without_a_terminal_is_a_line_each_five_seconds(self):
        ran = subprocess.run([SQUALL, "run", str(EXAMPLE), "--for", "11s", "--out", tempfile.mkdtemp()],
                             capture_output=True, text=True, timeout=60)
        lines = [line for line in ran.stderr.splitlines() if re.match(r" *\d+s/11s", line)]
        self.assertEqual(len(lines), 2, ran.stderr)


if __name__ == "__main__":
    unittest.main()
