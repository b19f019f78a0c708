#!/usr/bin/env python3
"""Extractions a second and a core, with JMeter 5.6.3 (1 GB of heap) and squall, without any HTTP: a page of HTML of 10 KB in a
variable, which Dummy Samplers give as their response, and of which an extractor takes a value, or 50 take the same one (squall
then reads the page as HTML once), again and again. Both run the same file, by the same command line; they are warm when it is
measured, and samples are the rows of their files of samples. A controller that switches by the value shows that it was found
each time. `peers/install.sh FOLDER jmeter plugins` installs JMeter.
Usage: extractors.py [SECONDS of a run] [RUNS]"""

import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import GENERATOR_CPU, ROOT, Table, cpu_of, need, pinned, squall

sys.path.insert(0, str(ROOT / "interop/jmeter"))
from plans import by_boundaries, by_css, by_regex, by_xpath, element, flag, group, loop, plan, switch, text, variables

SECONDS, RUNS = [int(given) for given in sys.argv[1:]] + [10, 2][len(sys.argv) - 1:]
COPIES, GOAL = (50, 1), 5
TOKEN = "token-4711"
ROWS = "\n".join(f'<tr class="row"><td>{n}</td><td><a href="/item/{n}">An item, number {n}</a></td></tr>' for n in range(124))
PAGE = f"""<html><head><title>A shop</title><meta name="keywords" content="one, two" /></head><body>
<h1>Items</h1><table>
{ROWS}
</table><form action="/buy"><input type="hidden" name="csrf" value="{TOKEN}" /><input type="text" name="n" value="1" /></form>
<p>The end.</p></body></html>"""

#: The extractors of each kind, by the variable that they set.
KINDS = {
    "Boundary": lambda name: by_boundaries(name, 'name="csrf" value="', '"'),
    "Regular Expression": lambda name: by_regex(name, 'name="csrf" value="([^"]+)"'),
    "CSS Selector": lambda name: by_css(name, "input[name=csrf]", "value"),
    "XPath": lambda name: by_xpath(name, "//input[@name='csrf']/@value", match="1"),
    "XPath2": lambda name: by_xpath(name, "//input[@name='csrf']/@value", match="1", second=True),
}


def dummy(name, response="", below=""):
    tag = "kg.apc.jmeter.samplers.DummySampler"
    inner = flag("WAITING", False) + flag("SUCCESFULL", True) + text("RESPONSE_CODE", 200) + text("RESPONSE_MESSAGE", "OK")
    inner += text("REQUEST_DATA", "") + text("RESPONSE_DATA", response) + text("RESPONSE_TIME", 0) + text("LATENCY", 0)
    inner += text("CONNECT", 0) + text("URL", "") + text("RESULT_CLASS", "org.apache.jmeter.samplers.SampleResult")
    return element(tag, name, inner, below, f'guiclass="{tag}Gui"')


def plan_of(kind, copies):
    extractors = "".join(KINDS[kind](f"value{n}") for n in range(copies))
    samplers = dummy("page", "${page}", extractors)
    # One that shows the value for many of those that take it: it is no part of what is measured.
    steps = loop(50 // copies, samplers) + switch(f"${{value{copies - 1}}}", dummy(TOKEN))
    ends = flag("ThreadGroup.scheduler", True) + text("ThreadGroup.duration", "${__P(seconds)}")
    return plan(variables(page=PAGE), group(steps, loops=-1, more=ends))


def measure(program, folder, file, copies):
    """Extractions a second of CPU time, in the second half of a run."""
    samples = folder / "samples.jtl"
    command = [*program, "-n", "-t", str(file), "-l", str(samples), "-f", "-j", str(folder / "log"), f"-Jseconds={SECONDS}"]
    process = subprocess.Popen(pinned(GENERATOR_CPU, command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = []
    for wait in (SECONDS * 0.55, SECONDS * 0.4):
        time.sleep(wait)
        seen.append((time.time() * 1000, cpu_of(process.pid)))
    process.wait(timeout=120)
    (begin, cpu_before), (end, cpu_after) = seen
    with open(samples, newline="") as rows:
        labels = [row["label"] for row in csv.DictReader(rows) if begin <= int(row["timeStamp"]) < end]
    pages = 50 // copies
    if abs(labels.count("page") - pages * labels.count(TOKEN)) > pages:
        sys.exit(f"{program[0]}: {labels.count('page')} samples, and {labels.count(TOKEN)} times the value, once for {pages}")
    return labels.count("page") * copies / (cpu_after - cpu_before)


need("jmeter")
both = {"JMeter": ["jmeter"], "squall": [squall(), "jmeter"]}
with tempfile.TemporaryDirectory() as temporary:
    os.chdir(temporary)
    table = Table("extractor", "extractors of a sample", "JMeter, extractions a second and core", "squall", "of JMeter's", "goal, at least", "")
    for kind, copies in ((kind, copies) for kind in KINDS for copies in COPIES):
        file = Path(temporary) / "extractors.jmx"
        file.write_text(plan_of(kind, copies))
        found = {name: [] for name in both}
        for _ in range(RUNS):
            for name, program in both.items():
                found[name].append(measure(program, Path(temporary), file, copies))
        theirs, ours = (statistics.median(found[name]) for name in both)
        spread = {name: f"{statistics.median(own):,.0f} ({min(own):,.0f}..{max(own):,.0f})" for name, own in found.items()}
        table.row(kind, copies, spread["JMeter"], spread["squall"], f"{ours / theirs:.1f}x", f"{GOAL}x", table.goal(ours / theirs >= GOAL))
    print(f"\nThe page has {len(PAGE):,} bytes.")
table.end()
