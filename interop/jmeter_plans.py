#!/usr/bin/env python3
"""Real plans with JMeter and with squall: one iteration of each group, in a network of their own in which one small server answers for
all hosts (`bench/anywhere.py`). What that was sent, and the samples of each thread, row by row, are compared; the table of
docs/jmeter.md is made with `--page`.

    interop/jmeter_plans.py FOLDER [--page]

`JMETER` is JMeter's launcher. An Ultimate Thread Group has one thread for two seconds, and of those the rows and requests that both have
come to are compared. Where a plan draws values at random, numbers in URLs and bodies are left out, and how many bytes they take."""

import argparse
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Some modules of bench have the names of modules here.
sys.path[:0] = [str(HERE), str(HERE / "jmeter")]
sys.path.append(str(HERE.parent / "bench"))

import anywhere
from both import Jmeter, differences, of_csv, squall
from jmeter_stub import change, for_one_iteration, in_main_loops, ports_of, with_files
from stub import seen

PAGE = HERE.parent / "docs/jmeter.md"
DRAWING = re.compile(r"RandomVariableConfig|__Random|__UUID")
DRAWN = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+|[^\x00-\x7f]+")
ROWS_OF_SCHEDULE = re.compile(r'(<collectionProp name="ultimatethreadgroupdata">).*?(</collectionProp>\s*</collectionProp>)', re.DOTALL)
#: The most characters of a difference that the table has.
MOST_SHOWN = 400
#: Who sends what a Backend Listener has to say.
FEED = "ApacheJMeter5.6.3"
#: Threads, delay, the time to start them, how long they run, the time to end them, in seconds.
ONE_THREAD = (1, 0, 0, 2, 0)


def without_chance(text):
    """A plan whose random variables have one value: loops and conditions follow from them."""
    def pinned(found):
        least = re.search(r'"minimumValue">([^<]*)<', found[0])
        return change(found[0], "maximumValue", lambda most: least[1] if least else most)

    return re.sub(r"<RandomVariableConfig .*?</RandomVariableConfig>", pinned, text, flags=re.DOTALL)


def for_one_thread(text):
    """A plan whose Ultimate Thread Groups have one thread, which goes on until its time is over."""
    if "ultimatethreadgroupdata" not in text:
        return text
    text = in_main_loops(text, lambda own: change(own, "LoopController.loops", lambda _: "-1"))
    row = "".join(f'<stringProp name="{number}">{value}</stringProp>' for number, value in enumerate(ONE_THREAD))
    return ROWS_OF_SCHEDULE.sub(rf'\1<collectionProp name="0">{row}\2', text)


def drawn(text):
    """A text without what was drawn."""
    return DRAWN.sub("#", text)


def masked(rows):
    return [{column: drawn(value) if column == "URL" else value for column, value in row.items() if column != "sentBytes"} for row in rows]


def noted(request):
    """A request that the server was sent, as text, without what is between the parts of a body."""
    method, path, headers, body = request
    pairs = [(name.decode(), value.decode(errors="replace")) for name, value in headers.items()]
    return method.decode(), path.decode(), *seen(pairs, body.decode(errors="replace"))


def ran(run, plan, samples, server):
    """The requests and the rows of a run."""
    server.seen.clear()
    run(plan, samples)
    # What a Backend Listener sends is no sample, and follows no order.
    requests = [noted(request) for request in list(server.seen)]
    return [each for each in requests if ("user-agent", FEED) not in each[2]], of_csv(samples)


def look(path, jmeter, server):
    """What came of a plan: how many requests and samples are the same, or the first that are not."""
    original = path.read_text(errors="replace")
    is_cut, draws = "ultimatethreadgroupdata" in original, DRAWING.search(original)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = folder / "plan.jmx"
        plan.write_text(without_chance(for_one_thread(for_one_iteration(with_files(original, folder)))))
        server.listen(ports_of(original))
        try:
            (sent, rows), (our_sent, our_rows) = (ran(run, str(plan), str(folder / f"{run.__name__}.jtl"), server) for run in (jmeter.run, squall))
        except AssertionError as error:
            return f"not run: {error}"
    if sorted(rows) != sorted(our_rows):
        return f"threads {sorted(rows)} in JMeter, {sorted(our_rows)} in squall"
    if draws:
        sent, our_sent = ([drawn(repr(each)) for each in own] for own in (sent, our_sent))
        rows, our_rows = ({thread: masked(own) for thread, own in of.items()} for of in (rows, our_rows))
    pairs = [(sent, our_sent)] + [(rows[thread], our_rows[thread]) for thread in rows]
    if is_cut:
        pairs = [[own[:min(map(len, pair))] for own in pair] for pair in pairs]
    different = [what for pair in pairs for what in differences(*pair)]
    return next(iter(different), f"the same: {len(our_sent)} requests, {sum(map(len, our_rows.values()))} samples")


def short(text):
    """A text as a cell of a table."""
    text = text.strip().replace("\n", " ").replace("|", "\\|")
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--page", action="store_true")
    given = arguments.parse_args()
    anywhere.enter()
    jmeter, server = Jmeter(), anywhere.Everything(notes=True)
    found = {path.stem: look(path, jmeter, server) for path in sorted(given.folder.glob("*.jmx"))}
    jmeter.stop()
    table = "\n".join(["| plan | requests and samples |", "| --- | --- |", *(f"| `{name}` | {short(what)} |" for name, what in found.items())])
    print(table)
    if given.page:
        place = re.compile(r"(<!-- real plans -->\n).*?(<!-- end of real plans -->)", re.DOTALL)
        PAGE.write_text(place.sub(lambda found: f"{found[1]}{table}\n{found[2]}", PAGE.read_text()))
    return 0 if all(what.startswith("the same") for what in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
