"""A server that notes what it is sent, over HTTP and over TCP, and answers as its paths say."""

import http.server
import socketserver
import threading
import time

BODY = 'line\n{"id":7} ok'
XML = '<?xml version="1.0"?><r><a>1</a><a>2</a><b k="x"/><b k="y"/></r>'
PAGE = '<html><head><link rel="stylesheet" href="/s.css"><script src="x.js"></script></head><body><img src="/i.png"><img src="/i.png"></body></html>'
BROKEN = '<html><body><img src="/i.png"><img src="/status/404"></body></html>'
JSON = '{"a-b":{"id":"q1"},"list":[{"id":7},{"id":8}],"id":"top"}'


def seen(headers, body):
    """What a request says, without what may differ: its port, and what is between the parts of a body."""
    named = [(name.lower(), value) for name, value in headers if name.lower() != "host"]
    kind = dict(named).get("content-type", "")
    if kind.startswith("multipart/"):
        body = body.replace(kind.split("boundary=")[1].split(";")[0], "BOUNDARY")
        named = [pair for pair in named if pair[0] not in ("content-type", "content-length")]
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
            away = f"http://localhost:{self.server.server_address[1]}/landed?x=1"
            places = {"away": away, "round": path, "myapp": "myapp://x", "nowhere": "http://[127.0.0.1/x"}
            self.send_header("Location", places.get(path.split("/")[2], "/landed?x=1"))
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
