#!/usr/bin/env python3
"""Extractions a second and a core, beside JMeter's: an HTML page of 10 KB is held in a variable, and a Boundary, a Regular
Expression, a CSS and an XPath Extractor (of HTML that need not be well-formed) take a token from its middle, without HTTP. Both
programs run the same files by the same command line. The CPU time of as many samples without an extractor is taken off, so that
neither JMeter's start nor what a sample costs counts; the quick kinds are 20 times below each sample, as it costs more than one
of them. That the token is found is checked first.
`peers/install.sh FOLDER jmeter` installs JMeter. Usage: extractors.py [SECONDS that JMeter takes for each, about] [RUNS]"""

import csv
import os
import statistics
import sys
import tempfile
from pathlib import Path

from lib import ROOT, Table, need, run, squall

sys.path.insert(0, str(ROOT / "interop/jmeter"))
from judged import of_variable
from plans import asserts, by_boundaries, by_css, by_regex, by_xpath, group, java, plan, variables

SECONDS, RUNS = [int(given) for given in sys.argv[1:]] + [8, 3][len(sys.argv) - 1:]
GOAL = 5
TOKEN = "8d2f61c07ab94e53"
# Extractions in a second of JMeter, about, which decides how many are taken; and how many are below each sample. A page that is
# read for one extractor need not be read for the next of the same sample: where reading is most of it, there is one.
KINDS = {
    "Boundary": (lambda variable: by_boundaries(variable, 'name="token" value="', '"'), 400_000, 20),
    "Regular Expression": (lambda variable: by_regex(variable, 'name="token" value="([^"]+)"'), 100_000, 20),
    "CSS Selector": (lambda variable: by_css(variable, "form#basket input[name=token]", "value"), 4_000, 1),
    "XPath": (lambda variable: by_xpath(variable, "//form[@id='basket']//input[@name='token']/@value"), 600, 1),
}


def page():
    """A page of 10 KB: a list of goods, with a form in its middle."""
    goods = [f'<li class="item"><a href="/goods/{n}">Article {n}</a> <span class="price">{n}.90</span></li>' for n in range(110)]
    form = f'<form id="basket" action="/basket"><input type="hidden" name="token" value="{TOKEN}"><input name="n" value="1"></form>'
    goods.insert(len(goods) // 2, form)
    return f"<html><head><title>Goods</title></head><body><h1>Goods</h1><ul>{''.join(goods)}</ul></body></html>"


def written(folder, name, extractors, loops, checked=False):
    """A plan of so many samples, each with the extractors below it."""
    below = "".join(of_variable("page", extractor) for extractor in extractors)
    below += of_variable("token", asserts("it is the token", 8, TOKEN)) if checked else ""
    sampler = java("sample", "JavaTest", Sleep_Time="0", Sleep_Mask="0", ResultData="nothing")
    sampler = sampler.removesuffix("<hashTree></hashTree>") + f"<hashTree>{below}</hashTree>"
    path = folder / f"{name}.jmx"
    path.write_text(plan(variables(page=page()), group(sampler, loops=loops)))
    return path


def cpu(program, path, folder):
    """The CPU seconds of a run."""
    done = run([*program, "-n", "-t", str(path), "-j", str(folder / "log")])
    if done["code"]:
        sys.exit(f"{program[0]} ended with {done['code']}: {done['text']}")
    return done["cpu"]


def finds(program, path, folder):
    """Whether the one sample of a plan that checks the token is good."""
    samples = folder / "samples.jtl"
    samples.unlink(missing_ok=True)
    run([*program, "-n", "-t", str(path), "-j", str(folder / "log"), "-l", str(samples)])
    rows = list(csv.DictReader(samples.open()))
    return [row["success"] for row in rows] == ["true"]


def main():
    need("jmeter")
    programs = {"JMeter": ["jmeter"], "squall": [squall(), "jmeter"]}
    with tempfile.TemporaryDirectory() as temporary:
        # JMeter keeps preferences, and squall what it found out, where they are started.
        os.chdir(temporary)
        folder = Path(temporary)
        table = Table("extractor", "extractions", "JMeter, a second and a core", "squall, a second and a core", "times", "goal", "")
        for kind, (extractor, speed, each) in KINDS.items():
            loops = SECONDS * speed // each
            several = [extractor(f"token{number}") for number in range(each)]
            checked, plain, full = (written(folder, name, own, count, name == "checked") for name, own, count in
                                    [("checked", [extractor("token")], 1), ("plain", [], loops), ("full", several, loops)])
            found = {}
            for name, program in programs.items():
                if not finds(program, checked, folder):
                    sys.exit(f"{name} does not find the token by {kind}")
                taken = [cpu(program, full, folder) - cpu(program, plain, folder) for _ in range(RUNS)]
                found[name] = loops * each / max(statistics.median(taken), 0.01)
            times = found["squall"] / found["JMeter"]
            table.row(kind, f"{loops * each:,}", f"{found['JMeter']:,.0f}", f"{found['squall']:,.0f}", f"{times:.1f}x", f"{GOAL}x",
                      table.goal(times >= GOAL))
        print(f"\nThe page has {len(page()) / 1024:.1f} KiB.")
    table.end()


if __name__ == "__main__":
    main()
