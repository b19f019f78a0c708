"""JMeter 5.6.3 and squall run the same small plans (`jmeter/plans.py` and the modules beside it) against a server that notes what it is
sent. What it saw of both, in order where there is one thread, and the samples of each thread, row by row, have to be the same. Where a
plan has a reason to differ in a column, `jmeter/differing.py` says which and why, and docs/jmeter.md says it, too.

`JMETER` is JMeter's launcher; without one, or a `jmeter` in the path, the tests are skipped. `ONLY` leaves plans out whose rule
has no such words."""

import concurrent.futures
import csv
import http.server
import json
import os
import queue
import re
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

from both import JMETER, Jmeter, differences, of_csv, of_xml, squall, without
from differing import DIFFERING
from peers import SQUALL
from stub import Lines, Prefixed, Server, TcpServer
import charsets
import functions
import links
import options
import paths
import real
import samplers
import tcp
import unseen
import urls
from judged import JUDGED
from plans import FILES, GRAPHITE, INFLUXDB, PLANS, asserts, csv_data, debug, element, flag, group, plan, request, text, timer, transaction

PLANS = {**PLANS, **functions.PLANS, **links.PLANS, **real.PLANS, **tcp.PLANS, **paths.PLANS, **charsets.PLANS, **samplers.PLANS, **options.PLANS,
         **unseen.PLANS, **urls.PLANS, **JUDGED}
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../docs/jmeter.md")
#: Of how many differences of a plan is told.
MOST_SHOWN = 20
#: How many plans run at the same time.
AT_A_TIME = 4
# One in which clocks are changed: JMeter and squall look at it.
os.environ.setdefault("TZ", "America/New_York")


@unittest.skipUnless(JMETER, "there is no JMeter")
class SamePlans(unittest.TestCase):
    def compare(self, rule, text, jmeter, read, *more):
        """Runs a plan with both, and compares what they did."""
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.jmx")
            for name, content in {"plan.jmx": text, **FILES}.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(content if isinstance(content, bytes) else content.encode())
            seen, rows = [], []
            for name, run in (("theirs", jmeter.run), ("ours", squall)):
                server, samples = Server(), os.path.join(folder, f"{name}.jtl")
                of_bytes = {"tcp": TcpServer(Lines, server), "tcp_prefixed": TcpServer(Prefixed, server)}
                ports = {"port": server, **of_bytes}
                run(plan, samples, *(f"-J{port}={own.server_address[1]}" for port, own in ports.items()), *more)
                for own in ports.values():
                    own.shutdown()
                    own.server_close()
                seen.append(server.seen)
                rows.append(read(samples))
        if any(word in rule for word in ("threads", "thread", "cookies")):
            seen = [sorted(each) for each in seen]
        but = DIFFERING.get(rule, ())
        found = differences(*seen) + differences(*(without(each, but) for each in rows))
        if found:
            self.fail("\n".join(found[:MOST_SHOWN]))
        for column in set(but) - {"threads"} if read is of_csv else ():
            others = set(but) - {column}
            if not differences(*(without(each, others) for each in rows)):
                self.fail(f"{column} is the same by now")

    def test_both_do_the_same(self):
        self.compare_all(PLANS, of_csv)

    def test_reasons_to_differ_are_told(self):
        with open(PAGE) as file:
            page = " ".join(file.read().split())
        for rule, reasons in DIFFERING.items():
            self.assertIn(rule, PLANS)
            for reason in reasons.values():
                self.assertIn(reason, page)

    def test_both_write_the_same_xml(self):
        self.compare_all(IN_XML, of_xml, "-Jjmeter.save.saveservice.output_format=xml")

    def compare_all(self, plans, read, *more):
        """Some at the same time, each with a JMeter of its own: what takes time is that JMeter waits for the end of its threads."""
        free = queue.SimpleQueue()
        for _ in range(AT_A_TIME):
            jmeter = Jmeter()
            self.addCleanup(jmeter.stop)
            free.put(jmeter)

        def compare(rule, text):
            jmeter = free.get()
            try:
                self.compare(rule, text, jmeter, read, *more)
            finally:
                free.put(jmeter)

        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            chosen = {rule: text for rule, text in plans.items() if os.environ.get("ONLY", "") in rule}
            compared = {rule: pool.submit(compare, rule, text) for rule, text in chosen.items()}
            for rule, outcome in compared.items():
                with self.subTest(rule):
                    outcome.result()


LOADS = flag("HTTPSampler.image_parser", True)
#: A plan with rows of all kinds, and what of its rows has to be the same.
OF_ROWS = (
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
    group(timer(700) + request("other", "/o"), "users"))
ROWS = plan(*OF_ROWS, in_turn=True)
COLUMNS = ["label", "responseCode", "responseMessage", "threadName", "success", "failureMessage", "bytes", "grpThreads", "URL"]


def seen_row(row):
    """What of a row has to be the same. JMeter counts the stack of a Java exception as bytes of the response."""
    is_lost = row["responseCode"].startswith("Non HTTP")
    return ["" if is_lost and column == "bytes" else row[column] for column in COLUMNS]


#: Those whose samples are compared in XML.
IN_XML = {"rows of all kinds": ROWS} | {rule: PLANS[rule] for rule in (
    "redirects (36)", "assertions (39, 47)", "pages and the cache, with threads of their own (38, 43)", "programs that are looked at",
    "names of transactions known only while the plan runs (27)", "bytes over TCP: what came is the body")}


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


class Points(http.server.BaseHTTPRequestHandler):
    """Takes lines as InfluxDB does."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.lines.append((self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Paths(socketserver.StreamRequestHandler):
    """Takes lines as Graphite does."""

    def handle(self):
        for line in self.rfile:
            self.server.lines.append(line.decode())


#: What differs from run to run, or is of JMeter's own client.
VARYING = re.compile(r"avg|min|max|pct.*|sb|(min|max|mean)AT")
#: What has lost requests in it: JMeter counts the stack of a Java exception as bytes of the response.
LOST = re.compile(r".*(transaction=(all|dropped),|load\.all\.rb)")


def of_influxdb(lines):
    """The series: measurement and tags, with the fields' names, the sums of those that are counts, and the last numbers of threads."""
    series = {}
    for path, text in lines:
        assert path == "/write?db=load", path
        for line in text.splitlines():
            name, fields, _ = re.fullmatch(r"((?:\\.|[^ ])+) (.*) (\d{13}000000)", line).groups()
            fields = [field.split("=", 1) for field in re.findall(r'(?:"(?:\\.|[^"])*"|[^,])+', fields)]
            own = series.setdefault(name, {"lines": 0})
            own["lines"] += name.startswith("events")
            for field, value in fields:
                if VARYING.fullmatch(field) or field == "rb" and LOST.match(name):
                    own[field] = ""
                elif field in ("startedT", "endedT") or value.startswith('"'):
                    own[field] = value
                else:
                    own[field] = own.get(field, 0) + float(value)
    return series


def of_graphite(lines):
    """The same of paths."""
    series = {}
    for line in lines:
        path, value, _ = re.fullmatch(r"(\S+) (\S+) (\d{10})\n", line).groups()
        last = path.rsplit(".", 1)[1]
        if last == "count" or ".rb." in path and not LOST.match(path):
            series[path] = series.get(path, 0) + float(value)
        else:
            series[path] = float(value) if last in ("startedT", "endedT") else ""
    return series


def threads(points, paths):
    """Takes out how many threads were started and have ended, of the one and the other."""
    own = points["jmeter,application=the\\ shop,transaction=internal,env=ci"]
    names = ("startedT", "endedT")
    return [float(own.pop(name)) for name in names] + [paths.pop(f"load.test.{name}") for name in names]


@unittest.skipUnless(JMETER, "there is no JMeter")
class BackendListeners(unittest.TestCase):
    """Points to InfluxDB and Graphite, under the names that boards for JMeter ask for."""

    maxDiff = None

    def test_both_send_the_same_points(self):
        found, server = [], Server()
        last = group(timer(500) + request("down", "/d"), "down", tag="PostThreadGroup")
        source = plan(INFLUXDB, GRAPHITE, *OF_ROWS, last, in_turn=True)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "plan.jmx"), "w") as file:
                file.write(source)
            for command in ([JMETER], [SQUALL, "jmeter"]):
                influxdb = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Points)
                graphite = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Paths)
                for own in (influxdb, graphite):
                    own.daemon_threads, own.lines = True, []
                    threading.Thread(target=own.serve_forever, daemon=True).start()
                line = [*command, "-n", "-t", "plan.jmx", "-j", "log", f"-Jport={server.server_address[1]}",
                        f"-Jinfluxdb={influxdb.server_address[1]}", f"-Jgraphite={graphite.server_address[1]}"]
                subprocess.run(line, check=True, capture_output=True, cwd=folder, timeout=120)
                time.sleep(0.5)
                found.append((of_influxdb(influxdb.lines), of_graphite(graphite.lines)))
                for own in (influxdb, graphite):
                    own.shutdown()
                    own.server_close()
        server.shutdown()
        server.server_close()
        (their_points, their_paths), (our_points, our_paths) = found
        # JMeter forgets the threads of its set-up when others begin, and all when those of its tear-down do.
        self.assertEqual(threads(their_points, their_paths), [1.0] * 4)
        self.assertEqual(threads(our_points, our_paths), [4.0] * 4)
        self.assertIn("jmeter,application=the\\ shop,transaction=all,statut=all,env=ci", our_points)
        self.assertEqual(their_points, our_points)
        self.assertIn("load.in-it.ok.count", our_paths)
        self.assertEqual(their_paths, our_paths)


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
    """A key store of Java, for squall as openssl converts it, of which each iteration takes another certificate."""

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
        # What squall says to do with such a file.
        run("openssl", "pkcs12", "-in", "clients.p12", "-nodes", "-out", "keys.pem", "-passin", "pass:secret-of-tests")
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
            for name, command, keys in [("theirs", [JMETER], "clients.p12"), ("ours", [SQUALL, "jmeter"], "keys.pem")]:
                server = self.server(folder)
                line = [*command, "-n", "-t", "plan.jmx", "-l", f"{name}.jtl", "-j", f"{name}.log", f"-Jport={server.server_address[1]}",
                        "-Jhttps.use.cached.ssl.context=false", f"-Djavax.net.ssl.keyStore={keys}", "-Djavax.net.ssl.keyStorePassword=secret-of-tests"]
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
            run = [SQUALL, "run", plan, "--json", "--quiet", "--out", folder, "--out", f"samples={samples}"]
            result = json.loads(subprocess.run(run, check=True, capture_output=True, timeout=60).stdout)
            command = [JMETER, "-g", samples, "-o", made, "-j", os.path.join(folder, "log")]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            with open(os.path.join(made, "statistics.json")) as file:
                total = json.load(file)["Total"]
        self.assertEqual(total["sampleCount"], result["totals"]["count"])
        self.assertEqual(total["errorCount"], result["totals"]["errors"])


if __name__ == "__main__":
    unittest.main()
