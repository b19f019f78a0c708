"""A network of its own in which every address is this machine, every name has such an address, and every port that is asked
for answers 200 with JSON, plain and with TLS. What runs in it reaches nothing else.

Needs root, or the right to make namespaces: `unshare --user --map-root-user --net`."""

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INSIDE = "SQUALL_K6_CORPUS"

# What scripts look for in an answer: who they are, what there is, and the first of it.
THING = {"id": 1, "name": "name", "title": "title", "status": "ok", "price": 1, "success": True, "code": 200, "message": "ok",
         "token": "token", "access_token": "token", "accessToken": "token", "refreshToken": "token"}
ANSWER = json.dumps({**THING, "user": THING, "result": THING, "items": [THING], "results": [THING], "total": 1, "count": 1,
                     "data": {**THING, "items": [THING], "content": [THING], "user": THING}}).encode()


def enter():
    """Runs this program once more, in a network of its own; returns in there."""
    if os.environ.get(INSIDE) != "1":
        made = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
        # Names are looked up where this file says, which is the server below.
        script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
        resolver = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"squall-resolv-{os.getpid()}")
        with open(resolver, "w", encoding="ascii") as file:
            file.write("nameserver 127.0.0.1\n")
        ran = subprocess.run([*made, "--mount", "sh", "-c", script, resolver, sys.executable, *sys.argv],
                             env={**os.environ, INSIDE: "1"}, check=False)
        os.unlink(resolver)
        sys.exit(ran.returncode)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # Every address of IPv4 is one of this machine.
    subprocess.run(["ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo"], check=True)


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = self.headers.get("content-length")
        if length:
            self.rfile.read(int(length))
        elif "chunked" in self.headers.get("transfer-encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(ANSWER)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(ANSWER)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Speaks TLS to whom begins so."""

    daemon_threads = True
    request_queue_size = 128
    tls = None

    def finish_request(self, request, client_address):
        if request.recv(1, socket.MSG_PEEK) == b"\x16":
            request = self.tls.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, *_):
        # The client went away.
        pass


def names():
    """Says of every name that it is 127.0.0.1, and that it has no other record."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.bind(("0.0.0.0", 53))
        while True:
            query, client = asked.recvfrom(4096)
            end = query.index(b"\0", 12) + 5
            found = query[end - 4:end - 2] == b"\0\x01"
            answer = b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x01" if found else b""
            asked.sendto(query[:2] + b"\x81\x80\0\x01" + (b"\0\x01" if found else b"\0\0") + b"\0\0\0\0" + query[12:end] + answer, client)


def serve(ports, folder):
    """Answers on these ports, with a certificate that it makes in a folder."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem",
                    "-days", "2", "-subj", "/CN=localhost"], check=True, capture_output=True)
    Server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    Server.tls.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
    threading.Thread(target=names, daemon=True).start()
    for port in ports:
        threading.Thread(target=Server(("0.0.0.0", port), Answer).serve_forever, daemon=True).start()
