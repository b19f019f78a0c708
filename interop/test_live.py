"""The live view as a person sees it: in a real pty, at two sizes, with keys pressed, the terminal resized, stopped and
broken off."""

import json
import os
import re
import select
import signal
import tempfile
import time
import unittest
from pathlib import Path

from peers import SQUALL, Process, free_port, until
from screen import ENTER, LEAVE, Screen

PLAN = """
target: builtin
scenarios:
  buyer:
    load: {users: 20, for: %(length)s}
    steps:
      - {get: /delay/20, name: home, check: ["status == 200"]}
      - {get: /status/503, name: broken}
  guest:
    load: {rate: 50/s, for: %(length)s}
    steps: [{get: /delay/5, name: search}]
thresholds: ["p99(home) < 60s"]
"""


class Live(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="squall-interop-")
        self.screens = []

    def tearDown(self):
        for screen in self.screens:
            if screen.code is None:
                os.kill(screen.pid, signal.SIGKILL)
                screen.wait()
        self.folder.cleanup()

    def start(self, columns, rows, length="10m", plan=PLAN, more=(), **environment):
        """A run in a terminal, by default one that goes on until the test ends it."""
        path = Path(self.folder.name, "plan.yaml")
        path.write_text(plan % {"length": length})
        command = [SQUALL, "run", path, "-w", "2", "--out", self.folder.name, "--json",
                   Path(self.folder.name, "run.json"), *more]
        screen = Screen(command, columns, rows, **environment)
        self.screens.append(screen)
        return screen

    def result(self):
        return json.loads(Path(self.folder.name, "run.json").read_text())

    def marks(self):
        """What happened while the load went on, in order."""
        return [(mark["kind"], mark["text"]) for mark in self.result()["marks"]]

    def stop(self, screen):
        """Stops a run by keys; it says that it was stopped, and gives the terminal back."""
        screen.press("qy")
        self.assertEqual(screen.wait(), 130, screen.text())
        self.is_restored(screen)

    def is_restored(self, screen):
        raw = bytes(screen.raw)
        self.assertEqual((raw.count(ENTER), raw.count(LEAVE)), (1, 1))
        self.assertIn(b"\x1b[?25h", raw, "the cursor is back")
        before, now = screen.modes()
        self.assertEqual(before, now, "what is typed is treated as before")

    def test_a_whole_run_at_80x24(self):
        self.whole_run(80, 24)

    def test_a_whole_run_at_200x60(self):
        self.whole_run(200, 60)

    def whole_run(self, columns, rows):
        screen = self.start(columns, rows)
        screen.wait_for("As planned?")
        shown = screen.wait_for("x status in broken")
        screen.wait_for("broken: status: ")
        for word in ("running", "buyer", "guest", "Arrivals", "p99", "20 users", "Generator OK?"):
            self.assertIn(word, shown)
        for key, word in [("2", "search"), ("3", "x status in broken"), ("4", "status == 200"), ("4", "p99(home)"),
                          ("5", "busiest worker"), ("6", "load begins"), ("?", "stop in order")]:
            screen.press(key)
            screen.wait_for(word)
        # Any key ends the help.
        screen.press("1")
        self.stop(screen)
        self.assertIn("p99(home)", screen.after(), "the report")
        screen = self.start(columns, rows, length="3s")
        self.assertEqual(screen.wait(), 0, screen.text())
        self.is_restored(screen)
        self.assertIn("p99(home)", screen.after(), "the report")
        self.assertNotIn("\x1b[H", screen.after())

    def test_the_load_is_changed_paused_and_stopped_by_keys(self):
        plan = PLAN.replace("    steps:\n", "    steps:\n      - {think: 50ms}\n", 1)
        screen = self.start(100, 30, plan=plan)
        screen.wait_for("20 of 20 users")
        screen.press("+")
        screen.wait_for("22 of 22 users")
        screen.press("n7\r")
        screen.wait_for("7 of 7 users")
        screen.press("ln80\r")
        screen.wait_for("of 80.0/s arrivals")
        screen.press("p")
        screen.wait_for("PAUSED")
        # What was under way has time to end: the last second of the pause is looked at.
        time.sleep(6)
        screen.press("p")
        screen.wait_for("of 80.0/s arrivals")
        screen.press("q")
        screen.wait_for("stop the run?")
        screen.press("n")
        screen.wait_for("?:help")
        self.stop(screen)
        happened = ["buyer: 22 users", "buyer: 7 users", "guest: 80.0/s", "paused", "resumed", "stopped"]
        self.assertEqual([text for _, text in self.marks()], happened)
        at = {mark["kind"]: mark["at_s"] for mark in self.result()["marks"]}
        whole = [row for row in self.result()["series"] if at["paused"] < row["second"] and row["second"] + 1 < at["resumed"]]
        still = whole[-1]
        self.assertEqual((still["iterations_started"], still["requests"], still["in_flight"]), (0, 0, 0), "it stood still")

    def test_requests_are_sorted_and_filtered(self):
        screen = self.start(80, 24)
        screen.wait_for("20 users")
        screen.press("2")
        screen.wait_for("search")
        screen.press("/BRO")
        screen.wait_for("filter: BRO")
        self.assertNotIn("search", screen.text())
        screen.press("\x1b")
        screen.wait_for("search")
        screen.press("\r" + "oooo")
        screen.wait_for("▼p95")
        os.kill(screen.pid, signal.SIGTERM)
        self.assertEqual(screen.wait(), 130)
        self.is_restored(screen)

    def test_without_colours(self):
        screen = self.start(80, 24, NO_COLOR="1")
        screen.wait_for("x status in broken")
        self.assertEqual(screen.colors(), set())
        self.stop(screen)

    def test_a_resize_is_followed(self):
        screen = self.start(80, 24)
        screen.wait_for("As planned?")
        screen.resize(160, 50)
        screen.wait_for("Virtual users")
        screen.wait_for("p95 by second")
        screen.resize(30, 8)
        screen.wait_for("more at")
        screen.resize(80, 24)
        screen.wait_for("p:pause")
        screen.press("\x03")
        self.assertEqual(screen.wait(), 130, "Ctrl-C stops it")
        self.is_restored(screen)
        self.assertEqual(self.marks(), [("stopped", "stopped")])

    def test_the_terminal_is_given_back_however_it_ends(self):
        # A request that hangs: the first Ctrl-C waits for it, longer than the test does.
        plan = PLAN.replace("/delay/20,", "/delay/900000, timeout: 20m,").replace("scenarios:", "graceful_stop: 15m\nscenarios:")
        for times, kind in [(2, "\x03"), (2, signal.SIGTERM), (2, signal.SIGHUP), (3, "\x03")]:
            with self.subTest(kind=kind, times=times):
                screen = self.start(80, 24, plan=plan)
                screen.wait_for("20 of 20 users")
                for number in range(times):
                    screen.press(kind) if isinstance(kind, str) else os.kill(screen.pid, kind)
                    if number == 0:
                        screen.wait_for("stopping")
                self.assertEqual(screen.wait(), 130)
                self.is_restored(screen)

    def test_a_terminal_that_reads_nothing_stops_nothing(self):
        port = free_port()
        target = Process([SQUALL, "target", "-l", f"127.0.0.1:{port}"], port)
        try:
            plan = PLAN.replace("builtin", f"http://127.0.0.1:{port}").replace("users: 20, for: %(length)s", "users: 20, iterations: 300")
            screen = self.start(200, 60, length="6s", plan=plan)
            screen.wait_for("20 users")
            screen.reads.clear()
            # A pty holds some KiB, and Ctrl-L draws all anew: the view soon has nobody to write to.
            path = Path(self.folder.name, "run.json")

            def is_over():
                screen.press("\x0c")
                time.sleep(0.2)
                return path.exists()

            until(is_over, "the result is there with nobody reading")
            self.assertTrue(select.select([screen.leader], [], [], 0)[0], "what was drawn is still there")
            screen.reads.set()
            screen.wait()
        finally:
            target.stop()
        self.is_restored(screen)
        # The whole load was made.
        count = {row["name"]: row["count"] for row in self.result()["requests"]}
        dropped = self.result()["counters"]["arrivals_dropped"]
        self.assertEqual((count["home"], count["broken"], count["search"] + dropped), (6000, 6000, 300))

    def test_what_a_server_sends_moves_no_cursor(self):
        plan = """
target: builtin
scenarios:
  a:
    load: {users: 1, for: 10m, pacing: 200ms}
    steps: [{get: /delay/1, name: "evil\\e]0;owned\\a\\e[2J", check: ["status == 500"]}]
"""
        screen = self.start(80, 24, plan=plan)
        screen.wait_for("check in evil")
        self.stop(screen)
        self.assertNotIn(b"\x1b]0;owned", bytes(screen.raw))


class NoView(unittest.TestCase):
    def quiet(self, *more, **environment):
        with tempfile.TemporaryDirectory(prefix="squall-interop-") as folder:
            path = Path(folder, "plan.yaml")
            path.write_text(PLAN % {"length": "3s"})
            screen = Screen([SQUALL, "run", path, "--out", folder, *more], 80, 24, **environment)
            screen.wait()
            return screen

    def test_quiet_prints_the_result_alone(self):
        screen = self.quiet("--quiet")
        self.assertNotIn(ENTER, bytes(screen.raw))
        self.assertIn(b"p99(home)", bytes(screen.raw))

    def test_a_dumb_terminal_gets_lines(self):
        screen = self.quiet("--for", "6s", TERM="dumb")
        self.assertNotIn(ENTER, bytes(screen.raw))
        self.assertEqual(re.findall(r"(\d+)s/6s \[", bytes(screen.raw).decode()), ["5"])


if __name__ == "__main__":
    unittest.main()
