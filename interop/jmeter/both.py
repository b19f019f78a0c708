"""Runs a plan with JMeter and with squall, and reads the samples that both write."""

import collections
import csv
import os
import re
import shutil
import subprocess
import threading
import xml.etree.ElementTree as ElementTree

from peers import SQUALL

JMETER = os.environ.get("JMETER") or shutil.which("jmeter")
BATCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Batch.java")
#: JMeter's end of a run.
END = "... end of run"
#: The longest that a plan may take, in seconds.
PATIENCE = 120
#: The columns that are compared.
COLUMNS = ("label", "responseCode", "responseMessage", "success", "failureMessage", "bytes", "sentBytes", "URL")
#: What they are called in XML.
ATTRIBUTES = {"lb": "label", "rc": "responseCode", "rm": "responseMessage", "s": "success", "by": "bytes", "sby": "sentBytes"}
#: Functions that keep what they have read for as long as Java runs.
KEEPING = ("__CSVRead", "__XPath(")


def jar():
    """JMeter's own program, which is beside its launcher, or beside the folder of that."""
    folder = os.path.dirname(os.path.realpath(JMETER))
    for place in (folder, os.path.join(folder, "../jmeter/bin")):
        if os.path.exists(path := os.path.join(place, "ApacheJMeter.jar")):
            return os.path.realpath(path)
    raise FileNotFoundError(f"there is no ApacheJMeter.jar beside {JMETER}")


class Jmeter:
    """JMeter, which runs one plan after the other in one Java."""

    def __init__(self):
        self.process = None

    def start(self):
        java = ["java", "-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true",
                "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/java.util=ALL-UNNAMED", "-cp", jar(), BATCH]
        self.process = subprocess.Popen(java, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, plan, samples, *more):
        """Runs a plan, which leaves its samples in a file."""
        with open(plan, errors="replace") as file:
            is_fresh = any(function in file.read() for function in KEEPING)
        if is_fresh:
            self.stop()
        if self.process is None:
            self.start()
        log = os.path.join(os.path.dirname(samples), "jmeter.log")
        line = ["-n", "-t", plan, "-l", samples, "-j", log, "-Jjmeterengine.nongui.port=0", *more]
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write("\t".join(line) + "\n")
            self.process.stdin.flush()
            words = self.words()
        finally:
            timer.cancel()
        if END not in words[-1]:
            # Where threads do not stop that are told to, JMeter ends, and what is there is all.
            self.stop()
            if not any("could not stop test" in line for line in words):
                raise AssertionError(f"JMeter does not end in order: {''.join(words)}")
        if is_fresh:
            self.stop()

    def words(self):
        """What it says up to the end of a run, or to its own."""
        words = [""]
        for line in self.process.stdout:
            words.append(line)
            if END in line:
                break
        return words

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(PATIENCE)
            self.process.stdout.close()
            self.process = None


def squall(plan, samples, *more):
    """The same with squall, by JMeter's command line, on one processor, and so by one worker: several deal out shared numbers and rows
    beforehand, and not in one order."""
    processor = str(min(os.sched_getaffinity(0)))
    command = ["taskset", "-c", processor, SQUALL, "jmeter", "-n", "-t", plan, "-l", samples, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(f"squall ends with {done.returncode}: {done.stderr}")


def cell(row, column):
    """What a column of a row says, without what may differ: ports. Of what is lost JMeter counts the stack of a Java exception as bytes
    of the response, and nothing as sent."""
    text = row.get(column) or ""
    if column in ("bytes", "sentBytes") and row["responseCode"].startswith("Non HTTP"):
        return ""
    # A sample is one line of ours.
    return re.sub(r"\b(127\.0\.0\.1|localhost|[a-z]+\.(?:test|invalid)):\d+", r"\1:PORT", text).replace("\n", "\\n").replace("\t", "\\t")


def of_csv(path):
    """The rows of a file by thread, each as it follows in that."""
    threads = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            threads[row["threadName"]].append({column: cell(row, column) for column in COLUMNS})
    return dict(threads)


def of_xml(path):
    """The samples of a file in XML by thread, each followed by what is in it."""
    threads = collections.defaultdict(list)
    for sample in ElementTree.parse(path).getroot():
        threads[sample.get("tn")] += elements(sample, 0)
    return dict(threads)


def elements(sample, depth):
    """A sample in XML as rows: what is in it is one deeper."""
    row = {column: sample.get(name) for name, column in ATTRIBUTES.items()} | {"URL": sample.findtext("java.net.URL")}
    results = [{part.tag: part.text for part in result} for result in sample.findall("assertionResult")]
    failures = [result for result in results if "true" in (result["failure"], result["error"])]
    own = {column: cell(row, column) for column in row}
    own |= {"failureMessage": "; ".join(each.get("failureMessage") or "" for each in failures), "tag": sample.tag, "depth": depth}
    return [own] + [row for part in sample if part.tag in ("sample", "httpSample") for row in elements(part, depth + 1)]


def without(threads, but):
    """Rows without some columns of all or of one label (`bytes`, `bytes of page`), without those of parts, or without what thread
    has them."""
    if "threads" in but:
        threads = {"all": sorted((row for rows in threads.values() for row in rows), key=str)}
    if "parts" in but:
        labels = {row["label"] for rows in threads.values() for row in rows}
        threads = {name: [row for row in rows if row["label"].rpartition("-")[0] not in labels] for name, rows in threads.items()}
    def kept(row):
        return {column: row[column] for column in row if column not in but and f"{column} of {row['label']}" not in but}

    return {name: [kept(row) for row in rows] for name, rows in threads.items()}


def told(one, other):
    """What is not the same of two things: of rows their columns."""
    if isinstance(one, dict) and isinstance(other, dict):
        columns = [f"{column} is {one[column]!r}, and here {other[column]!r}" for column in one if one[column] != other[column]]
        return f"`{one['label']}`: {'; '.join(columns)}"
    return f"{one!r}, and here {other!r}"


def differences(theirs, ours):
    """What is not the same of two lists, or of dictionaries of such."""
    if isinstance(theirs, dict):
        names = sorted(set(theirs) | set(ours))
        return [f"{name}: {what}" for name in names for what in differences(theirs.get(name, []), ours.get(name, []))]
    found = [told(*pair) for pair in zip(theirs, ours) if pair[0] != pair[1]]
    if len(theirs) != len(ours):
        found.append(f"{len(theirs)} in JMeter, and here {len(ours)}")
    return found
