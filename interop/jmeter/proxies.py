"""A proxy that notes what it is told, and lets those pass that it knows. Every host is this machine, but for `refused.test`."""

import base64
import select
import socket
import socketserver
import threading
from urllib.parse import urlsplit


class Conversation(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            line = self.rfile.readline().decode().rstrip()
            if not line:
                return
            named = {}
            while field := self.rfile.readline().decode().rstrip():
                name, value = field.split(": ", 1)
                named[name.lower()] = value
            if not self.pass_on(line, named):
                return

    def pass_on(self, line, named):
        """Whether another request may follow."""
        method, target, _ = line.split(" ")
        shown = named.get("proxy-authorization")
        known = self.server.credentials
        if known and shown != "Basic " + base64.b64encode(known.encode()).decode():
            self.server.refused += 1
            self.wfile.write(b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="p"\r\nContent-Length: 0\r\n\r\n')
            return True
        where = target if method == "CONNECT" else urlsplit(target).netloc
        host, _, port = where.partition(":")
        self.server.seen.append((method, host, named["host"].partition(":")[0], urlsplit(target).path if method != "CONNECT" else ""))
        if host == "refused.test":
            self.wfile.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno")
            return True
        with socket.create_connection(("127.0.0.1", int(port or 80))) as other:
            if method == "CONNECT":
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self.relay(other)
                return False
            fields = {name: value for name, value in named.items() if not name.startswith("proxy-") and name != "connection"}
            head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            other.sendall(f"{method} {urlsplit(target).path} HTTP/1.1\r\n{head}\r\n".encode())
            # The servers of these tests send heads alone.
            response = b""
            while not response.endswith(b"\r\n\r\n"):
                response += other.recv(65536)
            self.wfile.write(response)
        return True

    def relay(self, other):
        while True:
            for ready in select.select([self.connection, other], [], [])[0]:
                piece = ready.recv(65536)
                if not piece:
                    return
                (other if ready is self.connection else self.connection).sendall(piece)


class Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, credentials=None):
        super().__init__(("127.0.0.1", 0), Conversation)
        self.credentials, self.seen, self.refused = credentials, [], 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client may reset its connection."""
