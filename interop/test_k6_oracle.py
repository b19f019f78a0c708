"""squall's k6 against a second, slow interpreter (k6_oracle/, in Node): the same scripts against the same server, one user each; both
count the same requests, checks, groups, iterations and metrics, and print the same lines."""

import collections
import email
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
import zlib
from pathlib import Path

from peers import PATIENCE, SQUALL

FOLDER = Path(__file__).resolve().parent / "k6_oracle"
SCRIPTS = sorted(path.stem for path in (FOLDER / "scripts").glob("*.js"))
# What tells requests apart, and checks; other values are added up by the metric alone.
TOLD = {"http_reqs": ("method", "name", "status"), "checks": ("check",)}
# What only squall counts: times, bytes and users.
ELSEWHERE = re.compile(r"http_req_(?!failed)|iteration_duration|data_|vus|dropped_")
# Times, of which only the number is compared.
TIMES = ("group_duration",)


class Site(http.server.BaseHTTPRequestHandler):
    """What the scripts ask for."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", kind="text/plain", more=()):
        self.send_response(status)
        for name, value in (("content-type", kind), ("content-length", str(len(body))), *more):
            if status != 204 or name != "content-length":
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def asked(self):
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        for kind in reversed(self.headers.get("content-encoding", "").split(", ")):
            # Python has no brotli: what is in such a body is not looked at.
            body = {"gzip": gzip.decompress, "deflate": zlib.decompress, "br": lambda _: b"brotli"}.get(kind, bytes)(body)
        first, *rest = path.strip("/").split("/")
        known = getattr(self, f"of_{first}", None)
        if known is None:
            self.answer(404)
        else:
            known(rest, query, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = asked

    def json(self, value, more=()):
        self.answer(200, json.dumps(value).encode(), "application/json", more)

    def of_json(self, *_):
        self.json({"list": [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}], "deep": {"a": {"b": "c"}}})

    def of_echo(self, _, __, body):
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.json({"method": self.command, "path": self.path, "body": body.decode(), "headers": headers})

    def of_form(self, _, __, body):
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        parts = email.message_from_bytes(head + body).get_payload()
        self.json([[part.get_param("name", header="content-disposition"), part.get_filename(), part.get_content_type(),
                    part.get_payload()] for part in parts])

    def of_status(self, rest, *_):
        self.answer(int(rest[0]))

    def of_bytes(self, rest, *_):
        self.answer(200, bytes(number % 256 for number in range(int(rest[0]))), "application/octet-stream")

    def of_packed(self, rest, *_):
        # Python has no brotli; a text of 11 bytes stands in it as it is.
        packed = {"gzip": gzip.compress, "deflate": zlib.compress, "br": lambda text: b"\x0b\x05\x80" + text + b"\x03"}[rest[0]]
        self.answer(200, packed(b"packed text"), more=[("content-encoding", rest[0])])

    def of_redirect(self, rest, *_):
        left = int(rest[0])
        if left == 0:
            self.answer(200, b"there")
        else:
            self.answer(302, more=[("location", f"/redirect/{left - 1}")])

    def of_moved(self, rest, *_):
        self.answer(int(rest[0]), more=[("location", "/echo")])

    def of_cookies(self, rest, query, _):
        if rest == ["set"]:
            self.json({}, [("set-cookie", f"{name}={value}; Path=/") for name, value in urllib.parse.parse_qsl(query)])
            return
        pairs = [pair.split("=", 1) for pair in self.headers.get("cookie", "").split("; ") if pair]
        self.json({"cookies": dict(sorted(pairs))})

    def log_message(self, *_):
        pass


def counted(points):
    """How many values there were of each metric, with what tells them apart, and their sum."""
    found = collections.defaultdict(lambda: [0, 0])
    for metric, tags, count, value in points:
        if ELSEWHERE.match(metric):
            continue
        own = found[" ".join([metric, *(f"{name}={tags.get(name, '')}" for name in TOLD.get(metric, ()))])]
        own[0] += count
        # Of a gauge only the last value counts.
        own[1] = 0 if metric in TIMES else value if metric.endswith("_gauge") else own[1] + value
    # Counters are told a second at a time, and trends to three digits.
    return {key: (count if key.split()[0] in (*TOLD, *TIMES) else None, float(f"{value:.3g}")) for key, (count, value) in sorted(found.items())}


def by_squall(script, base):
    """Runs a script; returns what it counted, and printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "points.json")
        line = [SQUALL, "k6", "run", "--quiet", "-e", f"BASE={base}", "--out", f"json={file}", script]
        ran = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if not file.exists():
            raise AssertionError(f"{script}: exit code {ran.returncode}:\n{ran.stderr}")
        points = []
        with open(file, encoding="utf-8") as lines:
            for own in map(json.loads, lines):
                if own["type"] == "Point":
                    points.append((own["metric"], own["data"]["tags"], 1, own["data"]["value"]))
    # How a script ended the run is said beside what it prints.
    said = re.sub(r'level=\w+ msg="the script has ended .*', "", ran.stderr)
    # A plain word has no quotes.
    logs = re.findall(r'level=(\w+) msg=(?:"((?:[^"\\]|\\.)*)"|(\S+)) source=console', said)
    return counted(points), [f"{level} {word or json.loads(chr(34) + text + chr(34))}" for level, text, word in logs]


def by_oracle(script, base):
    ran = subprocess.run(["node", FOLDER / "oracle.mjs", script, "-e", f"BASE={base}"],
                         capture_output=True, text=True, timeout=PATIENCE, check=False)
    if ran.returncode != 0:
        raise AssertionError(f"{script}: node: exit code {ran.returncode}:\n{ran.stderr}")
    said = json.loads(ran.stdout)
    points = []
    for key, (count, value) in said["counts"].items():
        metric, *tags = re.split(r" (?=\w+=)", key)
        points.append((metric, dict(tag.split("=", 1) for tag in tags), count, value))
    return counted(points), said["logs"]


@unittest.skipUnless(shutil.which("node"), "needs Node")
class Oracle(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        cls.base = f"http://127.0.0.1:{cls.site.server_port}"
        threading.Thread(target=cls.site.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.site.shutdown()
        cls.site.server_close()


def compare(name):
    def test(self):
        script = os.fspath(FOLDER / "scripts" / f"{name}.js")
        expected, printed = by_oracle(script, self.base)
        found, said = by_squall(script, self.base)
        self.assertEqual(found, expected)
        self.assertEqual(said, printed)
        self.assertTrue(expected)

    return test


for each in SCRIPTS:
    setattr(Oracle, f"test_{each}", compare(each))
