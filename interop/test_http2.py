"""squall against nginx over HTTP/2: both count the same, with TLS and without."""

import json
import tempfile
import unittest

from peers import Nginx, squall


class OverHttp2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.nginx = Nginx()
        cls.tls = f"https://127.0.0.1:{cls.nginx.tls_port}"
        cls.plain = f"http://127.0.0.1:{cls.nginx.http2_port}"

    @classmethod
    def tearDownClass(cls):
        cls.nginx.stop()

    def run_plan(self, target, connections, load, steps, thresholds=()):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, tempfile.TemporaryDirectory() as out:
            file.write(f"""
target: {target}
connections: {{http: 2, tls: {{insecure: true}}, {connections}}}
scenarios: {{user: {{load: {load}, steps: {steps}}}}}
thresholds: {json.dumps(list(thresholds))}
""")
            file.flush()
            return self.nginx.counted("run", file.name, "--out", out)

    def test_counts_agree(self):
        for url in (self.tls, self.plain):
            result, accepted, requests = self.nginx.counted(url + "/ok", "-k", "--http", "2", "-c", "16", "-n", "5000")
            self.assertEqual((result["totals"]["count"], result["totals"]["errors"]), (5000, 0))
            self.assertEqual((requests, accepted), (5000, result["counters"]["http2_connections"]))
            # nginx ends a connection after 1,000 requests.
            self.assertEqual(accepted, 16)

    def test_alpn_decides(self):
        for version, connections in (("auto", 4), ("2", 4), ("1.1", 0)):
            result, _, _ = self.nginx.counted(self.tls + "/ok", "-k", "--http", version, "-c", "4", "-n", "100")
            self.assertEqual(result["totals"]["errors"], 0)
            self.assertEqual(result["counters"]["http2_connections"], connections, version)

    def test_users_share_a_connection_that_nginx_ends_now_and_then(self):
        for target in (self.tls, self.plain):
            result, accepted, requests = self.run_plan(
                target, "reuse: pool, pool_size: 1", "{users: 200, iterations: 25}", "[{get: /ok}]")
            self.assertEqual((result["totals"]["count"], result["totals"]["errors"]), (5000, 0))
            self.assertEqual(requests, 5000)
            # After each 1,000 requests.
            self.assertGreaterEqual(accepted, 5)

    def test_one_stream_at_a_time_and_three_requests_a_connection(self):
        target = f"http://127.0.0.1:{self.nginx.few_port}"
        result, accepted, _ = self.run_plan(
            target, "reuse: pool, pool_size: 1", "{users: 10, iterations: 9}", "[{get: /}]")
        self.assertEqual((result["totals"]["count"], result["totals"]["errors"]), (90, 0))
        self.assertGreaterEqual(accepted, 30)

    def test_large_bodies_arrive_whole(self):
        result, _, _ = self.nginx.counted(self.tls + "/large.bin", "-k", "--http", "2", "-c", "4", "-n", "40")
        self.assertEqual(result["totals"]["errors"], 0)
        self.assertGreaterEqual(result["totals"]["bytes_in"], 40 * (8 << 20))
        self.assertLess(result["totals"]["bytes_in"], 40 * (8 << 20) * 1.01)

    def test_uploads_arrive_whole(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"z" * (3 << 20))
            file.flush()
            result = squall(self.plain + "/kept/http2", "--http", "2", "-m", "PUT", "-b", f"@{file.name}",
                            "-n", "20", "-c", "2")
            early = squall(self.plain + "/early", "--http", "2", "-m", "PUT", "-b", f"@{file.name}",
                           "-n", "20", "-c", "2")
        self.assertEqual(result["totals"]["errors"], 0)
        kept = self.nginx.folder / "html" / "kept" / "http2"
        self.assertEqual(kept.read_bytes(), b"z" * (3 << 20))
        self.assertEqual((early["totals"]["errors"], early["totals"]["status"]), (0, {"200": 20}))

    def test_gzip_is_unpacked_for_checks(self):
        check = "['body.contains(\"<p>hello</p>\")', 'header(\"content-encoding\") == \"gzip\"']"
        result, _, _ = self.run_plan(self.tls, "", "{users: 2, iterations: 10}",
                                     f"[{{get: /page.html, compression: true, check: {check}}}]")
        self.assertEqual((result["totals"]["count"], result["totals"]["errors"]), (20, 0))

    def test_statuses(self):
        result, _, _ = self.run_plan(self.tls, "", "{users: 1, iterations: 5}",
                                     "[{get: /gone}, {get: /moved, redirects: 1}, {head: /ok}]", ["error_rate < 34%"])
        self.assertEqual(result["totals"]["status"], {"200": 10, "410": 5})


if __name__ == "__main__":
    unittest.main()
