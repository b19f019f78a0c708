"""What a person sees: the progress line and the report in terminals of two sizes, without colours, and without a
terminal."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import SQUALL, Process, free_port
from terminal import Terminal

EXAMPLE = Path(__file__).resolve().parent.parent / "examples/first.yaml"
PROGRESS = re.compile(r"^ *\d+s/3s \[[#.]+\]")
# The report's width does not follow the terminal's yet.
REPORT_COLUMNS = 100
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
        progress = [line for line in terminal.shown if PROGRESS.match(line)]
        self.assertGreaterEqual(len(progress), 3, terminal.shown)
        # One wider than the terminal would wrap, and its beginning would stay when it is erased.
        self.assertLess(max(map(len, progress)), 80, progress)
        # Each is written over the one before, and the last is gone before the report.
        self.assertEqual(terminal.raw.count("\r\x1b[K"), len(progress) + 1)
        self.assertIn(COLOUR, terminal.raw.split("\r\x1b[K")[-1], "colours")
        report = [line for line in terminal.shown if not PROGRESS.match(line)]
        self.assertGreater(len(report), 20)
        self.assertLessEqual(max(map(len, report)), REPORT_COLUMNS, max(report, key=len))

    def test_progress_counts_the_users_of_all_workers(self):
        port = free_port()
        target = Process([SQUALL, "target", "-l", f"127.0.0.1:{port}"], port)
        try:
            url = f"http://127.0.0.1:{port}/delay/20"
            terminal = Terminal([SQUALL, url, "-c", "10", "-d", "4s", "-w", "2"], 80, 24)
        finally:
            target.stop()
        users = [found[1] for line in terminal.shown if (found := re.search(r"\]  (\S+) users", line))]
        # The last second is not a whole one.
        self.assertGreaterEqual(len(users), 3, terminal.shown)
        self.assertEqual(set(users), {"10"}, terminal.shown)

    def test_without_colours(self):
        terminal = Terminal(command(), 80, 24, NO_COLOR="1")
        report = terminal.raw.split("\r\x1b[K")[-1]
        self.assertNotIn(COLOUR, report)
        self.assertIn("passed", report)

    def test_quiet(self):
        terminal = Terminal(command("--quiet"), 80, 24)
        self.assertNotIn("\r\x1b[K", terminal.raw)
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
