"""Exports as others read them: Parquet by pyarrow has the rows of CSV, and both add up to run.json."""

import csv
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import pyarrow.parquet

from peers import SQUALL

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
            subprocess.run([SQUALL, "run", plan, "--out", folder, "--quiet"], check=True, capture_output=True)
            [run] = [path.parent for path in Path(folder).glob("*/run.json")]
            for form in ("csv", "parquet"):
                export = [SQUALL, "export", run, "--format", form, "-o", Path(folder, f"run.{form}")]
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
                command = [SQUALL, "run", plan, "--json", "--quiet", "--out", folder, "--out", f"samples={folder}/all.{form}"]
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


if __name__ == "__main__":
    unittest.main()
