#!/usr/bin/env python3
"""How long `squall check` takes, and how much memory, for plans that are larger than any: each in its own way, most of them past a
bound, which it has to name. Fails above 2 s or 512 MiB. Usage: check.py [RUNS]"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import Table, run, squall

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
MAX_S, MAX_MIB = 2.0, 512
GET = "    - get: /\n"


def plan(more="", steps=GET):
    return f"target: http://127.0.0.1:9\n{more}scenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n{steps}"


def many(count, line):
    return "".join(line(n) for n in range(count))


BIG = "vars: {big: \"" + "x" * 8_000_000 + "\"}\n"
LIST = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]"
NESTED = f"{LIST}.all(f, f > -1)"
for name in "edcba":
    NESTED = f"{LIST}.all({name}, {NESTED})"
NAMED = many(20_000, lambda n: f"    - {{get: /, name: n{n}}}\n")
LOAD = "load: {users: 1, iterations: 1}, steps: [{get: /}]"
CONSTANTS = "warning: the constants of the plan come to more than "

# What is in the plan, and what is said of it; none: the plan is good. With a warning it is good, too.
PLANS = {
    "100,000 steps": (plan(steps=many(100_000, lambda n: f"    - get: /{n}\n")), "more than 50000 steps"),
    "100,000 anchors": (plan("vars:\n" + many(100_000, lambda n: f"  a{n}: &a{n} [x, y]\n  b{n}: *a{n}\n")), "more than 400000 values"),
    "50,000 unknown keys": (plan(many(50_000, lambda n: f"key{n}: 1\n")), "100 errors or more"),
    "19,000 unknown variables": (plan(steps=many(19_000, lambda n: f'    - get: "/${{b{n}}}"\n')), "19000 errors"),
    "texts that double each other": (plan("vars:\n  a0: xxxxxxxx\n" + many(60, lambda n: f'  a{n + 1}: "${{a{n}}}${{a{n}}}"\n')),
                                     "come to more than 16 MiB"),
    "lists that double each other": (plan("vars:\n  a0: xxxxxxxx\n" + many(60, lambda n: f'  a{n + 1}: ["${{a{n}}}", "${{a{n}}}"]\n')),
                                     "come to more than 16 MiB"),
    "100,000 variables, 1,000 of them used": (plan("vars:\n" + many(100_000, lambda n: f"  v{n}: {n}\n"),
                                                   many(1_000, lambda n: f'    - get: "/${{v{n}}}"\n')), None),
    "400 bodies of 8 MB": (plan(BIG, many(400, lambda n: f'    - {{post: /, body: "a${{big}}{n}"}}\n')), CONSTANTS + "64 MiB"),
    "400 bodies of the same 8 MB": (plan(BIG, '    - {post: /, body: "${big}"}\n' * 400), None),
    "400 set texts of 8 MB": (plan(BIG, many(400, lambda n: f'    - set: {{v{n}: "a${{big}}{n}"}}\n')), CONSTANTS + "64 MiB"),
    "400 digests of 8 MB": (plan(BIG, many(400, lambda n: f'    - get: "/{n}?${{sha512(big)}}"\n')), CONSTANTS + "2,500,000 units"),
    "400 checks of digests of 8 MB": (plan(BIG, many(400, lambda n: f"    - {{get: /, check: 'md5(big + \"{n}\") != \"\"'}}\n")), CONSTANTS),
    "400 tags of 8 MB": (plan(BIG, many(400, lambda n: f'    - {{get: /, tags: {{t: "${{big}}{n}"}}}}\n')), "of all steps come to more than 64 MiB"),
    "20 variables of 64,000,000 elements": (plan("vars:\n" + many(20, lambda n: f'  v{n}: "${{{NESTED}}}"\n')),
                                            "come to more than 2,500,000 units of work"),
    "40,000 metrics": (plan(steps=many(40_000, lambda n: f"    - metric: {{name: m{n}, kind: counter}}\n")), None),
    "20,000 thresholds of 20,000 names": (plan(steps=NAMED) + "thresholds:\n" + many(20_000, lambda n: f"- p99(n{n}) < 5ms\n"), None),
    "20,000 thresholds of unknown names": (plan(steps=NAMED) + "thresholds:\n" + many(20_000, lambda n: f"- p99(m{n}) < 5ms\n"), "20000 errors"),
    "20,000 scenarios in turn": (f"target: http://127.0.0.1:9\nscenarios:\n  s0: {{{LOAD}}}\n"
                                 + many(19_999, lambda n: f"  s{n + 1}: {{after: s{n}, {LOAD}}}\n"), None),
    "50,000 default tags of 10,000 steps": (plan("defaults: {tags: {" + many(50_000, lambda n: f"t{n}: x,") + "}}\n", GET * 10_000),
                                            "of all steps come to more than 64 MiB"),
    "5,000 default headers of 40,000 steps": (plan("defaults: {headers: {" + many(5_000, lambda n: f"h{n}: x,") + "}}\n", GET * 40_000),
                                              "of all steps come to more than 64 MiB"),
    "60,000 allowed hosts, 40,000 of them loaded": (plan("allow_hosts: [" + many(60_000, lambda n: f'"*.h{n}.example",') + "]\n",
                                                         many(40_000, lambda n: f'    - {{get: "http://a.h{n}.example/", name: x}}\n')), None),
    "40,000 cookie jars": (plan(steps=many(40_000, lambda n: f"    - {{get: /, name: x, cookie_jar: j{n}}}\n")), None),
    "49,000 steps": (plan(steps=many(49_000, lambda n: f"    - get: /{n}\n")), None),
}


def main():
    table = Table("plan", "MiB of text", "seconds", "peak RSS MiB", "says", f"goal: {MAX_S:.0f} s, {MAX_MIB} MiB")
    with tempfile.TemporaryDirectory() as folder:
        for what, (text, words) in PLANS.items():
            path = Path(folder) / "plan.yaml"
            path.write_text(text)
            runs = [run([squall(), "check", str(path)]) for _ in range(RUNS)]
            said = subprocess.run([squall(), "check", str(path)], capture_output=True, text=True).stderr
            seconds, rss = statistics.median(own["wall"] for own in runs), max(own["rss"] for own in runs)
            right = all(own["code"] == (2 if words and not words.startswith("warning") else 0) for own in runs) and (words or "") in said
            table.row(what, f"{len(text) / 2**20:.1f}", f"{seconds:.2f}", f"{rss:.0f}", words or "plan OK",
                      table.goal(right and seconds <= MAX_S and rss <= MAX_MIB))
    table.end()


main()
