"""Pages in headless Chromium: the report of a healthy run, of one with errors and hostile names, of one with a stall, and of
one whose generator was the limit, and a comparison; in light and dark, on a phone, printed, by keyboard, without a script; by
axe-core."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import PATIENCE, SQUALL

HERE = Path(__file__).resolve().parent
# The versions that the page was looked at with.
MODULES = ("playwright-core@1.65.1", "axe-core@4.14.1")
HOSTILE = "</script><img src=x onerror=alert(1)>'\"`"
SECRET = "hunter2-of-the-page"

HEALTHY = """
target: builtin
scenarios:
  visitor:
    load: {stages: [{users: 4, over: 2s}, {users: 4, over: 3s}]}
    steps:
      - {get: /, check: [status == 200, status < 300]}
      - {group: checkout, steps: [{get: /delay/12?dist=exponential, name: pay}]}
  api: {load: {rate: 40/s, for: 5s}, steps: [{get: /api/items/1, name: api item}]}
thresholds: ["error_rate < 1%"]
"""
ERRORS = """
target: builtin
vars: {password: {value: %s, secret: true}}
scenarios:
  buyer:
    load: {users: 4, for: 5s}
    steps:
      - {get: "/echo/${password}?a=${password}", name: secretive, check: [{expr: status == 404, name: %s}]}
      - {get: /hostile/reset-before, name: %s}
      - {get: /status/503, name: broken}
      - think: 20ms
  guest: {load: {rate: 20/s, for: 5s, max_users: 30}, steps: [{get: /hostile/never-answers, timeout: 300ms}]}
  stranger:
    load: {users: 1, for: 5s}
    steps:
      - {get: /hostile/close-in-body, name: cut}
      - {get: /hostile/bad-status-line, name: nonsense}
      - {get: /hostile/redirect-away, name: away, redirects: 5}
      - {get: /hostile/redirect-loop, name: around, redirects: 5}
      - think: 100ms
""" % (SECRET, json.dumps(HOSTILE), json.dumps(HOSTILE))
STALL = """
target: builtin
scenarios:
  user: {load: {rate: 100/s, for: 6s, max_users: 300}, steps: [{get: /delay/5, name: page}]}
  trouble: {load: {users: 1, iterations: 1, for: 6s}, steps: [{think: 2s}, {post: "/control/stall?ms=1000", name: stall}]}
"""
LIMITED = """
target: builtin
scenarios: {user: {load: {rate: 400000/s, for: 4s, max_users: 100}, steps: [{get: /, name: home}]}}
"""
PLANS = {"healthy": HEALTHY, "errors": ERRORS, "stall": STALL, "limited": LIMITED}


def modules():
    """The folder with what drives and judges the browser, installed once."""
    folder = Path(os.environ.get("PAGE_MODULES", Path(tempfile.gettempdir()) / "squall-page-modules"))
    if not (folder / "node_modules/axe-core").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", *MODULES], cwd=folder, check=True)
    return folder


def look(files, shots=None, still=None, pdfs=None):
    """What the browser saw of pages by name; those that are `still` have no script. What they are on paper goes to `pdfs`."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    asked = {"files": files, "still": still or {}, "shots": shots, "pdfs": pdfs, "browser": browser}
    ran = subprocess.run(["node", HERE / "page.mjs"], input=json.dumps(asked), capture_output=True, text=True,
                         env={**os.environ, "PAGE_MODULES": str(modules())}, timeout=10 * PATIENCE)
    if ran.returncode != 0:
        raise AssertionError(ran.stderr[-3000:])
    return json.loads(ran.stdout)


def milliseconds(text):
    """A time as the page writes it; 0: there was none."""
    number, _, unit = text.partition(" ")
    return float(number) * {"µs": 1e-3, "ms": 1, "s": 1e3}[unit] if unit else 0


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="squall-interop-"))
        cls.files = {}
        for name, text in PLANS.items():
            plan, out = folder / f"{name}.yaml", folder / name
            plan.write_text(f"name: {name}\n{text}")
            ran = subprocess.run([SQUALL, "run", plan, "--quiet", "--out", out], capture_output=True, text=True, timeout=PATIENCE)
            assert ran.returncode in (0, 1), ran.stderr
            cls.files[name] = str(next(out.iterdir()) / "report.html")
        cls.pdfs = folder
        cls.seen = look(cls.files, os.environ.get("PAGE_SHOTS"), {"compared": cls.compared(folder)}, str(folder))
        cls.reports = {name: cls.seen[name] for name in PLANS}

    @classmethod
    def compared(cls, folder):
        """The page of a comparison: of a healthy run with one that is unlike it, and with itself."""
        page = folder / "compared.html"
        runs = [Path(cls.files[name]).parent for name in ("healthy", "errors", "healthy")]
        subprocess.run([SQUALL, "compare", *runs, "--html", page], check=True, capture_output=True, timeout=PATIENCE)
        return str(page)

    def test_nothing_is_wrong_in_any_form(self):
        for name, seen in self.seen.items():
            for form in seen["forms"]:
                with self.subTest(run=name, form=form["form"]):
                    self.assertEqual(form["violations"], [])
                    self.assertEqual(form["said"], [], "no error, and nothing that a name made it run")
                    self.assertEqual(form["asked"], [], "no network")
                    self.assertFalse(form["wide"], "no scrolling sideways")

    def test_keys_and_pointer(self):
        for name, seen in self.reports.items():
            with self.subTest(run=name):
                use = seen["use"]
                self.assertIn("actual", use["moment"])
                self.assertGreater(use["values"], 3, "all charts show the moment")
                for what in ("zoomed", "back", "dragged"):
                    self.assertTrue(use[what], what)

    def test_tables_are_sorted_and_filtered_and_their_rows_open(self):
        # Whether a table has several rows, and how many curves a row has of its own. Of one row there is nothing to leave out.
        tables = [(name, "rows", name in ("healthy", "errors"), 2) for name in self.reports]
        tables += [("healthy", "checks", True, 1), ("errors", "checks", False, 1)]
        for name, table, several, curves in tables:
            with self.subTest(run=name, table=table):
                seen = self.reports[name]["use"][table]
                self.assertTrue(seen["sorted"])
                self.assertTrue(seen["filtered"] or not several)
                self.assertGreaterEqual(seen["opened"], curves, "a row has curves of its own")
                self.assertGreater(seen["table"], 1, "and a table behind them")

    def test_on_paper(self):
        for name, seen in self.seen.items():
            with self.subTest(run=name):
                paper = seen["printed"]
                self.assertFalse(paper["wide"], "it is as wide as the paper")
                for wrong in ("controls", "cut", "beyond", "light"):
                    self.assertEqual(paper[wrong], [], wrong)
                self.assertEqual((paper["scheme"], paper["back"]), ("light", 255), "dark on white, whatever the screen is")
                self.assertGreater(paper["bytes"], 20_000)

    def test_no_page_ends_with_what_leads_to_the_next(self):
        for name, seen in self.seen.items():
            paper = seen["printed"]
            told = subprocess.run(["pdftotext", "-layout", self.pdfs / f"{name}.pdf", "-"], capture_output=True, text=True, check=True)
            pages = [page.split("\n") for page in told.stdout.split("\f") if page.strip()]
            self.assertGreaterEqual(len(pages), 2, name)
            last = [next(line.strip() for line in reversed(page) if line.strip()) for page in pages[:-1]]
            self.assertEqual([line for line in last if any(lead.endswith(line) for lead in paper["leads"])], [], name)
            if paper["precise"]:
                self.assertIn("95% confidence", told.stdout, f"{name}: what belongs on paper is open there")

    def test_what_a_page_says(self):
        said = {name: seen["use"]["shown"] for name, seen in self.reports.items()}
        self.assertIn("passed", said["healthy"])
        self.assertIn("checkout", said["healthy"])
        self.assertIn("timeout first byte", said["errors"])
        self.assertIn("status 503", said["errors"])
        self.assertRegex(said["errors"], r"other \(\d kinds?\)", "there are more kinds of errors than colours")
        self.assertRegex(said["limited"], "questionable|invalid")

    def test_a_stall_is_seen_when_it_was(self):
        """The target stands still for a second once it is told to: the curve of the largest latencies says so, and what it says is
        what run.json says."""
        head, *rows = self.reports["stall"]["use"]["latency"]
        largest = {float(row[0].removesuffix(" s")): milliseconds(row[head.index("max")]) for row in rows}
        run = json.loads(Path(self.files["stall"]).with_name("run.json").read_text())
        series = {row["second"]: row["max_us"] / 1e3 for row in run["series"] if row["requests"] > row["errors"]}
        self.assertEqual(set(series), {second for second, ms in largest.items() if ms})
        for second, ms in series.items():
            self.assertAlmostEqual(largest[second] / ms, 1, delta=0.01, msg=f"second {second}")
        [told] = [row["second"][0] for row in run["series_rows"] if row["name"] == "stall"]
        self.assertGreater(max(ms for second, ms in largest.items() if second >= told), 800)

    def test_names_are_shown_as_they_are_and_secrets_are_not(self):
        self.assertIn(HOSTILE, self.seen["errors"]["use"]["names"])
        self.assertIn(HOSTILE, self.seen["errors"]["use"]["shown"])
        self.assertNotIn(SECRET, Path(self.files["errors"]).read_text())

    def test_without_a_script_the_text_is_there(self):
        for name, seen in self.reports.items():
            self.assertRegex(seen["text"], r"run +(passed|FAILED)", name)


if __name__ == "__main__":
    unittest.main()
