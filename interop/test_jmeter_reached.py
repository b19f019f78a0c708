"""JMeter 5.6.3 and squall run plans whose requests go through proxies and from addresses of their own. What proxies and servers saw of both,
and the rows of samples, have to be the same."""

import csv
import http.server
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "jmeter"))

from peers import SQUALL
from plans import csv_data, element, group, plan, request, text, variables
from proxies import Proxy

JMETER = os.environ.get("JMETER") or shutil.which("jmeter")
COLUMNS = ["label", "responseCode", "responseMessage", "success", "URL"]
PASSWORD = "s%c: r@t"


class Handler(http.server.BaseHTTPRequestHandler):
    """Notes what came, and from where."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        told = [name for name, _ in self.headers.items() if name.lower().startswith("proxy-")]
        self.server.seen.append((self.path, self.client_address[0], told))
        self.send_response(302 if self.path == "/leads" else 200)
        if self.path == "/leads":
            self.send_header("Location", "/there")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def server(folder=None):
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads, made.seen = True, []
    if folder:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
        made.socket = context.wrap_socket(made.socket, server_side=True)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    return made


def to(host, port="${port}", protocol="http"):
    return text("HTTPSampler.domain", host) + text("HTTPSampler.port", port) + text("HTTPSampler.protocol", protocol)


def proxied(host="127.0.0.1", port="${__P(proxy)}", user="ada", password="${word}"):
    of = {"Host": host, "Port": port, "User": user, "Pass": password}
    return "".join(text(f"HTTPSampler.proxy{name}", value) for name, value in of.items())


def own(name, path, more):
    """A request with a place of its own."""
    return request(name, path, more=more).replace(text("HTTPSampler.domain", ""), "", 1)


DEFAULTS = element("ConfigTestElement", "defaults", proxied(), attributes='guiclass="HttpDefaultsGui"')
TLS = to("shop.test", "${__P(tls)}", "https")
#: Requests with proxies of their own, and what may go wrong there.
PROXIES = plan(group(
    variables(port="${__P(port)}", word=PASSWORD, nobody="")
    + own("plain", "/plain", to("shop.test") + proxied())
    + own("again", "/again", to("shop.test") + proxied())
    + own("secure", "/secure", TLS + proxied())
    + own("leads", "/leads", to("shop.test") + proxied()).replace('follow_redirects">false', 'follow_redirects">true')
    + own("none", "/none", to("127.0.0.1"))
    + own("empty", "/empty", to("127.0.0.1") + proxied("${nobody}"))
    + own("no port", "/port", to("127.0.0.1") + proxied(port="x"))
    + own("refused", "/refused", to("refused.test", "443", "https") + proxied())
    + own("refused plain", "/refused", to("refused.test", "81") + proxied())
    + own("unknown", "/unknown", TLS + proxied(password="other"))
    + own("unknown plain", "/unknown", to("shop.test") + proxied(user=""))
    + own("nobody", "/nobody", to("shop.test") + proxied(port="9"))
    + own("nobody secure", "/nobody", TLS + proxied(port="9"))
    + element("GenericController", "simple", below=DEFAULTS + own("of defaults", "/defaults", to("shop.test")), attributes='guiclass="LogicControllerGui"')))
#: The same of the command line.
BARE = plan(group(
    variables(port="${__P(port)}")
    + own("plain", "/plain", to("shop.test")) + own("secure", "/secure", TLS) + own("leads", "/leads", to("shop.test"))
    + own("near", "/near", to("127.0.0.1")) + own("below", "/below", to("localhost"))
    + own("own", "/own", to("shop.test") + proxied(port="9"))))
#: Requests from addresses of their own.
SOURCES = plan(group(
    variables(port="${__P(port)}") + csv_data("from.csv", "from,foreign")
    + own("known", "/known", to("127.0.0.1") + text("HTTPSampler.ipSource", "127.0.0.2"))
    + own("rows", "/rows", to("127.0.0.1") + text("HTTPSampler.ipSource", "${from}"))
    + own("same", "/same", to("127.0.0.1") + text("HTTPSampler.ipSource", "${from}"))
    + own("usual", "/usual", to("127.0.0.1"))
    + own("foreign", "/foreign", to("127.0.0.1") + text("HTTPSampler.ipSource", "${foreign}")), loops=3))


@unittest.skipUnless(JMETER, "there is no JMeter")
class Reached(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = self.folder.name
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=shop.test", "-days", "30",
                        "-keyout", "server.key", "-out", "server.pem"], check=True, capture_output=True, cwd=self.path)

    def run_both(self, source, *more, **files):
        """For JMeter and for squall: what proxy and servers saw, and the rows."""
        for name, content in {"plan.jmx": source, **{f"{name}.csv": rows for name, rows in files.items()}}.items():
            with open(os.path.join(self.path, name), "w") as file:
                file.write(content)
        found = []
        for name, command in [("theirs", [JMETER]), ("ours", [SQUALL, "jmeter"])]:
            plain, tls, proxy = server(), server(self.path), Proxy(f"ada:{PASSWORD}")
            ports = {"port": plain.server_address[1], "tls": tls.server_address[1], "proxy": proxy.server_address[1]}
            line = [*command, "-n", "-t", "plan.jmx", "-l", f"{name}.jtl", "-j", f"{name}.log", "-f", *[f"-J{key}={port}" for key, port in ports.items()],
                    "-Jjmeter.save.saveservice.subresults=false", *[word.format(**ports) for word in more]]
            done = subprocess.run(line, capture_output=True, text=True, cwd=self.path, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(self.path, f"{name}.jtl"), newline="") as file:
                rows = [[row[column] for column in COLUMNS] for row in csv.DictReader(file)]
            for port, word in [(port, word) for word, port in ports.items()]:
                rows = [[cell.replace(str(port), word) for cell in row] for row in rows]
            found.append({"proxy": proxy.seen, "plain": plain.seen, "tls": tls.seen, "rows": rows})
            for each in (plain, tls, proxy):
                each.shutdown()
                each.server_close()
        return found

    def test_proxies_of_requests(self):
        theirs, ours = self.run_both(PROXIES)
        self.assertEqual(theirs, ours)

    def test_a_proxy_of_the_command_line(self):
        given = ["-H", "127.0.0.1", "-P", "{proxy}", "-N", "127.0.0.1|*.near.test|localhost", "-u", "ada", "-a", PASSWORD]
        theirs, ours = self.run_both(BARE, *given)
        self.assertEqual(theirs, ours)
        self.assertEqual([path for _, _, _, path in ours["proxy"]], ["/plain", "", "/leads"])

    def test_addresses_of_requests(self):
        # TEST-NET-3, RFC 5737
        rows = "".join(f"127.0.0.{last},203.0.113.9\n" for last in (3, 4, 3))
        theirs, ours = self.run_both(SOURCES, **{"from": rows})
        self.assertEqual(theirs, ours)
        theirs, ours = self.run_both(SOURCES, "-Jhttpclient.localaddress=127.0.0.9", **{"from": rows})
        self.assertEqual(theirs, ours)


if __name__ == "__main__":
    unittest.main()
