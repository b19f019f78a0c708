#!/usr/bin/env python3
"""How many faults JTidy, which JMeter's HTML Assertion asks, and squall count in the same pages: small ones that are right, those with a
few faults made by hand, those that are mutated, random ones, and those with frames.

    interop/jmeter_faults.py JTIDY.jar [--pages 1000] [--seed 1] [--show 5]

Needs Java and cargo. Prints for each kind and format of how many pages the errors are the same, the warnings, and both, and the
smallest pages of which they are not. Ends with 1 if there are any."""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FORMATS = ("HTML", "XHTML", "XML")
KINDS = ("right", "faulty", "mutated", "random", "frames")

BLOCKS = ("p div h1 h2 ul ol dl pre form table blockquote center fieldset address hr dir noscript menu").split()
INLINE = ("b i a span em strong font code br img input label select textarea button q object sub script small big iframe map ins tt").split()
PARTS = ("li dt dd tr td th tbody thead tfoot caption col colgroup option optgroup param area legend frame frameset noframes link meta "
         "title base style").split()
ODD = "nav section foo svg blink nobr layer embed video wbr marquee".split()
EMPTY = "br img input hr col param area frame link meta base embed wbr".split()
ATTRIBUTES = ['id="a"', "id=a1", "class=x", 'name="n"', 'href="x.html"', 'href="a b"', "href=/x/y", "width=10", 'width="5x"', "align=left",
              'align="bad"', 'alt=""', "src=x.gif", 'style="a:b"', "data-x=1", 'onclick="f()"', "bgcolor=#fff", 'bgcolor="#ffffff"',
              "color=red", 'title="t"', "disabled", 'checked=""', 'type="text"', "type=submit", 'action=""', "method=GET", "border=0",
              "lang=en", "target=_new", 'target="_blank"', 'href="x?a=1&b=2"', 'href="x?a=1&copy=2"', 'id="a&b"', '"', "=", "/", 'x="a>b"',
              "value='it'", "onerror=x", 'xml:lang="en"', "nowrap", "valign=top", "size=3", 'size="+1"', "rel=stylesheet", "role=main",
              "content=x", "selected", "colspan=2", "height=5", "compact", 'xmlns="http://www.w3.org/1999/xhtml"', "clear=all",
              "shape=rect", 'usemap="#m"', "ismap", "name=a", "id=A"]
TEXTS = ["text", "  ", " x ", "&amp;", "&", "& ", "&nbsp;", "&foo;", "&lt", "&#65;", "&#x41", "&apos;", "a<b", "< ", "<!-- c -->",
         "<!-- a -- b -->", "<![CDATA[x]]>", "<?php x ?>", "<% y %>", "é", "\n", "x\ny", "<!x>", "&copy 1", "\U0001F600", "<!-->",
         "<!DOCTYPE html>", "</>", "<>"]
SCRIPTS = ["", "var x=1;", 'document.write("<b>x</b>")', "a<b", 'document.write("<\\/b>")', " "]
TYPES = ["", "<!DOCTYPE html>", '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">',
         '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">', '<!doctype html public "-//w3c//dtd html 4.0 transitional//en">',
         '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n',
         '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>', '<!DOCTYPE html SYSTEM "about:legacy-compat">',
         '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">']
ROOTS = ["<html>", '<html lang="en">', '<html xmlns="http://www.w3.org/1999/xhtml">', '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en">']
HEADS = ["", '<meta charset="utf-8">', '<meta http-equiv="Content-Type" content="text/html">', '<link rel="stylesheet" href="a.css">',
         '<script src="x.js"></script>', '<script type="text/javascript">x</script>', "<style>a{}</style>"]
TITLES = ["<title>T</title>", "<title>T</title>", "<title>T &amp; U</title>", ""]


def wild(chance, depth, most):
    """An element with anything in it, at any place."""
    name = chance.choices([chance.choice(names) for names in (BLOCKS, INLINE, PARTS, ODD)], (40, 35, 20, 5))[0]
    attributes = "".join(" " + chance.choice(ATTRIBUTES) for _ in range(chance.choice([0, 0, 0, 1, 1, 2, 3])))
    written = name.upper() if chance.random() < 0.05 else name
    if name in EMPTY and chance.random() < 0.9:
        return f"<{written}{attributes}{chance.choice(['', '', '/', ' /'])}>"
    start = f"<{written}{attributes}>"
    if name == "script":
        return start + chance.choice(SCRIPTS) + chance.choice(["</script>", "</script>", "</script>", "</b></script>", ""])
    inner = anything(chance, depth + 1, most, chance.randint(0, 3)) if depth < most else ""
    return start + inner + (f"</{name}>" if chance.random() < 0.85 else "")


def anything(chance, depth, most, count):
    return "".join(wild(chance, depth, most) if chance.random() < 0.67 else chance.choice(TEXTS) for _ in range(count))


def right(chance, depth=0):
    """An element as HTML 4 has it."""
    name = chance.choice("p div ul table form span b a h1 select dl text text img br".split())
    if name == "text" or depth > 4:
        return chance.choice(["word ", "a b", " x ", "&amp;"])
    known = {"img": '<img src="a.gif" alt="x">', "br": "<br>", "a": '<a href="x">t</a>',
             "select": "<select><option>x<option selected>y</option></select>"}
    if name in known:
        return known[name]

    def one():
        return right(chance, depth + 1)

    if name == "table":
        return f"<table><tr><td>{one()}</td><td>{one()}</td></tr></table>"
    if name == "ul":
        return "<ul>" + "".join(f"<li>{one()}{chance.choice(['', '</li>'])}" for _ in range(2)) + "</ul>"
    if name == "dl":
        return f"<dl><dt>t<dd>{one()}</dl>"
    inner = "".join(one() for _ in range(chance.randint(1, 3)))
    return f'<form action="x">{inner}</form>' if name == "form" else f"<{name}>{inner}</{name}>"


def several(chance, least, most):
    return "".join(right(chance) for _ in range(chance.randint(least, most)))


def mutated(chance, page):
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(page) + 1)
        end = min(len(page), at + chance.randint(1, 4))
        how = chance.random()
        if how < 0.5:
            page = page[:at] + page[end:]
        elif how < 0.8:
            page = page[:at] + chance.choice("<>/=\"'& a\n-!?%#[]") + page[at:]
        else:
            page = page[:end] + page[at:]
    return page


def page(chance, kind):
    if kind == "frames":
        inner = [anything(chance, 1, 2, count) for count in (1, chance.randint(0, 2), chance.randint(0, 2))]
        text = (chance.choice(TYPES) + f'<html><head><title>T</title></head><frameset cols="1,2"><frame src="a">{inner[0]}<frame src="b">'
                f"<noframes>{inner[1]}</noframes></frameset>{inner[2]}</html>")
        return mutated(chance, text) if chance.random() < 0.3 else text
    body = {"right": lambda: several(chance, 1, 6), "random": lambda: anything(chance, 0, 4, chance.randint(1, 6)),
            "mutated": lambda: mutated(chance, several(chance, 1, 6)),
            "faulty": lambda: several(chance, 1, 4) + anything(chance, 1, 2, 1) + several(chance, 1, 3)}[kind]()

    def mostly(text, share=0.95):
        return text if chance.random() < share else ""

    head = mostly("<head>" + chance.choice(HEADS) + chance.choice(TITLES) + "</head>", 0.9)
    return (chance.choice(TYPES) + mostly(chance.choice(ROOTS)) + head + mostly("<body>") + body + mostly("</body>") + mostly("</html>"))


def counts(command, files):
    """What a program counts in files: their errors and warnings, by format and file."""
    done = subprocess.run(command, input="".join(f"{file}\n" for file in files), text=True, stdout=subprocess.PIPE, check=True)
    lines = (line.split(" ") for line in done.stdout.splitlines())
    return {(int(line[0]), line[-1]): tuple(line[1:-1]) for line in lines}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("jar")
    arguments.add_argument("--pages", type=int, default=1000, help="how many of each kind")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--show", type=int, default=5)
    given = arguments.parse_args()
    ours = ["cargo", "run", "--quiet", "-p", "squall-extract", "--example", "faults"]
    theirs = ["java", "-cp", given.jar, str(HERE / "jmeter/Faults.java")]
    differing = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            chance = random.Random(f"{given.seed} {kind}")
            files = [Path(folder, f"{kind}-{number}.html") for number in range(given.pages)]
            for file in files:
                file.write_text(page(chance, kind))
            of_squall, of_jtidy = counts(ours, files), counts(theirs, files)
            for format, name in enumerate(FORMATS):
                pairs = [(of_jtidy[format, str(file)], of_squall[format, str(file)], file) for file in files]
                known = [pair for pair in pairs if pair[0][0] != "threw"]
                same = [sum(pair[0][at] == pair[1][at] for pair in known) for at in (0, 1)]
                unlike = [pair for pair in known if pair[0] != pair[1]]
                print(f"{kind:8} {name:5} {len(known)} pages: the same errors {same[0]}, warnings {same[1]}, both {len(known) - len(unlike)}")
                differing += [(len(file.read_text()), kind, name, jtidy, squall, file.read_text()) for jtidy, squall, file in unlike]
    for _, kind, name, jtidy, squall, text in sorted(differing)[:given.show]:
        print(f"{kind}, {name}: JTidy {' '.join(jtidy)}, squall {' '.join(squall)}: {text!r}")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
