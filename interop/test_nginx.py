"""squall against nginx: both count the same, over every kind of answer nginx gives."""

import tempfile
import unittest

from peers import Nginx, squall


class AgainstNginx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.nginx = Nginx()

    @classmethod
    def tearDownClass(cls):
        cls.nginx.stop()

    def test_counts_agree_over_kept_connections(self):
        result, accepted, requests = self.nginx.counted(self.nginx.url("/ok"), "-c", "32", "-n", "20000")
        self.assertEqual(result["totals"]["count"], 20000)
        self.assertEqual(result["totals"]["errors"], 0)
        self.assertEqual(requests, 20000)
        self.assertEqual(accepted, 32)

    def test_a_connection_for_each_request(self):
        result, accepted, requests = self.nginx.counted(self.nginx.url("/ok"), "-c", "4", "-n", "500", "--no-keepalive")
        self.assertEqual((result["totals"]["errors"], requests, accepted), (0, 500, 500))

    def test_the_server_closes_after_three(self):
        url = f"http://127.0.0.1:{self.nginx.port + 1}/"
        result = squall(url, "-c", "4", "-n", "1000")
        self.assertEqual((result["totals"]["count"], result["totals"]["errors"]), (1000, 0))

    def test_large_bodies_are_counted_to_the_byte(self):
        result, _, _ = self.nginx.counted(self.nginx.url("/large.bin"), "-c", "4", "-n", "40")
        self.assertEqual(result["totals"]["errors"], 0)
        self.assertGreaterEqual(result["totals"]["bytes_in"], 40 * (8 << 20))
        self.assertLess(result["totals"]["bytes_in"], 40 * (8 << 20) + 40 * 1000)

    def test_statuses(self):
        result = squall(self.nginx.url("/gone"), "-n", "50", code=1)
        self.assertEqual(result["totals"]["status"], {"410": 50})
        self.assertEqual(result["totals"]["error_kinds"], {"status": 50})

    def test_redirects_are_followed_when_asked(self):
        result, _, requests = self.nginx.counted(self.nginx.url("/moved"), "-n", "50", "--redirects", "3")
        self.assertEqual((result["totals"]["status"], requests), ({"200": 50}, 100))

    def upload(self, path, size=3 << 20):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"y" * size)
            file.flush()
            return squall(self.nginx.url(path), "-m", "PUT", "-b", f"@{file.name}", "-n", "20", "-c", "2")

    def test_uploads_arrive_whole(self):
        result = self.upload("/kept/up")
        self.assertEqual(result["totals"]["errors"], 0)
        self.assertEqual(set(result["totals"]["status"]), {"201", "204"})
        self.assertGreaterEqual(result["totals"]["bytes_out"], 20 * (3 << 20))
        kept = self.nginx.folder / "html" / "kept" / "up"
        self.assertEqual(kept.read_bytes(), b"y" * (3 << 20))

    def test_an_answer_before_the_upload_has_ended_is_an_answer(self):
        result = self.upload("/early")
        self.assertEqual((result["totals"]["errors"], result["totals"]["status"]), (0, {"200": 20}))

    def plan(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        file.write(text)
        file.flush()
        self.addCleanup(file.close)
        return file.name

    def test_tls_with_its_own_ca(self):
        plan = self.plan(f"""
name: tls
target: https://localhost:{self.nginx.tls_port}
connections: {{tls: {{ca: {self.nginx.folder}/cert.pem}}, resolve: {{localhost: 127.0.0.1}}}}
scenarios:
  user:
    load: {{users: 8, iterations: 50}}
    steps: [{{get: /ok, check: 'body == "ok"'}}]
""")
        with tempfile.TemporaryDirectory() as out:
            result = squall("run", plan, "--out", out)
        self.assertEqual((result["totals"]["count"], result["totals"]["errors"]), (400, 0))
        self.assertGreater(result["totals"]["phases"]["tls"]["count"], 0)

    def test_one_is_served_while_thousands_of_connections_are_told_goodbye(self):
        # TLS says goodbye in bytes, which arrive on connections that rest.
        plan = self.plan(f"""
name: goodbyes
target: https://127.0.0.1:{self.nginx.tls_port}
connections: {{tls: {{insecure: true}}}}
defaults: {{timeout: {{first_byte: 5s}}}}
scenarios:
  resting: {{load: {{users: 1300, ramp: 4s, for: 10s}}, steps: [{{get: /brief}}, {{think: 20s}}]}}
  busy: {{load: {{users: 4, for: 10s}}, steps: [{{get: /ok}}, {{think: 10ms}}]}}
""")
        with tempfile.TemporaryDirectory() as out:
            result = squall("run", plan, "--out", out)
        self.assertEqual(result["totals"]["errors"], 0)
        self.assertGreater(result["totals"]["count"], 1300)

    def test_tls_that_is_not_trusted_is_an_error_that_says_so(self):
        result = squall(f"https://127.0.0.1:{self.nginx.tls_port}/ok", "-n", "3", code=1)
        self.assertEqual(result["totals"]["error_kinds"], {"tls": 3})
        result = squall(f"https://127.0.0.1:{self.nginx.tls_port}/ok", "-n", "3", "-k")
        self.assertEqual(result["totals"]["errors"], 0)

    def test_gzip_is_unpacked_for_checks(self):
        plan = self.plan(f"""
name: gzip
target: http://127.0.0.1:{self.nginx.port}
scenarios:
  user:
    load: {{users: 2, iterations: 10}}
    steps:
      - get: /page.html
        compression: true
        check: ['body.contains("<p>hello</p>")', 'header("content-encoding") == "gzip"']
""")
        with tempfile.TemporaryDirectory() as out:
            result = squall("run", plan, "--out", out)
        self.assertEqual((result["totals"]["count"], result["totals"]["errors"]), (20, 0))


if __name__ == "__main__":
    unittest.main()
