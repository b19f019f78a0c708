"""The page of a run while it goes on, and that of a folder's runs, in headless Chromium: what it shows is what run.json
says, it controls the run, it survives a reload and a lost connection, and axe-core finds nothing wrong. `UI_SHOTS=DIR` keeps
pictures."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import PATIENCE, SQUALL, wait_for
from ports import free_port
from test_page import HOSTILE, RUNS, modules

HERE = Path(__file__).resolve().parent
PLAN = """
target: builtin
scenarios:
  buyer:
    load: {users: 4, for: %(length)s}
    steps:
      - {get: /delay/20?dist=exponential, name: home, check: ["status == 200"]}
      - {get: /status/503, name: %(hostile)s}
      - {think: 50ms}
  guest: {load: {rate: 40/s, for: %(length)s}, steps: [{group: search, steps: [{get: /delay/5, name: "search page"}]}]}
thresholds: ["p99(home) < 60s", "error_rate < 0.1%%"]
"""


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="squall-interop-")
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.wait()
            (process.stderr or process.stdout).close()
        self.folder.cleanup()

    def run_plan(self, length="10m", *more):
        plan = Path(self.folder.name, "plan.yaml")
        plan.write_text(PLAN % {"length": length, "hostile": json.dumps(HOSTILE)})
        command = [SQUALL, "run", plan, "--quiet", "-w", "1", "--out", Path(self.folder.name, "runs"), "--ui", *more]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process, process.stderr.readline().split()[-1]

    def look(self, what, url, act=None):
        """What the browser saw; `act` is called once it says that it is ready."""
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        shots = os.environ.get("UI_SHOTS")
        asked = {"what": what, "url": url, "browser": browser, "shot": shots and f"{shots}/{what}"}
        process = subprocess.Popen(["node", HERE / "ui.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env={**os.environ, "PAGE_MODULES": str(modules())})
        process.stdin.write(json.dumps(asked))
        process.stdin.close()
        process.stdin = None
        if act:
            said = process.stderr.readline()
            self.assertEqual(said, "ready\n", process.stderr.read() if said != "ready\n" else "")
            act()
        out, err = process.communicate(timeout=5 * PATIENCE)
        self.assertEqual(process.returncode, 0, err[-3000:])
        seen = json.loads(out)
        self.assertEqual(seen["asked"], [url.rsplit("/", 2)[0]], "nobody else was asked for anything")
        return seen

    def result(self):
        [run] = Path(self.folder.name, "runs").iterdir()
        return json.loads((run / "run.json").read_text())

    def nothing_is_wrong(self, seen):
        for form in seen["forms"]:
            with self.subTest(form=form["form"]):
                self.assertEqual(form["violations"], [])
                self.assertFalse(form["wide"], "no scrolling sideways")
        self.assertEqual(seen["said"], [], "no error, and nothing that a name made it run")

    def test_what_it_shows_is_what_run_json_says(self):
        process, url = self.run_plan()
        seen = self.look("watch", url, lambda: process.send_signal(signal.SIGINT))
        self.assertEqual(process.wait(timeout=PATIENCE), 130)
        self.nothing_is_wrong(seen)
        totals = self.result()["totals"]
        self.assertEqual(seen["requests"], f"{totals['count']:,}")
        self.assertEqual(seen["errors"], f"{totals['errors']:,}")
        for word in ("buyer", "guest", "4 users", "status in", HOSTILE, "status == 200", "error_rate < 0.1%", "search page"):
            self.assertIn(word, seen["text"])
        self.assertRegex(seen["moment"], r"p50|actual")
        for word in ("home: latency", "p99", "home: requests and errors/s"):
            self.assertIn(word, seen["row"])
        self.assertEqual(seen["open"], 1, "one was closed again")
        self.assertGreaterEqual(seen["after"], seen["before"], "the curves are there again")
        self.assertGreater(seen["before"], 2)
        self.assertEqual(seen["outcome"], "The run was stopped")
        self.assertIn("Over time", seen["report"])
        self.assertEqual(seen["lost"], "")

    def test_a_run_without_a_folder_has_its_report_too(self):
        target = free_port()
        self.processes.append(subprocess.Popen([SQUALL, "target", "-l", f"127.0.0.1:{target}"], stdout=subprocess.PIPE))
        wait_for(target)
        command = [SQUALL, f"http://127.0.0.1:{target}/status/503", "-r", "100/s", "-d", "30s", "--quiet", "--ui"]
        process = subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        seen = self.look("end", process.stderr.readline().split()[-1])
        self.assertEqual(process.wait(timeout=PATIENCE), 1, "requests fail")
        self.assertEqual(seen["outcome"], "The run failed")
        self.assertIn("--out DIR", seen["kept"])
        self.assertIn("Over time", seen["report"])
        self.assertEqual(seen["said"], [])

    def test_it_controls_the_run(self):
        process, url = self.run_plan()
        seen = self.look("control", url)
        self.assertEqual(process.wait(timeout=PATIENCE), 130)
        self.assertEqual(seen["stood"][0], seen["stood"][1], "nothing is sent while it is paused")
        self.assertEqual(seen["told"], "9 virtual users from now on")
        self.assertEqual(seen["still"], "running", "it was not stopped before it was said twice")
        self.assertEqual(seen["outcome"], "The run was stopped")
        said = [text for text in seen["said"] if "409" not in text]
        self.assertEqual(said, [])
        marks = [mark["text"] for mark in self.result()["marks"]]
        for word in ("paused", "resumed", "buyer: 9 users", "stopped"):
            self.assertIn(word, marks)

    def test_a_lost_connection_comes_back(self):
        process, url = self.run_plan()
        port = url.split(":")[2].split("/")[0]

        def cut():
            # The kernel ends the page's connections; where it cannot, nothing can be tested.
            ended = subprocess.run(["ss", "-K", "dst", "127.0.0.1", "dport", "=", port], capture_output=True, text=True)
            self.assertIn(port, ended.stdout, ended.stderr)

        seen = self.look("lose", url, cut)
        self.assertIn("trying again", seen["lost"])
        self.assertGreaterEqual(seen["curve"], seen["seconds"] - 2, "and nothing is missing")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), 130)

    def test_the_runs_of_a_folder(self):
        """Stored runs: what the list says of them does not depend on this machine."""
        runs = Path(self.folder.name, "runs")
        for name, stored in [("a-shop", "shop"), ("b-shop", "shop"), ("c-healthy", "healthy")]:
            shutil.copytree(RUNS / stored, runs / name)
            if name == "a-shop":
                result = json.loads((runs / name / "run.json").read_text())
                result["meta"]["started_unix"] -= 60
                (runs / name / "run.json").write_text(json.dumps(result))
            subprocess.run([SQUALL, "report", runs / name, "--out", f"html={runs / name / 'report.html'}"], capture_output=True, timeout=PATIENCE)
        served = subprocess.Popen([SQUALL, "ui", runs], stdout=subprocess.PIPE, text=True)
        self.processes.append(served)
        seen = self.look("runs", served.stdout.readline().strip())
        rows = {row[0]: row for row in seen["rows"]}
        self.assertEqual(rows["a-shop"][1:3] + rows["a-shop"][7:8] + rows["a-shop"][9:], ["failed", "valid", "153/s", "2.40 ms", "93.8 ms", "252 ms"])
        self.assertEqual((rows["c-healthy"][4], rows["c-healthy"][1]), ("branch=main", "passed"))
        self.assertIn("None has that.", seen["none"])
        self.assertIn("Tick two or more", seen["before"])
        self.assertIn("1 run against a-shop", seen["ticked"])
        self.assertIn("b-shop against a-shop", seen["compared"])
        self.assertEqual(seen["trend"], 2, "the runs of one plan")
        self.assertIn("Over time", seen["report"])
        self.assertEqual((seen["origin"], seen["reached"]), ("null", False), "a report reaches nothing of the server")
        seen["said"] = [text for text in seen["said"] if "Content Security Policy" not in text]
        self.nothing_is_wrong(seen)


if __name__ == "__main__":
    unittest.main()
