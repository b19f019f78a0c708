"""The built-in target against real clients: curl and wrk."""

import json
import re
import subprocess
import unittest

from peers import SQUALL, Process, free_port


class RealClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.target = Process([SQUALL, "target", "-l", f"127.0.0.1:{port}"], port)

    @classmethod
    def tearDownClass(cls):
        cls.target.stop()

    def curl(self, path, *arguments):
        url = f"http://127.0.0.1:{self.target.port}{path}"
        return subprocess.run(["curl", "-sS", "--max-time", "10", *arguments, url], capture_output=True, text=True, errors="replace")

    def status(self, path, *arguments):
        return self.curl(path, "-o", "/dev/null", "-w", "%{http_code}", *arguments).stdout

    def test_curl_speaks_to_it(self):
        self.assertEqual(self.status("/"), "200")
        self.assertEqual(self.status("/status/418"), "418")
        self.assertEqual(self.status("/nothing-here"), "404")
        size = self.curl("/bytes/1000", "-o", "/dev/null", "-w", "%{size_download}")
        self.assertEqual(size.stdout, "1000")
        self.assertEqual(self.status("/redirect/3", "-L"), "200")

    def test_curl_unpacks_its_gzip(self):
        packed = self.curl("/gzip", "--compressed")
        self.assertEqual(packed.returncode, 0)
        self.assertTrue(packed.stdout)

    def test_curl_uploads_to_it(self):
        said = json.loads(self.curl("/upload", "-d", "x" * 5000).stdout)
        self.assertEqual(said["bytes"], 5000)

    def test_wrk_has_no_errors(self):
        url = f"http://127.0.0.1:{self.target.port}/"
        ran = subprocess.run(["wrk", "-t1", "-c32", "-d2s", url], capture_output=True, text=True, check=True)
        self.assertNotIn("Socket errors", ran.stdout)
        self.assertNotIn("Non-2xx", ran.stdout)
        self.assertGreater(int(re.search(r"(\d+) requests in", ran.stdout)[1]), 0)


if __name__ == "__main__":
    unittest.main()
