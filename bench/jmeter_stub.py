#!/usr/bin/env python3
"""Starts many JMeter plans, from an archive, in a world in which all hosts that they name are one small server of this machine
(`anywhere.py`): whether those that are whole send requests and end in order; and, where JMeter is on the PATH and can load
them, whether one iteration of each group has the same samples, by label and success, as JMeter's.

    bench/jmeter_stub.py plans.tar.xz --results FILE [--most 20] [--only WORDS] [--again]

Copies are run, with a few threads for a few seconds; data files that are missing are made up. What came of each plan is a
line of JSON in FILE; those that have one are passed by, so that it can be done in parts. Prints what FILE has in the end."""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import anywhere
from lib import squall

SECONDS, LIMIT = 3, 25
#: What makes two runs of one iteration differ by themselves.
BY_CHANCE = ("RandomController", "RandomOrderController", "RunTime", "RandomVariableConfig")
#: Groups of plug-ins, for which an iteration is nothing that can be asked for.
SCHEDULED = ("UltimateThreadGroup", "SteppingThreadGroup", "ConcurrencyThreadGroup", "ArrivalsThreadGroup", "VariableThroughputTimer")
NUMBERED = r"(<(?:string|int|long)Prop name=\"{}\">)([^<]*)(</(?:string|int|long)Prop>)"


def change(text, name, to):
    """The values of a property, each changed."""
    return re.sub(NUMBERED.format(re.escape(name)), lambda found: found[1] + to(found[2]) + found[3], text)


def at_most(most, otherwise=None):
    """A number that is no larger, or negative; what is none stays, or becomes another."""
    def to(value):
        try:
            number = float(value)
        except ValueError:
            return value if otherwise is None else str(otherwise)
        return str(most) if number > most or number < 0 else value
    return to


def with_flag(text, name, value):
    return re.sub(rf'(<boolProp name="{re.escape(name)}">)[^<]*', rf"\g<1>{value}", text)


def in_main_loops(text, to):
    """The loops of thread groups."""
    whole = re.compile(r'<elementProp name="ThreadGroup\.main_controller".*?</elementProp>', re.DOTALL)
    return whole.sub(lambda found: to(found[0]), text)


def for_seconds(text):
    """A plan with a few threads that run for some seconds, or as long as they are told to if that is less."""
    text = change(text, "ThreadGroup.num_threads", at_most(3, 2))
    text = change(text, "ThreadGroup.ramp_time", at_most(1, 1))
    return change(change(text, "ThreadGroup.duration", at_most(SECONDS, SECONDS)), "ThreadGroup.delay", at_most(0, 0))


def for_one_iteration(text):
    """A plan whose groups do one iteration with one thread, without long waits and endless loops."""
    text = change(text, "ThreadGroup.num_threads", lambda _: "1")
    for name in ("ThreadGroup.ramp_time", "ThreadGroup.delay", "ThreadGroup.duration"):
        text = change(text, name, lambda _: "0")
    text = with_flag(text, "ThreadGroup.scheduler", "false")
    text = change(text, "LoopController.loops", at_most(2))
    text = in_main_loops(text, lambda own: with_flag(change(own, "LoopController.loops", lambda _: "1"),
                                                     "LoopController.continue_forever", "false"))
    for name in ("ConstantTimer.delay", "RandomTimer.range", "ActionProcessor.duration"):
        text = change(text, name, at_most(20, 20))
    return re.sub(r"(<name>throughput</name>\s*<value>)[^<]*", r"\g<1>60000.0", text)


def with_files(text, folder):
    """Data files and files that are sent, made up where they are missing."""
    def data(found):
        own = found[0]
        name = re.search(NUMBERED.format("filename"), own)
        if name is None or (folder / name[2]).is_file():
            return own
        columns = re.search(NUMBERED.format("variableNames"), own)
        columns = [column for column in re.split(r"[,;\t]", columns[2] if columns else "") if column] or ["a", "b", "c"]
        delimiter = re.search(NUMBERED.format("delimiter"), own)
        delimiter = {"\\t": "\t", "": ","}.get(delimiter[2] if delimiter else "", delimiter[2] if delimiter else ",")
        path = folder / f"made-up-{len(list(folder.iterdir()))}.csv"
        rows = [columns] + [[f"v{row}{place}" for place in range(len(columns))] for row in range(4)]
        path.write_text("".join(delimiter.join(row) + "\n" for row in rows))
        return change(own, "filename", lambda _: path.name)

    def sent(found):
        if not found[2] or (folder / found[2]).is_file():
            return found[0]
        (folder / "made-up.txt").write_text("made up\n")
        return found[1] + str(folder / "made-up.txt") + found[3]

    def listener(found):
        return change(found[0], "filename", lambda _: "")

    text = re.sub(r"<CSVDataSet .*?</CSVDataSet>", data, text, flags=re.DOTALL)
    # Both programs would make folders of the plans' authors.
    text = re.sub(r"<ResultCollector .*?</ResultCollector>", listener, text, flags=re.DOTALL)
    return re.sub(NUMBERED.format(r"File\.path"), sent, text)


def ports_of(text):
    """All that may be a port."""
    found = re.findall(r":(\d{2,5})\b", text) + re.findall(r">\s*(\d{2,5})\s*<", text)
    return [80, 443, 8080, 8443] + sorted({int(port) for port in found if 0 < int(port) < 65536})[:200]


def samples(path):
    """Samples by label, those that failed, and how many sent something."""
    if not path.exists():
        return collections.Counter(), collections.Counter(), 0
    with open(path, newline="", errors="replace") as file:
        rows = [row for row in csv.DictReader(file) if row.get("success") in ("true", "false")]
    bad = collections.Counter(row["label"] for row in rows if row["success"] == "false")
    return collections.Counter(row["label"] for row in rows), bad, sum(row["sentBytes"] not in ("", "0", None) for row in rows)


def run(program, plan, folder, patience):
    """Runs a plan; after its time it is asked to stop, and after as long again it is killed: exit code, samples, words."""
    name = program[0].rsplit("/", 1)[-1]
    jtl = folder / f"{name}.jtl"
    jtl.unlink(missing_ok=True)
    command = [*program, "-n", "-t", str(plan), "-l", str(jtl), "-j", str(folder / f"{name}.log")]
    quick = os.environ | {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"}
    with tempfile.TemporaryFile("w+") as words:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=words, stderr=words, env=quick)
        stopped, code = False, None
        for _ in range(2):
            try:
                code = process.wait(timeout=patience)
                break
            except subprocess.TimeoutExpired:
                stopped = True
                process.send_signal(signal.SIGINT)
        if code is None:
            process.kill()
            process.wait()
        words.seek(0)
        return {"code": code, "stopped": stopped, "samples": samples(jtl), "words": words.read()[-3000:]}


def started(plan, folder):
    """What came of some seconds."""
    began = time.monotonic()
    done = run([squall(), "jmeter"], plan, folder, SECONDS * 3)
    ended = {(0, False): "by itself", (130, True): "when it was stopped", (None, True): "**not**"}
    return {"sent": done["samples"][2], "samples": sum(done["samples"][0].values()),
            "ended": ended.get((done["code"], done["stopped"]), f"with code {done['code']}"),
            "panic": "panicked" in done["words"], "seconds": round(time.monotonic() - began, 1),
            "words": done["words"] if done["code"] not in (0, 130) or "panicked" in done["words"] else ""}


def compared(plan, folder):
    """One iteration beside JMeter's."""
    theirs = run(["jmeter"], plan, folder, LIMIT)
    if "CannotResolveClass" in theirs["words"] or "Error in NonGUIDriver" in theirs["words"]:
        return {"jmeter": "cannot load it"}
    if theirs["stopped"]:
        return {"jmeter": "does not end"}
    ours = run([squall(), "jmeter"], plan, folder, LIMIT)
    if ours["code"] != 0:
        return {"jmeter": "squall does not end in order", "words": ours["words"]}
    theirs, ours = theirs["samples"][:2], ours["samples"][:2]
    # A request that cannot be has no name in JMeter.
    if theirs[0][""] and theirs[0][""] == sum((ours[1] - theirs[1]).values()):
        return {"jmeter": "the same, but for the name of what cannot be sent"}
    if theirs == ours:
        return {"jmeter": "the same", "of": sum(theirs[0].values())}
    kind = "success differs" if theirs[0] == ours[0] else "samples differ"
    lists = [[dict(more - less) for more, less in ((one, other), (other, one))]
             for one, other in zip(theirs, ours)]
    return {"jmeter": kind, "all, theirs alone and ours alone": lists[0], "failed, theirs alone and ours alone": lists[1]}


def look(path, folder, server, beside):
    """All of one plan."""
    original = path.read_text(errors="replace")
    for other in path.parent.iterdir():
        if other.is_file() and other.suffix != ".jmx":
            shutil.copy(other, folder)
    text = with_files(original, folder)
    plan = folder / "plan.jmx"
    plan.write_text(for_seconds(text))
    check = subprocess.run([squall(), "check", "--allow-exec", plan], capture_output=True, text=True, cwd=folder)
    if check.returncode != 0:
        # Translated, and then refused as a plan of squall.
        is_whole = " error: " in check.stderr
        return {"check": check.returncode, "whole": is_whole, "words": check.stderr[-1500:] if is_whole else ""}
    server.listen(ports_of(original))
    found = {"check": 0, "whole": True} | started(plan, folder)
    if beside and any(f".{kind} " in text for kind in SCHEDULED):
        found["jmeter"] = "not compared: schedules of plug-ins"
    elif beside and "ThreadGroup.main_controller" in text:
        plan.write_text(for_one_iteration(text))
        found |= compared(plan, folder)
        if found["jmeter"] == "samples differ" and any(f"<{kind} " in text for kind in BY_CHANCE):
            found["jmeter"] = "samples differ, by chance or by time"
    return found


def show(file):
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    whole = [line for line in lines if line["whole"]]
    began = [line for line in whole if line["check"] == 0]
    print(f"{len(lines)} plans, {len(whole)} of them whole, {len(began)} started\n")
    for title, of in (("ended", lambda line: line["ended"]), ("one iteration, beside JMeter", lambda line: line.get("jmeter", "-"))):
        print(f"| {title} | plans |\n| --- | --- |")
        for what, count in collections.Counter(map(of, began)).most_common():
            print(f"| {what} | {count} |")
        print()
    silent = [line for line in began if not line["sent"]]
    print(f"{sum(line['panic'] for line in began)} panicked; {len(silent)} sent nothing")
    bad = [line for line in began if line["panic"] or line["ended"] not in ("by itself", "when it was stopped")]
    return 1 if bad else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("archive", type=Path)
    arguments.add_argument("--results", type=Path, required=True)
    arguments.add_argument("--most", type=int, default=10_000, help="how many are looked at now")
    arguments.add_argument("--only", default="", help="words in the name of a plan")
    arguments.add_argument("--at-once", type=int, default=2, help="how many plans at the same time")
    arguments.add_argument("--again", action="store_true", help="those that have a line, too")
    given = arguments.parse_args()
    squall()
    anywhere.enter()
    server, beside = anywhere.Everything(), shutil.which("jmeter") is not None
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(given.archive) as archive:
            archive.extractall(unpacked, filter="data")
        known = {}
        if given.results.exists():
            known = {json.loads(line)["plan"]: line for line in given.results.read_text().splitlines()}
        paths = [path for path in sorted(Path(unpacked).rglob("*.jmx")) if given.only in str(path)]
        names = {path: str(path.relative_to(unpacked)) for path in paths}

        def look_at(path):
            with tempfile.TemporaryDirectory() as folder:
                return {"plan": names[path]} | look(path, Path(folder), server, beside)

        todo = [path for path in paths if given.again or names[path] not in known][: given.most]
        with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
            for line in pool.map(look_at, todo):
                known[line["plan"]] = json.dumps(line)
                given.results.write_text("".join(f"{own}\n" for own in known.values()))
    return show(given.results)


if __name__ == "__main__":
    sys.exit(main())
