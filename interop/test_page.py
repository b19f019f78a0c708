"""Pages in headless Chromium: the report of a healthy run, of one with errors and hostile names, of one with a stall, of one
whose generator was the limit, and of one with many requests and thresholds that fail, and a comparison; in light and dark, on a
phone, printed, by keyboard, without a script; by axe-core. The runs are in `runs/`, as squall recorded them once: what a page shows
does not depend on the machine that tests it."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import PATIENCE, SQUALL

HERE = Path(__file__).resolve().parent
RUNS = HERE / "runs"
NAMES = ("healthy", "errors", "stall", "limited", "shop")
# A made-up run of a fleet of four nodes (`cargo run -p squall-report --example fleet -- DIR 4 12`).
FLEET = "fleet"
# The versions that the page was looked at with.
MODULES = ("playwright-core@1.65.1", "axe-core@4.14.1")
HOSTILE = "</script><img src=x onerror=alert(1)>'\"`"


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
        cls.files, cls.results = {}, {}
        for name in (*NAMES, FLEET):
            page, result = folder / f"{name}.html", folder / f"{name}.json"
            command = [SQUALL, "report", RUNS / name, "--out", f"html={page}", "--out", f"json={result}"]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            assert ran.returncode in (0, 1), ran.stderr
            cls.files[name], cls.results[name] = str(page), json.loads(result.read_text())
        cls.pdfs = folder
        cls.seen = look(cls.files, os.environ.get("PAGE_SHOTS"), {"compared": cls.compared(folder)}, str(folder))
        cls.reports = {name: cls.seen[name] for name in NAMES}

    @staticmethod
    def compared(folder):
        """The page of a comparison: of a healthy run with one that is unlike it, and with itself."""
        page = folder / "compared.html"
        runs = [RUNS / name for name in ("healthy", "errors", "healthy")]
        subprocess.run([SQUALL, "compare", *runs, "--html", page], check=True, capture_output=True, timeout=PATIENCE)
        return str(page)

    def test_the_first_screen_has_what_a_tester_looks_for(self):
        """Of 1280 by 800 pixels: how it ended, each threshold with what was measured, the requests, the first errors, validity."""
        first = self.seen["shop"]["use"]["first"]
        self.assertEqual(first["beyond"], [], "below the first screen")
        self.assertEqual(first["thresholds"], [
            ["p95(list) < 300ms", "✘ failed", "386 ms", "29% over"], ["error_rate < 1%", "✘ failed", "17.5%", "17 times the limit"],
            ["p99 < 2s", "✔ passed", "276 ms", "14% of the limit"], ["rate > 10/s", "✔ passed", "153/s", "15 times the limit"]])
        self.assertEqual(first["columns"], ["name", "count", "rate", "errors", "mean", "p50", "p95", "p99", "max", "over time"])
        # The eight with most errors, then most requests; and all of them together.
        self.assertEqual(first["requests"], ["item", "unsent", "stock", "export", "home", "list", "search", "item reviews"])
        self.assertEqual(first["total"][0], "all requests")
        self.assertEqual(first["more"], "6 more")
        self.assertEqual(first["errors"][0][:4], ["extract", "288", "8.19%", "item (288)"])
        self.assertIn("nothing matched", first["errors"][0][4])

    def test_an_error_leads_to_its_request(self):
        for name in ("shop", "errors"):
            led = self.seen[name]["use"]["led"]
            self.assertEqual(led["open"], [led["asked"]], name)
            self.assertGreaterEqual(led["figures"], 1, name)

    def test_a_phone_has_the_latency_first(self):
        for name, seen in self.reports.items():
            self.assertEqual(seen["use"]["phone"][:3], ["name", "p95", "errors"], name)

    def test_axes_say_what_is_so(self):
        for name, seen in self.reports.items():
            with self.subTest(run=name):
                axes = seen["use"]["axes"]
                self.assertGreater(len(axes), 5)
                for ticks in axes:
                    self.assertEqual(len(ticks), len(set(ticks)), f"one is said twice: {ticks}")
                    shares = [float(tick[:-1]) for tick in ticks if tick.endswith("%")]
                    self.assertLessEqual(max(shares, default=0), 100)
                self.assertRegex(seen["use"]["clock"], r"^\d\d:\d\d:\d\d$")

    def test_thresholds_are_lines_in_the_charts(self):
        limits = self.seen["shop"]["use"]["limits"]
        for text in ("p99 < 2s", "rate > 10/s", "error_rate < 1%", "p95(list) < 300ms"):
            self.assertTrue(any(text in own for own in limits), text)

    def test_no_line_falls_in_a_last_part_of_a_second(self):
        """The load of the healthy run ended after 5 s, and the run a little later."""
        run = self.results["healthy"]
        self.assertGreater(run["elapsed_s"], 5)
        head, *rows = self.seen["healthy"]["use"]["users"]
        self.assertEqual(rows[-1][head.index("planned users")], "4")

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
                self.assertIn("p95", use["moment"])
                self.assertGreater(use["values"], 3, "all charts show the moment")
                for what in ("zoomed", "back", "dragged"):
                    self.assertTrue(use[what], what)

    def test_tables_are_sorted_and_filtered_and_their_rows_open(self):
        # Whether a table has several rows, and how many curves a row has of its own. Of one row there is nothing to leave out.
        # The first request of the run with errors had no response.
        tables = [(name, "rows", name in ("healthy", "errors", "shop"), 1 if name == "errors" else 2) for name in self.reports]
        tables += [("healthy", "checks", True, 1), ("errors", "checks", False, 1), ("healthy", "groups", True, 2)]
        for name, table, several, curves in tables:
            with self.subTest(run=name, table=table):
                seen = self.reports[name]["use"][table]
                self.assertTrue(seen["sorted"])
                self.assertTrue(seen["filtered"] or not several)
                self.assertGreaterEqual(seen["opened"], curves, "a row has curves of its own")
                self.assertGreater(seen["table"], 1, "and a table behind them")

    def test_a_bad_node_does_not_hide(self):
        """What is to be said of a node stands below its numbers, and its line has a mark."""
        shown = self.seen[FLEET]["use"]["shown"]
        for said in ("✘ lost at 9 s", "▲ p95 545 ms, the others 61.8 ms", "▲ us-3"):
            self.assertIn(said, shown)
        self.assertNotIn("▲ eu-0", shown)

    def test_on_paper(self):
        for name, seen in self.seen.items():
            with self.subTest(run=name):
                paper = seen["printed"]
                self.assertFalse(paper["wide"] or paper["wide_opened"], "it is as wide as the paper")
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
        run = self.results["stall"]
        series = {row["second"]: row["max_us"] / 1e3 for row in run["series"] if row["requests"] > row["errors"]}
        # A last second that was not whole is not drawn.
        drawn = {second: ms for second, ms in series.items() if second + 0.95 <= run["elapsed_s"]}
        self.assertEqual(set(drawn), {second for second, ms in largest.items() if ms})
        for second, ms in drawn.items():
            self.assertAlmostEqual(largest[second] / ms, 1, delta=0.01, msg=f"second {second}")
        [told] = [row["second"][0] for row in run["series_rows"] if row["name"] == "stall"]
        self.assertGreater(max(ms for second, ms in largest.items() if second >= told), 800)

    def test_names_are_shown_as_they_are(self):
        self.assertIn(HOSTILE, self.seen["errors"]["use"]["names"])
        self.assertIn(HOSTILE, self.seen["errors"]["use"]["shown"])

    def test_without_a_script_the_text_is_there(self):
        for name, seen in self.reports.items():
            self.assertRegex(seen["text"], r"(?i)passed|failed", name)


if __name__ == "__main__":
    unittest.main()
