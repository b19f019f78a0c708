"""A small shop for test_counts.py, with Python's own server: it answers, fails, resets and keeps silent as its paths
say, and writes a line to its log for each request, when it has decided what becomes of it. Usage: shop.py PORT LOG"""

import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

LOG = open(sys.argv[2], "a")
LOCK = threading.Lock()
FIXED = {"/moved": 302, "/broken": 500, "/missing": 404, "/reset": "reset", "/never": "never"}


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def decide(self, path, query):
        if path == "/login":
            return 200 if query.get("password") == ["right"] else 401
        if path == "/home":
            return 200 if "sid=1" in self.headers.get("Cookie", "") else 403
        return FIXED.get(path, 200)

    def answer(self):
        url = urlsplit(self.path)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = self.decide(url.path, parse_qs(url.query))
        with LOCK:
            LOG.write(f"{self.command} {url.path} {status}\n")
            LOG.flush()
        if status == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif status == "never":
            time.sleep(5)
            self.close_connection = True
        else:
            self.send_response(status)
            for name, value in (("Content-Length", "11"), ("Set-Cookie", "sid=1; Path=/"), ("Location", "/page")):
                if name == "Content-Length" or (name, url.path, status) in (("Set-Cookie", "/login", 200),
                                                                            ("Location", "/moved", 302)):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"<p>shop</p>")

    do_GET = do_POST = answer

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            pass

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
