"""What squall does with its features, and says without them. Exports as others read them: Parquet by pyarrow has the rows of CSV, and both
add up to run.json. `SQUALL` is a build without features, target/debug/squall one with all, as `cargo test --workspace` makes it."""

import csv
import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import pyarrow.parquet

from peers import SQUALL

ROOT = Path(__file__).resolve().parent.parent
WITH_FEATURES = ROOT / "target/debug/squall"
PLAN = """
target: builtin
scenarios:
  buyer:
    load: {users: 5, ramp: 1s, for: 3s}
    steps: [{get: /, check: status == 200}, {metric: {name: size, kind: trend, value: 1.5}}, {think: 10ms}]
  guest: {load: {rate: 20/s, for: 3s}, steps: [{get: /delay/20}]}
"""


class Export(unittest.TestCase):
    def test_parquet_is_csv_with_types(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = Path(folder, "plan.yaml")
            plan.write_text(PLAN)
            subprocess.run([WITH_FEATURES, "run", plan, "--out", folder, "--quiet"], check=True, capture_output=True)
            [run] = [path.parent for path in Path(folder).glob("*/run.json")]
            for form in ("csv", "parquet"):
                export = [WITH_FEATURES, "export", run, "--format", form, "-o", Path(folder, f"run.{form}")]
                subprocess.run(export, check=True, capture_output=True)
            table = pyarrow.parquet.read_table(Path(folder, "run.parquet"))
            with open(Path(folder, "run.csv"), newline="") as file:
                lines = list(csv.DictReader(file))
            result = json.loads(Path(run, "run.json").read_text())
        self.assertEqual(table.column_names, list(lines[0]))
        rows = table.to_pylist()
        self.assertEqual(len(rows), len(lines))
        for row, line in zip(rows, lines):
            for name, cell in line.items():
                value = row[name]
                self.assertEqual(value in (None, ""), cell == "", (name, value, cell))
                if isinstance(value, (int, float)):
                    self.assertEqual(value, float(cell), name)
                elif value is not None:
                    self.assertEqual(value, cell, name)

        def total(kind, name):
            return sum(row[name] or 0 for row in rows if row["kind"] == kind)

        self.assertEqual(total("request", "count"), result["totals"]["count"])
        self.assertEqual(total("request", "bytes_in"), result["totals"]["bytes_in"])
        self.assertEqual(total("check", "passed"), result["counters"]["checks_passed"])
        self.assertEqual(total("scenario", "iterations_done"), result["counters"]["iterations_done"])
        self.assertAlmostEqual(total("scenario", "planned_arrivals"), 60)
        self.assertEqual(max(row["planned_users"] or 0 for row in rows), 5)


class Samples(unittest.TestCase):
    def test_parquet_has_the_rows_of_csv(self):
        counts = {}
        with tempfile.TemporaryDirectory() as folder:
            plan = Path(folder, "plan.yaml")
            plan.write_text(PLAN)
            for form in ("csv", "parquet"):
                command = [WITH_FEATURES, "run", plan, "--json", "--quiet", "--out", folder, "--out", f"samples={folder}/all.{form}"]
                result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                counts[form] = result["totals"]
            table = pyarrow.parquet.read_table(Path(folder, "all.parquet"))
            with open(Path(folder, "all.csv"), newline="") as file:
                lines = list(csv.DictReader(file))
        self.assertEqual(table.column_names, list(lines[0]))
        self.assertEqual(table.num_rows, counts["parquet"]["count"])
        self.assertEqual(len(lines), counts["csv"]["count"])
        self.assertEqual(sum(table["bytes_in"].to_pylist()), counts["parquet"]["bytes_in"])
        self.assertEqual({line["name"] for line in lines}, set(table["name"].to_pylist()))


class Without(unittest.TestCase):
    """A build without features says so before anything is sent or read, whichever way it is asked for them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def refused(self, *words):
        """What squall says where it ends with 2."""
        ran = subprocess.run([SQUALL, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 2, ran.stderr)
        return ran.stderr

    def test_parquet(self):
        (self.folder / "plan.yaml").write_text(
            "target: http://127.0.0.1:9\nsamples: [{file: all.parquet, form: parquet}]\n"
            "scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /}]}}\n")
        for words in (["run", "plan.yaml"], ["check", "plan.yaml"], ["run", "plan.yaml", "--out", "samples=all.parquet"],
                      ["export", "folder", "--format", "parquet"]):
            self.assertIn("writes no Parquet: write CSV, or build squall with", self.refused(*words))
        self.assertIn("plan.yaml:2:18: error: this build", self.refused("check", "plan.yaml"))

    def test_pkcs12(self):
        shutil.copy(ROOT / "crates/wire/src/tls/key_store/clients.p12", self.folder)
        (self.folder / "plan.yaml").write_text(
            "target: https://127.0.0.1:9\nconnections: {tls: {key_store: {file: clients.p12, password: secret-of-tests}}}\n"
            "scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /}]}}\n")
        for words in (["run", "plan.yaml"], ["check", "plan.yaml"]):
            text = self.refused(*words)
            self.assertIn("PKCS #12, which this build of squall does not read", text)
            self.assertIn("convert PKCS #12 with `openssl pkcs12 -in ", text)


if __name__ == "__main__":
    unittest.main()
