"""Transactions that are one sample with what is in them: JMeter's and squall's files of samples have the same rows for them."""

import csv
import os
import re
import subprocess
import tempfile
import unittest

from peers import SQUALL
from test_jmeter import JMETER, Server
from options import TRANSACTIONS

#: The one that is asked whether its code is 200: the code of its first sample that failed is 404, which squall does not tell twice.
OF_CODE = "code"
COLUMNS = ["label", "responseCode", "responseMessage", "success", "failureMessage"]


@unittest.skipUnless(JMETER, "there is no JMeter")
class Transactions(unittest.TestCase):
    maxDiff = None

    def test_assertions_look_at_the_parent_sample(self):
        seen, rows = [], []
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.jmx")
            with open(plan, "w") as file:
                file.write(TRANSACTIONS)
            for command in ([JMETER], [SQUALL, "jmeter"]):
                server = Server()
                samples = os.path.join(folder, f"{len(rows)}.jtl")
                line = [*command, "-n", "-t", plan, "-l", samples, "-j", os.path.join(folder, "log"), f"-Jport={server.server_address[1]}",
                        "-Jjmeter.save.saveservice.subresults=false"]
                subprocess.run(line, check=True, capture_output=True, timeout=120)
                with open(samples, newline="") as file:
                    rows.append([self.cells(row) for row in csv.DictReader(file)])
                seen.append([(method, path) for method, path, *_ in server.seen])
                server.shutdown()
                server.server_close()
        self.assertEqual(*seen)
        self.assertEqual(*rows)
        self.assertIn("false", [row[3] for row in rows[0]])
        self.assertIn("The operation lasted too long", " ".join(row[4] for row in rows[0]))

    def cells(self, row):
        """What is compared of a row: no time that it took."""
        if row["label"] == OF_CODE:
            row["failureMessage"] = ""
        return [re.sub("It took [0-9]+ ", "It took so many ", row[column]) for column in COLUMNS]


if __name__ == "__main__":
    unittest.main()
