"""JMeter 5.6.3 and squall run the same small plans (`jmeter/plans.py` and the modules beside it) against a server that notes what it is sent. What
it saw of both, in order where there is one thread, and the samples by label and success have to be the same.

`JMETER` is JMeter's launcher; without one, or a `jmeter` in the path, the tests are skipped. `ONLY` leaves plans out whose rule
has no such words."""

import collections
import csv
import http.server
import json
import os
import shutil
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "jmeter"))

from peers import SQUALL
import charsets
import functions
import links
import options
import paths
import real
import samplers
import tcp
from judged import JUDGED
from plans import FILES, PLANS, asserts, csv_data, debug, element, flag, group, plan, request, text, timer, transaction

PLANS = {**PLANS, **functions.PLANS, **links.PLANS, **real.PLANS, **tcp.PLANS, **paths.PLANS, **charsets.PLANS, **samplers.PLANS, **options.PLANS}
# One in which clocks are changed: JMeter and squall look at it.
os.environ.setdefault("TZ", "America/New_York")
JMETER = os.environ.get("JMETER") or shutil.which("jmeter")
BODY = 'line\n{"id":7} ok'
XML = '<?xml version="1.0"?><r><a>1</a><a>2</a><b k="x"/><b k="y"/></r>'
PAGE = '<html><head><link rel="stylesheet" href="/s.css"><script src="x.js"></script></head><body><img src="/i.png"><img src="/i.png"></body></html>'
BROKEN = '<html><body><img src="/i.png"><img src="/status/404"></body></html>'
JSON = '{"a-b":{"id":"q1"},"list":[{"id":7},{"id":8}],"id":"top"}'


def seen(headers, body):
    """What a request says, without what may differ: its port, the version of Java, what is between the parts of a body."""
    named = {(name.lower(), value.split(" (Java")[0]) for name, value in headers if name.lower() != "host"}
    named = {(name, "Java" if value.startswith("Java/") else value) for name, value in named}
    kind = dict(named).get("content-type", "")
    if kind.startswith("multipart/"):
        body = body.replace(kind.split("boundary=")[1].split(";")[0], "BOUNDARY")
        named = {pair for pair in named if pair[0] not in ("content-type", "content-length")}
    return sorted(named), body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        # Bodies in other charsets keep their bytes.
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="surrogateescape")
        kept, body = seen(self.headers.items(), body)
        with self.server.lock:
            self.server.seen.append((self.command, self.path, kept, body))
        path = self.path.split("?")[0]
        if path == "/drop":
            self.close_connection = True
            return
        status = int(path.rsplit("/", 1)[1]) if path.startswith(("/status/", "/redirect/")) else 200
        text = {"/json": JSON, "/empty": "", "/page": PAGE, "/broken": BROKEN, "/xml": XML}.get(path, BODY).encode()
        if path == "/echo":
            text = body.encode(errors="surrogateescape")
        if path.startswith("/slow/"):
            # Some milliseconds, and then it may lead on: `/slow/200/to/slow/400`.
            time.sleep(int(path.split("/")[2]) / 1000)
            status = 302 if "/to/" in path else 200
        if self.headers.get("If-None-Match"):
            status, text = 304, b""
        self.send_response(status)
        if path.startswith("/redirect/"):
            # By another name this is another host.
            origin = f"http://localhost:{self.server.server_address[1]}" if "/away/" in path else ""
            self.send_header("Location", origin + "/landed?x=1")
        if "/to/" in path:
            self.send_header("Location", path.split("/to")[1])
        for name, value in {
            "/page": [("Content-Type", "text/html")],
            "/broken": [("Content-Type", "text/html")],
            "/xml": [("Content-Type", "application/xml")],
            "/tagged": [("ETag", '"v1"')],
            "/fresh": [("Cache-Control", "max-age=600"), ("ETag", '"v1"')],
        }.get(path, []):
            self.send_header(name, value)
        if path == "/cookie" or path.startswith("/redirect/"):
            self.send_header("Set-Cookie", "sid=abc; Path=/")
        self.send_header("Content-Length", str(len(text)))
        try:
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text)
        except ConnectionError:
            # The client did not wait for it.
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_TRACE = answer
    do_PROPFIND = do_MKCOL = do_MOVE = do_LOCK = do_REPORT = do_SEARCH = answer

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen, self.lock = [], threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Lines(socketserver.StreamRequestHandler):
    """Takes lines, notes them with the number of their connection, and does what each says."""

    def handle(self):
        with self.server.lock:
            number = self.server.connections = self.server.connections + 1
        while line := self.rfile.readline():
            with self.server.lock:
                self.server.seen.append((number, line))
            word, _, rest = line.rstrip(b"\n").partition(b" ")
            if word == b"drop":
                self.wfile.write(rest)
                return
            if word == b"late":
                time.sleep(0.5)
            if word != b"never":
                end = b"" if word == b"part" else b"\n"
                self.wfile.write((rest + end) * (2 if word == b"two" else 1))


class Prefixed(socketserver.StreamRequestHandler):
    """Takes messages behind their length, of two bytes, and gives each back in reverse."""

    def handle(self):
        while length := self.rfile.read(2):
            message = self.rfile.read(int.from_bytes(length, "big"))
            with self.server.lock:
                self.server.seen.append(message)
            self.wfile.write(length + message[::-1])


class TcpServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, handler, server):
        super().__init__(("127.0.0.1", 0), handler)
        self.seen, self.lock, self.connections = server.seen, server.lock, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client may reset its connection: some plans say so."""


def jmeter(folder, plan, port, *more):
    """Samples by label and success."""
    result = os.path.join(folder, "result.jtl")
    command = [JMETER, "-n", "-t", plan, "-l", result, "-j", os.path.join(folder, "log"), f"-Jport={port}",
               "-Jjmeter.save.saveservice.subresults=false", *more]
    environment = dict(os.environ, HEAP="-Xms128m -Xmx512m")
    subprocess.run(command, check=True, capture_output=True, timeout=120, env=environment)
    with open(result, newline="") as file:
        return collections.Counter((row["label"], row["success"] == "true") for row in csv.DictReader(file))


def squall(folder, plan, port, *more):
    """The same of squall; groups are JMeter's transactions."""
    result = os.path.join(folder, "run.json")
    command = [SQUALL, "run", plan, f"-Jport={port}", "--json", result, "-q", "-o", folder, "-w", "1", "--allow-exec", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    with open(result) as file:
        document = json.load(file)
    samples = collections.Counter()
    # A page with its resources is a group of the page's name.
    pages = {row["name"] for row in document["requests"]}
    groups = [row for row in document["groups"] if row["name"] not in pages]
    # What a page loads is named after it and its kind: `page (image)`.
    requests = [row for row in document["requests"] if row["name"].rsplit(" (", 1)[0] not in pages - {row["name"]}]
    for row in requests + groups:
        bad = row["errors"]
        samples[row["name"], True] += row["count"] - bad
        samples[row["name"], False] += bad
    return +samples


@unittest.skipUnless(JMETER, "there is no JMeter")
class SamePlans(unittest.TestCase):
    maxDiff = None

    def test_both_do_the_same(self):
        only = os.environ.get("ONLY", "")
        for rule, text in (PLANS | JUDGED).items():
            if only not in rule:
                continue
            with self.subTest(rule), tempfile.TemporaryDirectory() as folder:
                plan = os.path.join(folder, "plan.jmx")
                for name, content in {"plan.jmx": text, **FILES}.items():
                    with open(os.path.join(folder, name), "wb") as file:
                        file.write(content if isinstance(content, bytes) else content.encode())
                servers, found = [Server(), Server()], []
                for run, server in zip([jmeter, squall], servers):
                    of_bytes = {"tcp": TcpServer(Lines, server), "tcp_prefixed": TcpServer(Prefixed, server)}
                    ports = [f"-J{name}={own.server_address[1]}" for name, own in of_bytes.items()]
                    found.append(run(folder, plan, server.server_address[1], *ports))
                    for own in of_bytes.values():
                        own.shutdown()
                        own.server_close()
                theirs, ours = found
                seen = [server.seen for server in servers]
                if "threads" in rule or "thread" in rule or "cookies" in rule:
                    seen = [sorted(each) for each in seen]
                for server in servers:
                    server.shutdown()
                    server.server_close()
                self.assertEqual(*seen)
                self.assertEqual(theirs, ours)


LOADS = flag("HTTPSampler.image_parser", True)
#: A plan with rows of all kinds, and what of its rows has to be the same.
ROWS = plan(
    group(request("first", "/f"), "setup", tag="SetupThreadGroup"),
    group(request("redirected", "/redirect/302", follow=True)
          + transaction("apart", request("in it", "/in") + request("bad", "/status/500"))
          + transaction("good", request("also", "/also")) + debug("shown")
          + transaction("whole", request("leads", "/redirect/302", follow=True) + debug("of the whole")
                        + transaction("part", request("wrong", "/status/404") + request("then", "/then"), parent=True) + request("last", "/l"), parent=True)
          + transaction("around", request("before", "/b") + transaction("within", request("c", "/c") + request("d", "/status/500"), parent=True))
          + transaction("nothing", "", parent=True)
          + request("page", "/page", more=LOADS)
          + transaction("pages", request("broken", "/broken", more=LOADS))
          + request("asserted", "/a", below=asserts("a", 16, "nope"))
          + request("told", "/a", below=asserts("a", 16, "nope", more=text("Assertion.custom_message", "what it says")))
          + request("nobody", "http://127.0.0.1:9/") + request("dropped", "/drop"), "users", loops=2),
    # It counts among the groups.
    group(request("never", "/n"), "nobody", threads=0),
    # Groups may have one name.
    group(timer(700) + request("other", "/o"), "users"), in_turn=True)
COLUMNS = ["label", "responseCode", "responseMessage", "threadName", "success", "failureMessage", "bytes", "grpThreads", "URL"]


def seen_row(row):
    """What of a row has to be the same. JMeter counts the stack of a Java exception as bytes of the response."""
    is_lost = row["responseCode"].startswith("Non HTTP")
    return ["" if is_lost and column == "bytes" else row[column] for column in COLUMNS]


@unittest.skipUnless(JMETER, "there is no JMeter")
class CommandLine(unittest.TestCase):
    """JMeter's own command line: the file of samples, the lines of the summary, and what is made of them."""

    maxDiff = None

    def run_both(self, folder, server, *more):
        plan_file = os.path.join(folder, "plan.jmx")
        with open(plan_file, "w") as file:
            file.write(ROWS)
        found = []
        for name, command in [("theirs", [JMETER]), ("ours", [SQUALL, "jmeter"])]:
            samples = os.path.join(folder, f"{name}.jtl")
            line = [*command, "-n", "-t", plan_file, "-l", samples, "-j", os.path.join(folder, f"{name}.log")]
            line += [f"-Jport={server.server_address[1]}", "-Gunused=1", "-Dunused=2", *more]
            if name == "ours":
                line += ["-e", "-o", os.path.join(folder, "report")]
            done = subprocess.run(line, check=True, capture_output=True, text=True, timeout=120)
            found.append((samples, done.stdout))
        return found

    def test_both_write_the_same_rows(self):
        server = Server()
        with tempfile.TemporaryDirectory() as folder:
            (theirs, said), (ours, our_words) = self.run_both(folder, server)
            rows = []
            for path in (theirs, ours):
                with open(path, newline="") as file:
                    rows.append([seen_row(row) for row in csv.DictReader(file)])
            self.assertEqual(*rows)
            with open(theirs) as one, open(ours) as other:
                self.assertEqual(one.readline(), other.readline())
            # Without what differs from run to run: times and rates.
            summary = [[line for line in text.splitlines() if line.startswith("summary =")][-1] for text in (said, our_words)]
            counts = [[int(line.split()[2]), int(line.split("Err:")[1].split()[0])] for line in summary]
            # Here, too: the seven samples within parent samples, of which two fail, of each of two iterations; and the transaction
            # with nothing in it, of the first one.
            self.assertEqual([counts[0][0] + 14 + 1, counts[0][1] + 4], counts[1])
            self.assertTrue(os.path.exists(os.path.join(folder, "report", "index.html")))
            made = os.path.join(folder, "dashboard")
            command = [JMETER, "-g", ours, "-o", made, "-j", os.path.join(folder, "log")]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            with open(os.path.join(made, "statistics.json")) as file:
                self.assertEqual(json.load(file)["redirected-1"]["sampleCount"], 2)
            # Without what is in them.
            both = self.run_both(folder, server, "-f", "-Jjmeter.save.saveservice.subresults=false")
            labels = []
            for path, _ in both:
                with open(path, newline="") as file:
                    labels.append([row["label"] for row in csv.DictReader(file)])
            self.assertEqual(*labels)
            self.assertNotIn("leads", labels[0])
        server.shutdown()
        server.server_close()


class Certified(http.server.BaseHTTPRequestHandler):
    """Notes whose certificate came with each request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        shown = self.connection.getpeercert() or {}
        name = dict(pair for parts in shown.get("subject", ()) for pair in parts).get("commonName")
        self.server.seen.append((self.path, name))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@unittest.skipUnless(JMETER and shutil.which("keytool"), "there is no JMeter, or no keytool")
class ClientCertificates(unittest.TestCase):
    """A key store of Java, of which each iteration takes another certificate."""

    maxDiff = None

    def server(self, folder):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Certified)
        server.daemon_threads, server.seen = True, []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
        context.load_verify_locations(os.path.join(folder, "clients.pem"))
        context.verify_mode = ssl.CERT_OPTIONAL
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def keys(self, folder):
        def run(*command):
            return subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, timeout=60).stdout

        store = ["-keystore", "clients.p12", "-storepass", "secret-of-tests", "-storetype", "PKCS12"]
        clients = ""
        for name in ("alice", "bob"):
            run("keytool", "-genkeypair", "-alias", name, "-keyalg", "EC", "-groupname", "secp256r1", "-dname", f"CN={name}", "-validity", "30", *store)
            clients += run("keytool", "-exportcert", "-rfc", "-alias", name, *store)
        with open(os.path.join(folder, "clients.pem"), "w") as file:
            file.write(clients)
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=127.0.0.1",
            "-days", "30", "-keyout", "server.key", "-out", "server.pem")

    def test_both_show_the_same_certificates(self):
        https = text("HTTPSampler.protocol", "https")
        config = element("KeystoreConfig", "keys", text("clientCertAliasVarName", "who") + text("preload", "true") + text("startIndex", "0")
                         + text("endIndex", ""), attributes='guiclass="TestBeanGUI"')
        below = config + csv_data("who.csv", "who") + request("first", "/${who}/1", more=https) + request("second", "/${who}/2", more=https)
        source = plan(group(below, loops=3, more=flag("ThreadGroup.same_user_on_next_iteration", False)))
        with tempfile.TemporaryDirectory() as folder:
            self.keys(folder)
            for name, content in {"plan.jmx": source, "who.csv": "alice\nbob\nalice\n"}.items():
                with open(os.path.join(folder, name), "w") as file:
                    file.write(content)
            for name, command in [("theirs", [JMETER]), ("ours", [SQUALL, "jmeter"])]:
                server = self.server(folder)
                line = [*command, "-n", "-t", "plan.jmx", "-l", f"{name}.jtl", "-j", f"{name}.log", f"-Jport={server.server_address[1]}",
                        "-Jhttps.use.cached.ssl.context=false", "-Djavax.net.ssl.keyStore=clients.p12", "-Djavax.net.ssl.keyStorePassword=secret-of-tests"]
                subprocess.run(line, check=True, capture_output=True, cwd=folder, timeout=120)
                seen = [(f"/{who}/{number}", who) for who in ("alice", "bob", "alice") for number in (1, 2)]
                self.assertEqual(server.seen, seen, name)
                server.shutdown()
                server.server_close()


@unittest.skipUnless(JMETER, "there is no JMeter")
class Dashboard(unittest.TestCase):
    def test_jmeters_dashboard_is_made_of_our_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            samples, made = os.path.join(folder, "all.jtl"), os.path.join(folder, "dashboard")
            plan = os.path.join(folder, "plan.yaml")
            with open(plan, "w") as file:
                file.write("target: builtin\nscenarios: {a: {load: {users: 5, iterations: 100}, steps: [{get: /}]}}\n")
            run = [SQUALL, "run", plan, "--json", "--quiet", "--out", folder, "--samples", samples]
            result = json.loads(subprocess.run(run, check=True, capture_output=True, timeout=60).stdout)
            command = [JMETER, "-g", samples, "-o", made, "-j", os.path.join(folder, "log")]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            with open(os.path.join(made, "statistics.json")) as file:
                total = json.load(file)["Total"]
        self.assertEqual(total["sampleCount"], result["totals"]["count"])
        self.assertEqual(total["errorCount"], result["totals"]["errors"])


if __name__ == "__main__":
    unittest.main()
