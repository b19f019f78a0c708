"""What a person sees: the report in terminals of two sizes, without colours, and progress without a terminal."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import PATIENCE, SQUALL
from terminal import Terminal

# No threshold on a time that a busy machine could miss.
PLAN = """
target: builtin
scenarios:
  visitor: {load: {users: 20, for: %s}, steps: [{get: /, check: [status == 200]}, {think: 100ms}, {get: /items}]}
  buyer:
    load: {rate: 25/s, for: %s, max_users: 100}
    steps: [{group: checkout, steps: [{get: "/api/items/1"}, {get: /delay/5, name: pay}]}]
thresholds: [error_rate < 1%%, p99(pay) < 60s]
"""
PROGRESS = re.compile(r"^ *\d+s/3s \[[#.]+\]")
COLOUR = "\x1b["


def command(*more, length="3s"):
    folder = tempfile.mkdtemp(prefix="squall-interop-")
    plan = Path(folder, "plan.yaml")
    plan.write_text(PLAN % (length, length))
    return [SQUALL, "run", str(plan), "-w", "2", "--out", folder, *more]


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
        self.assertGreater(len(lines), 8)
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
        ran = subprocess.run(command(), capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotIn("\x1b", ran.stdout + ran.stderr)
        self.assertNotIn("\r", ran.stdout + ran.stderr)
        self.assertIn("passed", ran.stdout)
        # Progress is for people who look: every five seconds, on the standard error.
        self.assertNotRegex(ran.stdout, PROGRESS)

    def test_progress_without_a_terminal_is_a_line_each_five_seconds(self):
        ran = subprocess.run(command(length="11s"), capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(re.findall(r"^ *(\d+)s/11s", ran.stderr, re.MULTILINE), ["5", "10"], ran.stderr)


if __name__ == "__main__":
    unittest.main()
