"""The boards of `dashboards/`: against the schema that Grafana publishes (its types on npm, as JSON Schema), their queries
against the names that docs/feeds.md has, and those to Prometheus against Prometheus."""

import functools
import json
import re
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import jsonschema

import peers
from peers import PATIENCE, SQUALL, Influxdb

HERE = Path(__file__).resolve().parent
INSTALLED = HERE.parent / "target/interop"
BOARDS = {kind: json.loads((HERE.parent / f"dashboards/squall-{kind}.json").read_text()) for kind in ("prometheus", "influxdb")}
DOCS = (HERE.parent / "docs/feeds.md").read_text()
TYPES = INSTALLED / "node/node_modules/@grafana/schema/dist/types/raw"
# A tag of the tester's, which the boards take to tell runs apart.
RUN = "run"
PLAN = """
target: builtin
monitor: {machine: {host: local}, self: {process: squall}}
scenarios:
  buyer:
    load: {users: 3, for: 8s}
    steps: [{metric: {name: paid, kind: counter, value: 0.1}}, {metric: {name: stock, kind: gauge, value: 3}},
            {metric: {name: stocked, kind: rate, value: 1}}, {metric: {name: basket, kind: trend, value: 20}},
            {get: /, name: home, check: ["status == 200", "status == 201"]}, {get: /status/503, name: broken}, {think: 20ms}]
  guest: {load: {rate: 50/s, for: 8s}, steps: [{get: /delay/5, name: search}]}
"""


@functools.cache
def schema(path, name):
    """The JSON Schema of a type that Grafana publishes."""
    generator = INSTALLED / "node/node_modules/.bin/ts-json-schema-generator"
    ran = subprocess.run([generator, "--path", TYPES / path, "--type", name, "--no-type-check"],
                         capture_output=True, text=True, check=True, timeout=120)
    return json.loads(ran.stdout)


def tables():
    """What docs/feeds.md says is sent: fields of each measurement, labels of it, and names of totals with their own labels."""
    each, totals = DOCS.split("## Totals")
    rows = lambda text: re.findall(r"^\| `(\w+)` \|([^\n]*)\|$", text, re.M)
    measurements = {}
    for part in re.split(r"\n(?=\*\*`squall_)", each)[1:]:
        head, body = part.split("\n", 1)
        fields = {name for name, _ in rows(body)} or set(re.findall(r"`(\w+)`", body))
        own = set(re.findall(r"; `(\w+)`", head))
        measurements.update({name: (fields, own) for name in re.findall(r"`(squall_\w+)`", head)})
    names = {name: set(re.findall(r"`(\w+)`", more.split("|")[1])) for name, more in rows(totals)}
    counters = measurements["squall_load"][0]
    names.update({f"squall_{name}_total": set() for name in counters - {"users_active"}})
    names["squall_users_active"] = set()
    return measurements, names


def queries(kind):
    """Title and text of each query of a board, those of its variables too."""
    board = BOARDS[kind]
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr" if kind == "prometheus" else "query"]
    for own in board["templating"]["list"]:
        if own["type"] == "query":
            yield f"${own['name']}", own["query"]["query"] if isinstance(own["query"], dict) else own["query"]


# With the tag of what monitors sample.
OF_ROWS = {"kind", "scenario", "group", "name", "monitor"}


class Boards(unittest.TestCase):
    def test_grafana_knows_all_that_is_in_them(self):
        for kind, board in BOARDS.items():
            with self.subTest(board=kind):
                jsonschema.validate(board, schema("dashboard/x/types.gen.d.ts", "Dashboard"))
            for panel in (own for own in board["panels"] if own["type"] != "row"):
                with self.subTest(board=kind, panel=panel["title"]):
                    path = f"composable/{panel['type']}/panelcfg/x/types.gen.d.ts"
                    jsonschema.validate(panel["options"], schema(path, "Options"))
                    custom = panel["fieldConfig"]["defaults"].get("custom")
                    if custom is not None:
                        jsonschema.validate(custom, schema(path, "FieldConfig"))

    def test_a_board_that_grafana_does_not_know_is_refused(self):
        board = json.loads(json.dumps(BOARDS["prometheus"]))
        board["panels"][0]["gridPos"]["width"] = 3
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(board, schema("dashboard/x/types.gen.d.ts", "Dashboard"))
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate({"legend": {}, "tooltip": {}, "lines": 3},
                                schema("composable/timeseries/panelcfg/x/types.gen.d.ts", "Options"))

    def test_queries_name_what_prometheus_gets(self):
        _, names = tables()
        used = set()
        for title, text in queries("prometheus"):
            with self.subTest(query=title):
                bare = re.sub(r'"[^"]*"', '""', text)
                own = {re.sub("_bucket$", "", name) for name in re.findall(r"squall_\w+", bare)}
                self.assertTrue(own and own <= set(names), own - set(names))
                used |= own
                labels = set(re.findall(r"(\w+)(?:=~|!=|=)\"", text))
                labels |= {label.strip() for by in re.findall(r"by \(([^)]*)\)", bare) for label in by.split(",")}
                known = OF_ROWS | {RUN} | set().union(*(names[name] for name in own))
                known |= {"le"} if "_bucket" in bare else set()
                self.assertLessEqual(labels, known)
        self.assertGreater(len(used), 10)

    def test_queries_name_what_influxdb_gets(self):
        measurements, _ = tables()
        for title, text in queries("influxdb"):
            with self.subTest(query=title):
                [name] = re.findall(r'FROM "(\w+)"', text)
                fields, own = measurements[name]
                asked = set(re.findall(r'(?:sum|max|last)\("(\w+)"\)', text))
                self.assertLessEqual(asked, fields)
                tags = set(re.findall(r'"(\w+)"(?= =~)', text)) | set(re.findall(r'KEY = "(\w+)"', text))
                for group in re.findall(r"GROUP BY (.*) fill", text):
                    tags |= set(re.findall(r'"(\w+)"', group))
                of_rows = set() if name == "squall_load" else OF_ROWS
                self.assertLessEqual(tags, of_rows | own | {RUN})

    def test_they_have_what_a_tester_asks_for(self):
        for kind, board in BOARDS.items():
            with self.subTest(board=kind):
                titles = " ".join(panel["title"] for panel in board["panels"])
                for word in ("planned and actual", "Virtual users", "Latency", "Errors by kind", "by name", "Checks", "Responses", "gauges", "trends", "CPU by monitor", "memory by monitor"):
                    self.assertIn(word, titles)
                variables = [own["name"] for own in board["templating"]["list"]]
                self.assertEqual(variables, ["source", "run", "scenario", "name"])
                ids = [panel["id"] for panel in board["panels"]]
                self.assertEqual(len(ids), len(set(ids)))


def run_with(folder, feed):
    """Runs the plan with a feed, and a tag by which the run is known."""
    Path(folder, "plan.yaml").write_text(PLAN)
    ran = subprocess.run([SQUALL, "run", Path(folder, "plan.yaml"), "--quiet", "--tag", "run=here", "--out", feed, "--out", folder],
                         capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 1, ran.stderr


class InfluxdbAnswers(unittest.TestCase):
    def test_each_query_finds_something(self):
        with tempfile.TemporaryDirectory() as folder:
            influxdb = Influxdb(folder, "load")
            try:
                run_with(folder, f"influxdb=http://127.0.0.1:{influxdb.port}/write?db=load")
                for title, text in queries("influxdb"):
                    for name, value in (("$__interval_ms", "2000"), ("$__interval", "2s"), ("$timeFilter", "time > now() - 1h"),
                                        ("$run", "here"), ("$scenario", ".*"), ("$name", ".*")):
                        text = text.replace(name, value)
                    with self.subTest(query=title):
                        self.assertTrue(influxdb.ask(text), text)
            finally:
                influxdb.stop()


class Prometheus(unittest.TestCase):
    """Each query finds something in Prometheus after a run, pushed or scraped."""

    def ask_all(self, feed):
        with tempfile.TemporaryDirectory() as folder:
            process = peers.Prometheus(folder)
            port = process.port
            try:
                run_with(folder, feed.format(port=port, scraped=process.scraped))
                for title, text in queries("prometheus"):
                    if title.startswith("$"):
                        continue
                    text = text.replace("$__rate_interval", "1h").replace("$run", "here").replace("$scenario", ".*").replace("$name", ".*")
                    # The run is over: what was there in the last hour.
                    text = re.sub(r"(squall_users_active|squall_metric_gauge)\{([^}]*)\}", r"last_over_time(\1{\2}[1h])", text)
                    asked = urllib.parse.urlencode({"query": f"count({text})"})
                    with self.subTest(query=title):
                        found = urllib.request.urlopen(f"http://127.0.0.1:{port}/query?{asked}", timeout=PATIENCE).read()
                        self.assertGreaterEqual(float(found), 1, text)
            finally:
                process.stop()

    def test_remote_write(self):
        self.ask_all("remote-write=http://127.0.0.1:{port}/api/v1/write")

    def test_scraped(self):
        self.ask_all("prometheus={scraped}")


if __name__ == "__main__":
    unittest.main()
