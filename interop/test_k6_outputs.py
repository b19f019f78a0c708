"""k6's outputs to real receivers: they hold what a script's summary says, under k6's names."""

import json
import os
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

import peers
from peers import PATIENCE, SQUALL, Influxdb, Process, free_port
from test_feeds import Backend

SCRIPT = """
import http from 'k6/http';
import { check, group } from 'k6';
import { Trend } from 'k6/metrics';
const render = new Trend('render', true);
export const options = { scenarios: { buyers: { executor: 'per-vu-iterations', vus: 5, iterations: 40 } }, tags: { env: 'ci' } };
export default function () {
  group('shop', () => {
    const response = http.get(`${__ENV.SITE}/delay/5`, { tags: { name: 'home' } });
    check(response, { 'is there': (own) => own.status === 200 });
    check(response, { 'is every second': () => __ITER % 2 === 0 });
    render.add(2.5, { page: 'first, "one"' });
  });
}
"""


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def metrics(self, output, **variables):
        """Runs the script with an output; returns the metrics of its summary."""
        port = free_port()
        site = Process([SQUALL, "target", "--listen", f"127.0.0.1:{port}"], port)
        self.addCleanup(site.stop)
        Path(self.folder, "script.js").write_text(SCRIPT)
        ran = subprocess.run([SQUALL, "k6", "run", "-q", "--out", output, "--summary-export", "summary.json", "script.js"],
                             capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder,
                             env={**os.environ, "SITE": f"http://127.0.0.1:{port}", **variables})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotIn("lost", ran.stderr)
        return json.loads(Path(self.folder, "summary.json").read_text())["metrics"]

    def test_influxdb(self):
        influxdb = Influxdb(self.folder, "other")
        self.addCleanup(influxdb.stop)
        metrics = self.metrics(f"influxdb=http://127.0.0.1:{influxdb.port}/runs")
        influxdb.database = "runs"

        def value(text):
            [series] = influxdb.ask(text)
            return series["values"][0][1]

        self.assertEqual(value('SELECT sum("value") FROM "http_reqs"'), metrics["http_reqs"]["count"])
        where = """"name"='home' AND "group"='::shop' AND "env"='ci' AND "scenario"='buyers' AND "status"='200'"""
        mean = value(f'SELECT mean("value") FROM "http_req_duration" WHERE {where}')
        self.assertAlmostEqual(mean, metrics["http_req_duration"]["avg"], delta=0.01)
        self.assertEqual(value("""SELECT sum("value") FROM "checks" WHERE "check"='is every second'"""), 100)
        self.assertEqual(value("""SELECT count("value") FROM "render" WHERE "page"='first, "one"'"""), 200)

    def test_prometheus(self):
        prometheus = peers.Prometheus(self.folder)
        self.addCleanup(prometheus.stop)
        metrics = self.metrics("experimental-prometheus-rw",
                               K6_PROMETHEUS_RW_SERVER_URL=f"http://127.0.0.1:{prometheus.port}/api/v1/write",
                               K6_PROMETHEUS_RW_TREND_STATS="avg,p(95),count,sum")

        def value(series):
            query = urllib.parse.urlencode({"query": f"sum(last_over_time({series}[1h]))"})
            url = f"http://127.0.0.1:{prometheus.port}/query?{query}"
            return float(urllib.request.urlopen(url, timeout=PATIENCE).read())

        self.assertEqual(value("k6_http_reqs_total"), metrics["http_reqs"]["count"])
        tags = '{name="home",group="::shop",env="ci",scenario="buyers",status="200"}'
        self.assertAlmostEqual(value(f"k6_http_req_duration_avg{tags}") * 1e3, metrics["http_req_duration"]["avg"], delta=0.01)
        self.assertAlmostEqual(value(f"k6_http_req_duration_p95{tags}") * 1e3, metrics["http_req_duration"]["p(95)"], delta=0.01)
        self.assertEqual(value('k6_checks_rate{check="is every second"}'), 0.5)
        self.assertAlmostEqual(value("k6_render_sum"), 0.5, delta=1e-9)

    def collected_by(self, variables):
        backend = Backend()
        self.addCleanup(backend.stop)
        threading.Thread(target=backend.serve_forever, daemon=True).start()
        collector = peers.Collector(self.folder, f"127.0.0.1:{backend.server_port}")
        self.addCleanup(collector.stop)
        metrics = self.metrics("opentelemetry", K6_OTEL_METRIC_PREFIX="k6.", **variables(collector))
        return metrics, backend

    def assert_collected(self, metrics, backend):
        def points(series, /, **tags):
            return [(metric, point) for (own, has), (metric, point) in backend.points.items()
                    if own == series and has >= set(tags.items())]

        [(metric, point)] = points("k6.http_req_duration", name="home", group="::shop", env="ci")
        self.assertEqual((metric["unit"], int(point["count"])), ("ms", metrics["http_reqs"]["count"]))
        self.assertAlmostEqual(point["sum"] / 200, metrics["http_req_duration"]["avg"], delta=0.01)
        self.assertEqual(point["explicitBounds"][:4], [0, 5, 10, 25])
        self.assertEqual(sum(map(int, point["bucketCounts"])), 200)
        conditions = [int(point["asInt"]) for condition in ("zero", "nonzero")
                      for _, point in points("k6.checks", check="is every second", condition=condition)]
        self.assertEqual(conditions, [100, 100])
        self.assertIn(("service.name", "k6"), set().union(*backend.resources))

    def test_opentelemetry_over_http(self):
        self.assert_collected(*self.collected_by(lambda collector: {
            "K6_OTEL_EXPORTER_PROTOCOL": "http/protobuf", "K6_OTEL_HTTP_EXPORTER_INSECURE": "true",
            "K6_OTEL_HTTP_EXPORTER_ENDPOINT": f"127.0.0.1:{collector.port}"}))

    def test_opentelemetry_over_grpc(self):
        self.assert_collected(*self.collected_by(lambda collector: {
            "K6_OTEL_GRPC_EXPORTER_INSECURE": "true", "K6_OTEL_GRPC_EXPORTER_ENDPOINT": f"127.0.0.1:{collector.calls}"}))


if __name__ == "__main__":
    unittest.main()
