"""Feeds to real receivers: what they hold in the end is what run.json says."""

import json
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

import whisper

import peers
from peers import SQUALL, Influxdb, Process, free_port

HERE = Path(__file__).resolve().parent
INSTALLED = HERE.parent / "target/interop"

# Two workers, two names of which one is always an error, a group, a check, and a metric of each kind. 805 iterations, of which
# no percentile asked for is a whole number: where it is, Prometheus answers with the value after the one that squall takes.
PLAN = """
target: builtin
scenarios:
  buyer:
    load: {rate: 161/s, for: 5s, max_users: 50}
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


def ran_with(folder, *feeds, **environment):
    """Runs the plan with feeds; returns its result."""
    plan = Path(folder, "plan.yaml")
    plan.write_text(PLAN)
    outs = [word for feed in feeds for word in ("--out", feed)]
    ran = subprocess.run([SQUALL, "run", plan, "--out", Path(folder, "runs"), *outs, "--json", Path(folder, "run.json"),
                          "--quiet", "--workers", "2", "--tag", "env=ci"], capture_output=True, text=True, timeout=120,
                         env={**os.environ, **environment})
    assert ran.returncode == 1, ran.stderr
    result = json.loads(Path(folder, "run.json").read_text())
    assert result["totals"]["errors"] == result["totals"]["count"] / 2 > 0, result["totals"]
    return result


def run_with(folder, *feeds, **environment):
    """The same; nothing was lost."""
    result = ran_with(folder, *feeds, **environment)
    for feed in result["feeds"]:
        assert feed["points_lost"] == 0 and feed["points_sent"] > 0 and not feed["error"], feed
    return result


class Carbon(unittest.TestCase):
    """Graphite's receiver, with its files."""

    def test_files_hold_the_sums(self):
        with tempfile.TemporaryDirectory() as folder:
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
            begun = time.time()
            try:
                result = run_with(folder, f"graphite=127.0.0.1:{port}")
                time.sleep(2)
            finally:
                process.stop()
            held = self.held(folder, begun)
        for field in ("count", "errors", "bytes_in", "bytes_out"):
            self.assertEqual(held[field], result["totals"][field], field)

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
        for field in ("count", "errors", "bytes_in", "bytes_out"):
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

    def assert_holds(self, influxdb, result):
        def value(text):
            [series] = influxdb.ask(text)
            return series["values"][0][1]

        [home] = [row for row in result["requests"] if row["name"] == "home, & more"]
        for field in ("count", "errors", "bytes_in", "bytes_out"):
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


class Prometheus(unittest.TestCase):
    """Prometheus' own storage, fed in four ways."""

    scraping = ()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.process = peers.Prometheus(self.folder.name, *self.scraping)
        self.addCleanup(self.process.stop)

    def query(self, text):
        query = urllib.parse.urlencode({"query": text})
        url = f"http://127.0.0.1:{self.process.port}/query?{query}"
        return float(urllib.request.urlopen(url, timeout=10).read())

    def assert_holds(self, result):
        """The last values of the last minute."""
        [home] = [row for row in result["requests"] if row["name"] == "home, & more"]
        for name, field in (("requests", "count"), ("errors", "errors"), ("received_bytes", "bytes_in"), ("sent_bytes", "bytes_out")):
            held = self.query(f'last_over_time(squall_{name}_total{{kind="request",env="ci"}}[1m])')
            self.assertEqual(held, result["totals"][field], name)
            one = 'name="home, & more",kind="request",team="a b"'
            self.assertEqual(self.query(f"last_over_time(squall_{name}_total{{{one}}}[1m])"), home[field], name)
        held = self.query('last_over_time(squall_responses_total{status="500"}[1m])')
        self.assertEqual(held, result["totals"]["status"]["500"])
        self.assertEqual(self.query("last_over_time(squall_iterations_done_total[1m])"), result["counters"]["iterations_done"])
        self.assert_holds_metrics({row["name"]: row for row in result["metrics"]})

    def assert_holds_metrics(self, metrics):
        """The last values of the plan's own."""
        for name, row in metrics.items():
            one = f'name="{name}",kind="{row["kind"]}",scenario="buyer",env="ci"'
            held = lambda of: self.query(f"last_over_time(squall_metric_{of}{{{one}}}[1m])")
            self.assertEqual(held("values_total"), row["count"], name)
            if row["kind"] == "rate":
                self.assertEqual(held("trues_total"), row["trues"])
            if row["kind"] == "gauge":
                self.assertEqual((held("gauge"), held("gauge_min"), held("gauge_max")), (row["last"], row["min"], row["max"]))
        self.assertAlmostEqual(self.query('last_over_time(squall_metric_counter_total{plan="free"}[1m])'), metrics["paid"]["sum"])

    def assert_native(self, result):
        """The native histogram has all latencies, to within the width of a bucket."""
        held = self.query('histogram_count(last_over_time(squall_latency_seconds{kind="request"}[1m]))')
        self.assertEqual(held, result["totals"]["latency_us"]["count"])
        [bad] = [row for row in result["requests"] if row["name"] == "bad"]
        one = 'last_over_time(squall_latency_seconds{name="bad"}[1m])'
        self.assertAlmostEqual(self.query(f"histogram_avg({one})") * 1e6, bad["latency_us"]["mean"], delta=0.01)
        for quantile, field in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99")):
            held = self.query(f"histogram_quantile({quantile}, {one})") * 1e6
            self.assertAlmostEqual(held / bad["latency_us"][field], 1, delta=0.05, msg=field)
        [basket] = [row for row in result["metrics"] if row["name"] == "basket"]
        one = 'last_over_time(squall_metric_trend{name="basket"}[1m])'
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

    def test_opentelemetry_over_grpc(self):
        result = run_with(self.folder.name, f"otlp-grpc=http://127.0.0.1:{self.process.calls}")
        self.assert_holds(result)
        self.assert_native(result)

    def test_opentelemetry_over_grpc_with_tls(self):
        trusted = f"{self.folder.name}/cert.pem"
        result = run_with(self.folder.name, f"otlp-grpc=https://localhost:{self.process.secure}", SSL_CERT_FILE=trusted)
        self.assert_holds(result)
        self.assert_native(result)

    def test_a_certificate_that_is_not_trusted_costs_points_alone(self):
        result = ran_with(self.folder.name, f"otlp-grpc=https://localhost:{self.process.secure}")
        [feed] = result["feeds"]
        self.assertEqual(feed["points_sent"], 0)
        self.assertGreater(feed["points_lost"], 10)
        self.assertIn("certificate", feed["error"])
        self.assertTrue(any("certificate" in text for text in result["warnings"]), result["warnings"])

    def test_scraped(self):
        result = run_with(self.folder.name, f"prometheus={self.process.scraped}")
        self.assert_holds(result)
        for name in ('count{kind="request"}', 'bucket{kind="request",le="+Inf"}'):
            held = self.query(f"last_over_time(squall_latency_seconds_{name}[1m])")
            self.assertEqual(held, result["totals"]["latency_us"]["count"], name)
        [basket] = [row for row in result["metrics"] if row["name"] == "basket"]
        self.assertEqual(self.query('last_over_time(squall_metric_trend_bucket{le="+Inf"}[1m])'), basket["count"])


class Native(Prometheus):
    """Prometheus that asks for native histograms when it scrapes."""

    scraping = ("native",)

    def test_scraped(self):
        result = run_with(self.folder.name, f"prometheus={self.process.scraped}")
        self.assert_holds(result)
        self.assert_native(result)

    # These are the same whatever it scrapes.
    test_remote_write = test_opentelemetry = test_opentelemetry_over_grpc = None
    test_opentelemetry_over_grpc_with_tls = test_a_certificate_that_is_not_trusted_costs_points_alone = None


if __name__ == "__main__":
    unittest.main()
