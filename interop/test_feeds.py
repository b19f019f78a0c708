"""Feeds to real receivers: what they hold in the end is what run.json says."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import whisper

import peers
from peers import INSTALLED, PATIENCE, SQUALL, Influxdb, Process, free_port, until

sys.path.insert(0, str(Path(__file__).resolve().parent / "jmeter"))
from plans import backend, group, plan, request, timer

# Two workers, two names of which one is always an error, a group, a check, and a metric of each kind. 805 iterations, of which
# no percentile asked for is a whole number: where it is, Prometheus answers with the value after the one that squall takes. The load
# ends when they are done, some 5 s later: none is cut off.
PLAN = """
target: builtin
scenarios:
  buyer:
    load: {users: 35, iterations: 23, pacing: 217ms}
    on_error: continue
    steps:
      - {get: /, name: "home, & more", tags: {team: a b}, check: status == 200}
      - group: pay
        steps: [{get: /status/500, name: bad}]
      - {metric: {name: paid, kind: counter, value: 0.1, tags: {plan: free}}}
      - {metric: {name: stock, kind: gauge, value: "-1.5"}}
      - {metric: {name: stocked, kind: rate, value: "random(0, 1)"}}
      - {metric: {name: basket, kind: trend, value: "random(0, 300)"}}
"""

# What the receivers are asked for of each request.
FIELDS = ("count", "errors", "bytes_in", "bytes_out")


def ran_with(folder, *feeds, **environment):
    """Runs the plan with feeds; returns its result."""
    plan = Path(folder, "plan.yaml")
    plan.write_text(PLAN)
    outs = [word for feed in feeds for word in ("--out", feed)]
    ran = subprocess.run([SQUALL, "run", plan, "--out", Path(folder, "runs"), *outs, "--json", Path(folder, "run.json"),
                          "--quiet", "--workers", "2", "--tag", "env=ci"], capture_output=True, text=True, timeout=PATIENCE,
                         env={**os.environ, **environment})
    assert ran.returncode == 1, ran.stderr
    result = json.loads(Path(folder, "run.json").read_text())
    assert (result["totals"]["errors"], result["totals"]["count"]) == (805, 1610), result["totals"]
    return result


def run_with(folder, *feeds, **environment):
    """The same; nothing was lost."""
    result = ran_with(folder, *feeds, **environment)
    for feed in result["feeds"]:
        assert feed["points_lost"] == 0 and feed["points_sent"] > 0 and not feed["error"], feed
    return result


def run_jmx(folder, listener):
    """Runs a JMeter plan with a Backend Listener; returns its result."""
    port = free_port()
    site = Process([SQUALL, "target", "--listen", f"127.0.0.1:{port}"], port)
    source = plan(listener, group(request("home, and more", "/delay/20") + request("bad", "/status/500") + timer(20), threads=2, loops=50))
    Path(folder, "plan.jmx").write_text(source)
    try:
        result = peers.squall("run", Path(folder, "plan.jmx"), f"-Jport={port}", "--out", Path(folder, "runs"), code=1)
    finally:
        site.stop()
    [feed] = result["feeds"]
    assert feed["points_lost"] == 0 and feed["points_sent"] > 0 and not feed["error"], feed
    assert result["totals"]["count"] == 200 and result["totals"]["errors"] == 100, result["totals"]
    return result


class Carbon(unittest.TestCase):
    """Graphite's receiver, with its files."""

    def test_files_hold_the_sums(self):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.time()

            def is_there(totals):
                held = self.held(folder, begun)
                return all(held.get(field) == totals[field] for field in FIELDS)

            result = self.fed(folder, lambda port: run_with(folder, f"graphite=127.0.0.1:{port}"), is_there)
            held = self.held(folder, begun)
        for field in FIELDS:
            self.assertEqual(held[field], result["totals"][field], field)

    def test_files_under_jmeters_names_hold_the_sums(self):
        def run(port):
            listener = backend("Graphite", graphiteHost="127.0.0.1", graphitePort=port, rootMetricsPrefix="load.", summaryOnly="false",
                               samplersList="bad", percentiles="90")
            return run_jmx(folder, listener)

        with tempfile.TemporaryDirectory() as folder:
            begun = time.time()

            def held(path):
                file = Path(folder, "data/load", path)
                return sum(value for value in whisper.fetch(str(file), begun - 5)[1] if value is not None) if file.exists() else None

            def sums(totals):
                return {"all/a/count": totals["count"], "all/ko/count": totals["errors"], "all/rb/bytes": totals["bytes_in"],
                        "all/sb/bytes": totals["bytes_out"], "bad/ko/count": totals["errors"]}

            totals = self.fed(folder, run, lambda totals: all(held(f"{path}.wsp") == own for path, own in sums(totals).items()))["totals"]
            for path, number in sums(totals).items():
                self.assertEqual(held(f"{path}.wsp"), number, path)
            self.assertFalse(Path(folder, "data/load/home,-and-more").exists())
            self.assertTrue(Path(folder, "data/load/bad/ko/pct90.wsp").exists())
            self.assertGreaterEqual(held("all/a/pct90.wsp"), 20)

    def fed(self, folder, run, is_there):
        """What a run returns that is given a port at which Carbon listens; Carbon has time to write until all is there."""
        port = free_port()
        Path(folder, "carbon.conf").write_text(f"""[cache]
STORAGE_DIR = {folder}
LOCAL_DATA_DIR = {folder}/data
PID_DIR = {folder}
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = {port}
PICKLE_RECEIVER_PORT = 0
CACHE_QUERY_PORT = 0
MAX_UPDATES_PER_SECOND = inf
MAX_CREATES_PER_MINUTE = inf
ENABLE_TAGS = False
TAG_HASH_FILENAMES = False
""")
        Path(folder, "storage-schemas.conf").write_text("[all]\npattern = .*\nretentions = 1s:1h\n")
        carbon = INSTALLED / "bin/carbon-cache.py"
        process = Process([INSTALLED / "bin/python3", carbon, f"--config={folder}/carbon.conf", "--nodaemon",
                           f"--logdir={folder}", f"--pidfile={folder}/pid", "start"], port)
        try:
            result = run(port)
            until(lambda: is_there(result["totals"]), "Carbon writes its files")
            return result
        finally:
            process.stop()

    def held(self, folder, begun):
        """Sums of the files of requests by field."""
        sums = {}
        for path in Path(folder, "data").rglob("squall_requests_DOT_*.wsp"):
            field = path.name.split(";")[0].removeprefix("squall_requests_DOT_")
            self.assertIn("env=ci", path.name)
            _, values = whisper.fetch(str(path), begun - 5)
            sums[field] = sums.get(field, 0) + sum(value for value in values if value is not None)
        return sums


class Statsd(unittest.TestCase):
    """The original StatsD of Node, which writes what it holds to its console."""

    def test_counters_hold_the_sums(self):
        with tempfile.TemporaryDirectory() as folder:
            port, admin = free_port(), free_port()
            Path(folder, "config.js").write_text(
                f"{{port: {port}, address: '127.0.0.1', mgmt_port: {admin}, mgmt_address: '127.0.0.1',"
                " flushInterval: 600000, backends: ['./backends/console']}")
            statsd = INSTALLED / "node/node_modules/statsd/stats.js"
            process = Process(["node", statsd, Path(folder, "config.js")], admin)
            try:
                result = run_with(folder, f"statsd=127.0.0.1:{port}")
                with socket.create_connection(("127.0.0.1", admin)) as connection:
                    connection.sendall(b"counters\n")
                    text = ""
                    while "END" not in text:
                        text += connection.recv(65536).decode()
            finally:
                process.stop()
        sums = {}
        for series, value in re.findall(r"'?(squall_requests\.[^':]*)'?: (\d+)", text):
            self.assertIn("env=ci", series)
            field = series.split(";")[0].removeprefix("squall_requests.")
            sums[field] = sums.get(field, 0) + int(value)
        for field in FIELDS:
            self.assertEqual(sums[field], result["totals"][field], field)


class InfluxdbHolds(unittest.TestCase):
    """InfluxDB 1."""

    def test_points_hold_the_sums(self):
        with tempfile.TemporaryDirectory() as folder:
            influxdb = Influxdb(folder, "load")
            try:
                result = run_with(folder, f"influxdb=http://127.0.0.1:{influxdb.port}/write?db=load")
                self.assert_holds(influxdb, result)
            finally:
                influxdb.stop()

    def test_points_under_jmeters_names_hold_the_sums(self):
        with tempfile.TemporaryDirectory() as folder:
            influxdb = Influxdb(folder, "load")
            listener = backend("Influxdb", influxdbUrl=f"http://127.0.0.1:{influxdb.port}/write?db=load", application="the shop",
                               samplersRegex=".*", percentiles="90", testTitle="nightly")
            try:
                result = run_jmx(folder, listener)
                self.assert_jmeters_points(influxdb, result["totals"])
            finally:
                influxdb.stop()

    def assert_jmeters_points(self, influxdb, totals):
        def value(field, where, of="sum"):
            [series] = influxdb.ask(f'SELECT {of}("{field}") FROM "jmeter" WHERE "application" = \'the shop\' AND {where}')
            return series["values"][0][1]

        def of(name, status):
            return f"\"transaction\" = '{name}' AND \"statut\" = '{status}'"

        for field, number in {"count": totals["count"], "countError": totals["errors"], "hit": totals["count"],
                              "rb": totals["bytes_in"], "sb": totals["bytes_out"]}.items():
            self.assertEqual(value(field, of("all", "all")), number, field)
        self.assertEqual(value("count", of("home, and more", "ok")), totals["count"] - totals["errors"])
        self.assertEqual(value("count", of("bad", "ko")), totals["errors"])
        self.assertEqual(value("count", "\"responseCode\" = '500' AND \"responseMessage\" = 'Internal Server Error'"), totals["errors"])
        self.assertGreaterEqual(value("pct90.0", of("home, and more", "all"), "max"), 20)
        self.assertEqual(value("startedT", "\"transaction\" = 'internal'", "last"), 2)
        [events] = influxdb.ask('SELECT "text" FROM "events"')
        self.assertEqual([row[1] for row in events["values"]], ["nightly started", "nightly ended"])

    def assert_holds(self, influxdb, result):
        def value(text):
            [series] = influxdb.ask(text)
            return series["values"][0][1]

        [home] = [row for row in result["requests"] if row["name"] == "home, & more"]
        for field in FIELDS:
            of = f'SELECT sum("{field}") FROM "squall_requests" WHERE "env" = \'ci\''
            self.assertEqual(value(of), result["totals"][field], field)
            one = f"{of} AND \"name\" = 'home, & more' AND \"team\" = 'a b'"
            self.assertEqual(value(one), home[field], field)
        held = value('SELECT sum("count") FROM "squall_responses" WHERE "status" = \'500\'')
        self.assertEqual(held, result["totals"]["status"]["500"])
        self.assertEqual(value('SELECT sum("iterations_done") FROM "squall_load"'), result["counters"]["iterations_done"])
        for row in result["metrics"]:
            one = f'FROM "squall_metrics" WHERE "name" = \'{row["name"]}\' AND "kind" = \'{row["kind"]}\''
            self.assertEqual(value(f'SELECT sum("count") {one}'), row["count"], row["name"])
            if row["kind"] == "counter":
                self.assertAlmostEqual(value(f'SELECT sum("sum") {one}'), row["sum"])
            if row["kind"] == "rate":
                self.assertEqual(value(f'SELECT sum("trues") {one}'), row["trues"])
            if row["kind"] in ("gauge", "trend"):
                self.assertEqual(value(f'SELECT max("max") {one}'), row["max"], row["name"])


class Totals:
    """A receiver of totals: the last value that it has of each series (`total`, `level`) is what run.json says."""

    def assert_holds(self, result):
        [home] = [row for row in result["requests"] if row["name"] == "home, & more"]
        for series, field in (("requests", "count"), ("errors", "errors"), ("received_bytes", "bytes_in"), ("sent_bytes", "bytes_out")):
            self.assertEqual(self.total(series, kind="request", env="ci"), result["totals"][field], series)
            one = self.total(series, name="home, & more", kind="request", team="a b")
            self.assertEqual(one, home[field], series)
        self.assertEqual(self.total("responses", status="500"), result["totals"]["status"]["500"])
        self.assertEqual(self.total("iterations_done"), result["counters"]["iterations_done"])
        self.assert_holds_metrics({row["name"]: row for row in result["metrics"] if row["scenario"]})

    def assert_holds_metrics(self, metrics):
        """The plan's own."""
        for name, row in metrics.items():
            tags = {"name": name, "kind": row["kind"], "scenario": "buyer", "env": "ci"}
            self.assertEqual(self.total("metric_values", **tags), row["count"], name)
            if row["kind"] == "rate":
                self.assertEqual(self.total("metric_trues", **tags), row["trues"])
            if row["kind"] == "gauge":
                held = [self.level(series, **tags) for series in ("metric_gauge", "metric_gauge_min", "metric_gauge_max")]
                self.assertEqual(held, [row["last"], row["min"], row["max"]])
        self.assertAlmostEqual(self.total("metric_counter", plan="free"), metrics["paid"]["sum"])


class Backend(ThreadingHTTPServer):
    """What a collector hands on to, as JSON: keeps the last point of each series, with its metric."""

    def __init__(self, delay_s=0, busy=0):
        super().__init__(("127.0.0.1", 0), Taker)
        self.points, self.resources = {}, set()
        self.delay_s, self.busy, self.asked = delay_s, busy, 0

    def take(self, body):
        """What is answered: it may be slow, and it may have no time for the first ones."""
        time.sleep(self.delay_s)
        self.asked += 1
        if self.asked <= self.busy:
            return 503
        for resource in json.loads(body)["resourceMetrics"]:
            self.resources.add(tags_of(resource["resource"]))
            for metric in (metric for scope in resource["scopeMetrics"] for metric in scope["metrics"]):
                [data] = [metric[kind] for kind in ("sum", "gauge", "histogram", "exponentialHistogram") if kind in metric]
                for point in data["dataPoints"]:
                    self.points[metric["name"], tags_of(point)] = (metric, point)
        return 200

    def stop(self):
        self.shutdown()
        self.server_close()


class Taker(BaseHTTPRequestHandler):
    def do_POST(self):
        status = self.server.take(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def tags_of(own):
    return frozenset((tag["key"], tag["value"]["stringValue"]) for tag in own.get("attributes", ()))


class OpenTelemetry(Totals, unittest.TestCase):
    """A collector that is made of OpenTelemetry's own modules, over HTTP."""

    busy = "503"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def collect(self, **backend):
        """Starts a collector, and what it hands on to."""
        self.backend = Backend(**backend)
        self.addCleanup(self.backend.stop)
        threading.Thread(target=self.backend.serve_forever, daemon=True).start()
        self.collector = peers.Collector(self.folder, f"127.0.0.1:{self.backend.server_port}")
        self.addCleanup(self.collector.stop)

    def feed(self):
        return f"otlp=http://127.0.0.1:{self.collector.port}/v1/metrics"

    def feed_to_nobody(self):
        return f"otlp=http://127.0.0.1:{free_port()}/v1/metrics"

    def found(self, series, tags):
        """The metric and the last point of each series that has these tags."""
        found = [own for (name, has), own in self.backend.points.items() if name == f"squall_{series}" and has >= set(tags.items())]
        self.assertTrue(found, f"{series} {tags}: {list(self.backend.points)}")
        return found

    def total(self, series, **tags):
        found = self.found(series, tags)
        for metric, _ in found:
            self.assertEqual((metric["sum"]["aggregationTemporality"], metric["sum"]["isMonotonic"]), (2, True), series)
        return sum(number(point) for _, point in found)

    def level(self, series, **tags):
        [(metric, point)] = self.found(series, tags)
        self.assertIn("gauge", metric)
        return number(point)

    def assert_distribution(self, series, tags, count, mean, quantiles):
        """An exponential histogram has all values, to within the width of a bucket."""
        [(metric, point)] = self.found(series, tags)
        self.assertEqual(metric["exponentialHistogram"]["aggregationTemporality"], 2)
        self.assertLess(int(point["startTimeUnixNano"]), int(point["timeUnixNano"]))
        counts = [int(own) for own in point["positive"]["bucketCounts"]]
        self.assertEqual(int(point["count"]), count)
        self.assertEqual(sum(counts) + int(point.get("zeroCount", 0)), count)
        self.assertAlmostEqual(point["sum"] / (count * mean), 1, delta=1e-5)
        for quantile, value in quantiles.items():
            passed, bucket = int(point.get("zeroCount", 0)), -1
            while passed < quantile * count:
                bucket += 1
                passed += counts[bucket]
            middle = 2 ** ((point["positive"].get("offset", 0) + bucket + 0.5) / 2 ** point["scale"])
            self.assertAlmostEqual(middle / value, 1, delta=0.05, msg=f"{series}, {quantile}")

    def assert_all(self, result):
        """Everything that run.json says is there."""
        self.assert_holds(result)
        self.assertEqual(self.backend.resources, {frozenset({("service.name", "squall")})})
        own = {"kind": "request", "scenario": "buyer", "name": "home, & more", "team": "a b", "env": "ci"}
        self.assertIn(("squall_requests", frozenset(own.items())), self.backend.points, "these tags, and no others")
        [bad] = [row for row in result["requests"] if row["name"] == "bad"]
        latency = bad["latency_us"]
        quantiles = {0.5: latency["p50"] / 1e6, 0.9: latency["p90"] / 1e6, 0.99: latency["p99"] / 1e6}
        self.assert_distribution("latency_seconds", {"name": "bad", "group": "pay"}, latency["count"], latency["mean"] / 1e6, quantiles)
        all_requests = sum(int(point["count"]) for _, point in self.found("latency_seconds", {"kind": "request"}))
        self.assertEqual(all_requests, result["totals"]["latency_us"]["count"])
        [basket] = [row for row in result["metrics"] if row["name"] == "basket"]
        self.assert_distribution("metric_trend", {"name": "basket"}, basket["count"], basket["mean"], {0.9: basket["p90"]})

    def test_it_holds_what_the_result_says(self):
        self.collect()
        self.assert_all(run_with(self.folder, self.feed()))

    def test_a_slow_one_gets_everything(self):
        self.collect(delay_s=1.2)
        self.assert_all(run_with(self.folder, self.feed()))

    def test_one_that_has_no_time_is_asked_again(self):
        self.collect(busy=3)
        result = ran_with(self.folder, self.feed())
        [feed] = result["feeds"]
        self.assertEqual(feed["points_lost"], 0)
        self.assertIn(self.busy, feed["error"], "which is told, though it cost nothing")
        self.assert_all(result)

    def test_one_that_is_down_costs_points_alone(self):
        self.assert_lost(ran_with(self.folder, self.feed_to_nobody()), "refused")

    def assert_lost(self, result, why):
        [feed] = result["feeds"]
        self.assertEqual(feed["points_sent"], 0)
        self.assertGreater(feed["points_lost"], 10)
        self.assertIn(why, feed["error"])
        self.assertTrue(any(why in text for text in result["warnings"]), result["warnings"])


def number(point):
    return int(point["asInt"]) if "asInt" in point else point["asDouble"]


class OpenTelemetryByCalls(OpenTelemetry):
    """The same over gRPC."""

    busy = "UNAVAILABLE"

    def feed(self):
        return f"otlp-grpc=http://127.0.0.1:{self.collector.calls}"

    def feed_to_nobody(self):
        return f"otlp-grpc=http://127.0.0.1:{free_port()}"

    def test_with_tls(self):
        self.collect()
        secure = f"otlp-grpc=https://localhost:{self.collector.secure}"
        self.assert_all(run_with(self.folder, secure, SSL_CERT_FILE=f"{self.folder}/cert.pem"))

    def test_a_certificate_that_is_not_trusted_costs_points_alone(self):
        self.collect()
        self.assert_lost(ran_with(self.folder, f"otlp-grpc=https://localhost:{self.collector.secure}"), "certificate")
        self.assertEqual(self.backend.asked, 0)


class Prometheus(Totals, unittest.TestCase):
    """Prometheus' own storage, fed in three ways. OTLP comes to it under names of its own, and with native histograms."""

    scraping = ()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.process = peers.Prometheus(self.folder.name, *self.scraping)
        self.addCleanup(self.process.stop)

    def query(self, text):
        query = urllib.parse.urlencode({"query": text})
        url = f"http://127.0.0.1:{self.process.port}/query?{query}"
        return float(urllib.request.urlopen(url, timeout=PATIENCE).read())

    def level(self, series, **tags):
        """The last values."""
        tags = ",".join(f'{name}="{value}"' for name, value in tags.items())
        return self.query(f"last_over_time(squall_{series}{{{tags}}}[1h])")

    def total(self, series, **tags):
        return self.level(f"{series}_total", **tags)

    def assert_native(self, result):
        """The native histogram has all latencies, to within the width of a bucket."""
        held = self.query('histogram_count(last_over_time(squall_latency_seconds{kind="request"}[1h]))')
        self.assertEqual(held, result["totals"]["latency_us"]["count"])
        [bad] = [row for row in result["requests"] if row["name"] == "bad"]
        one = 'last_over_time(squall_latency_seconds{name="bad"}[1h])'
        self.assertAlmostEqual(self.query(f"histogram_avg({one})") * 1e6, bad["latency_us"]["mean"], delta=0.01)
        for quantile, field in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99")):
            held = self.query(f"histogram_quantile({quantile}, {one})") * 1e6
            self.assertAlmostEqual(held / bad["latency_us"][field], 1, delta=0.05, msg=field)
        [basket] = [row for row in result["metrics"] if row["name"] == "basket"]
        one = 'last_over_time(squall_metric_trend{name="basket"}[1h])'
        self.assertEqual(self.query(f"histogram_count({one})"), basket["count"])
        self.assertAlmostEqual(self.query(f"histogram_avg({one})"), basket["mean"], delta=0.001)
        self.assertAlmostEqual(self.query(f"histogram_quantile(0.9, {one})") / basket["p90"], 1, delta=0.05)

    def test_remote_write(self):
        result = run_with(self.folder.name, f"remote-write=http://127.0.0.1:{self.process.port}/api/v1/write")
        self.assert_holds(result)
        self.assert_native(result)

    def test_opentelemetry(self):
        result = run_with(self.folder.name, f"otlp=http://127.0.0.1:{self.process.port}/v1/metrics")
        self.assert_holds(result)
        self.assert_native(result)

    def test_scraped(self):
        result = run_with(self.folder.name, f"prometheus={self.process.scraped}")
        self.assert_holds(result)
        for name in ('count{kind="request"}', 'bucket{kind="request",le="+Inf"}'):
            held = self.query(f"last_over_time(squall_latency_seconds_{name}[1h])")
            self.assertEqual(held, result["totals"]["latency_us"]["count"], name)
        [basket] = [row for row in result["metrics"] if row["name"] == "basket"]
        self.assertEqual(self.query('last_over_time(squall_metric_trend_bucket{le="+Inf"}[1h])'), basket["count"])


class Native(Prometheus):
    """Prometheus that asks for native histograms when it scrapes."""

    scraping = ("native",)

    def test_scraped(self):
        result = run_with(self.folder.name, f"prometheus={self.process.scraped}")
        self.assert_holds(result)
        self.assert_native(result)

    # These are the same whatever it scrapes.
    test_remote_write = test_opentelemetry = None


if __name__ == "__main__":
    unittest.main()
