"""Real servers for the tests: nginx, plain and with TLS, on ports of its own, and squall's target."""

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from ports import free_port

SQUALL = os.environ.get("SQUALL", str(Path(__file__).resolve().parent.parent / "target/release/squall"))


# How long is waited for what must come, in seconds: machines that run tests are shared, and busy.
PATIENCE = 120


def until(is_so, what):
    """Waits until something is so."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(f"waited for {PATIENCE} s: {what}")
        time.sleep(0.05)


def wait_for(port):
    def listens():
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False

    until(listens, f"nothing listens on port {port}")


def certify(folder):
    """Makes cert.pem and key.pem in a folder: a certificate for this machine that nobody else has signed."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-addext", "basicConstraints=critical,CA:FALSE"],
        check=True, capture_output=True)


class Process:
    def __init__(self, command, port):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.port = port
        wait_for(port)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE)


INSTALLED = Path(__file__).resolve().parent.parent / "target/interop"


class Prometheus(Process):
    """Prometheus' own storage, handlers and scraper; see prometheus/main.go."""

    def __init__(self, folder, *scraping):
        self.scraped, port = free_port(), free_port()
        super().__init__([INSTALLED / "bin/prometheus", f"127.0.0.1:{port}", f"{folder}/data", f"127.0.0.1:{self.scraped}",
                          *scraping], port)


class Collector(Process):
    """A collector of OpenTelemetry (collector/main.go), which takes OTLP over HTTP, gRPC, and gRPC with TLS by cert.pem of the
    folder. It answers what `backend` (host and port), to which it hands on all of it as JSON, has answered."""

    def __init__(self, folder, backend):
        self.calls, self.secure, port = free_port(), free_port(), free_port()
        certify(Path(folder))
        settings = Path(folder, "collector.yaml")
        settings.write_text(f"""
receivers:
  otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}, grpc: {{endpoint: "127.0.0.1:{self.calls}"}}}}}}
  otlp/secure:
    protocols:
      grpc: {{endpoint: "127.0.0.1:{self.secure}", tls: {{cert_file: {folder}/cert.pem, key_file: {folder}/key.pem}}}}
exporters:
  otlphttp:
    endpoint: http://{backend}
    encoding: json
    compression: none
    sending_queue: {{enabled: false}}
    retry_on_failure: {{enabled: false}}
service: {{pipelines: {{metrics: {{receivers: [otlp, otlp/secure], exporters: [otlphttp]}}}}}}
""")
        super().__init__([INSTALLED / "bin/collector", "--config", f"file:{settings}"], port)
        wait_for(self.calls)
        wait_for(self.secure)


class Nginx(Process):
    """nginx with pages of several kinds, `/status`, one whose connections are closed after 2 s (`/brief`), TLS (and HTTP/2 by ALPN) on a second port, and HTTP/2
    without TLS on a third."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="squall-interop-"))
        self.tls_port, self.http2_port, self.few_port = free_port(), free_port(), free_port()
        port = free_port()
        certify(self.folder)
        html = self.folder / "html"
        html.mkdir()
        (html / "page.html").write_text("<html><body>" + "<p>hello</p>" * 200 + "</body></html>")
        (html / "large.bin").write_bytes(b"x" * (8 << 20))
        os.chmod(self.folder, 0o755)
        user = "user root;" if os.geteuid() == 0 else ""
        temps = "".join(f"{kind}_temp_path {self.folder}/{kind};"
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(f"""
{user} daemon off; worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/error.log;
events {{ worker_connections 4000; }}
http {{ access_log off; {temps} default_type text/html; root {html};
  gzip on; gzip_types text/html; gzip_min_length 1;
  server {{ listen 127.0.0.1:{port}; listen 127.0.0.1:{self.tls_port} ssl http2;
    listen 127.0.0.1:{self.http2_port} http2;
    ssl_certificate {self.folder}/cert.pem; ssl_certificate_key {self.folder}/key.pem;
    location = /status {{ stub_status; }}
    location = /ok {{ return 200 "ok"; }}
    location = /brief {{ keepalive_timeout 2s; return 200 "ok"; }}
    location = /moved {{ return 302 /ok; }}
    location = /gone {{ return 410; }}
    location /kept/ {{ client_max_body_size 0; dav_methods PUT; create_full_put_path on; }}
    location = /early {{ client_max_body_size 0; return 200 "early"; }} }}
  server {{ listen 127.0.0.1:{self.few_port} http2; keepalive_requests 3; http2_max_concurrent_streams 1;
    location / {{ return 200 "few"; }} }}
  server {{ listen 127.0.0.1:{port + 1}; keepalive_requests 3; location / {{ return 200 "few"; }} }} }}
""")
        super().__init__(["nginx", "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"),
                          "-e", str(self.folder / "error.log")], port)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def status(self):
        """(accepted, requests) so far, our own looks left out."""
        text = urllib.request.urlopen(self.url("/status")).read().decode()
        accepted, _, requests = map(int, re.findall(r"\d+", text.split("\n")[2]))
        self.looks = getattr(self, "looks", 0) + 1
        return accepted - self.looks, requests - self.looks

    def counted(self, *arguments):
        """Runs squall; returns its result, and how many connections and requests came meanwhile."""
        before = self.status()
        result = squall(*arguments)
        after = self.status()
        return result, after[0] - before[0], after[1] - before[1]


def squall(*arguments, code=0):
    """Runs squall with its JSON result on stdout; returns the result."""
    ran = subprocess.run([SQUALL, *arguments, "--quiet", "--json", "-"], capture_output=True, text=True, timeout=2 * PATIENCE)
    if ran.returncode != code:
        raise AssertionError(f"exit code {ran.returncode}, not {code}:\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout)


class Influxdb:
    """InfluxDB 1.6, with a database of one name."""

    def __init__(self, folder, database):
        self.port, self.database = free_port(), database
        settings = Path(folder, "influxdb.conf")
        settings.write_text(f"""reporting-disabled = true
bind-address = "127.0.0.1:{free_port()}"
[meta]
dir = "{folder}/meta"
[data]
dir = "{folder}/data"
wal-dir = "{folder}/wal"
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:{self.port}"
log-enabled = false
[logging]
level = "error"
""")
        influxd = Path(__file__).resolve().parent.parent / "target/interop/influxdb/usr/bin/influxd"
        self.process = Process([influxd, "run", "-config", settings], self.port)
        self.ask(f'CREATE DATABASE "{database}"', method="POST")

    def ask(self, text, method="GET"):
        """The series that a query finds."""
        query = urllib.parse.urlencode({"q": text, "db": self.database})
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/query?{query}", method=method)
        [result] = json.loads(urllib.request.urlopen(request, timeout=PATIENCE).read())["results"]
        if "error" in result:
            raise AssertionError(f"{result['error']}: {text}")
        return result.get("series", [])

    def stop(self):
        self.process.stop()
