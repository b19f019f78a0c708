"""A world in which every name and every address is this machine, and a small server answers whatever it is asked: for plans that
name hosts of others, of which nothing may be sent to them. It is a network namespace of its own (Linux, `unshare`, `ip`; root,
or the right to make user namespaces): nothing can leave it."""

import errno
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PAGE = b"""<!DOCTYPE html><html><head><title>Welcome</title></head><body><h1>Hello</h1>
<form action="/login"><input type="hidden" name="csrf" value="abc123"/><input name="user" value="u1"/></form>
<a href="/next?id=7">next</a> <a href="/other?id=8">other</a> <p id="message">All is well: id=42, token=xyz.</p></body></html>"""
JSON = (b'{"id": 42, "name": "one", "token": "xyz", "access_token": "xyz", "status": "ok", "success": true, "data": '
        b'[{"id": 7, "name": "a"}, {"id": 8, "name": "b"}], "items": [{"id": 7}], "url": "/next"}')
INSIDE = "SQUALL_BENCH_ANYWHERE"


def enter():
    """Starts this program again in such a world, if it is not in it; ends it where there can be none."""
    if os.environ.get(INSIDE) == "1":
        return settle()
    for program in ("unshare", "ip", "openssl"):
        if not shutil.which(program):
            sys.exit(f"{program} is not on the PATH")
    command = ["unshare", "--user", "--map-root-user", "--net", "--mount"]
    if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
        sys.exit("no namespace can be made here")
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*command, sys.executable, *sys.argv])


def settle():
    """Makes all addresses this machine's, and names them by the server below."""
    for command in ("ip link set lo up", "ip route add local default dev lo", "ip -6 route add local default dev lo"):
        subprocess.run(command.split(), check=command.split()[1] != "-6", capture_output=True)
    file = Path(tempfile.mkdtemp(prefix="squall-anywhere-")) / "resolv.conf"
    file.write_text("nameserver 127.0.0.1\noptions timeout:1\n")
    subprocess.run(["mount", "--bind", file, os.path.realpath("/etc/resolv.conf")], check=True)
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", 53))
    threading.Thread(target=name_all, args=(names,), daemon=True).start()


def name_all(listener):
    """A name server: every name is 127.0.0.1."""
    while True:
        query, sender = listener.recvfrom(512)
        question = query[12:query.index(b"\0", 12) + 5]
        is_ipv4 = question[-4:-2] == b"\0\1"
        answer = b"\xc0\x0c" + struct.pack(">HHIH4s", 1, 1, 60, 4, bytes([127, 0, 0, 1])) if is_ipv4 else b""
        counts = struct.pack(">HHHH", 1, int(is_ipv4), 0, 0)
        listener.sendto(query[:2] + b"\x81\x80" + counts + question + answer, sender)


class Everything:
    """A server of HTTP, with TLS or without, at many ports: 200 for all, a page or JSON. It may note what it is sent: method, path,
    headers, body, as bytes."""

    def __init__(self, notes=False):
        self.lock, self.ports, self.notes, self.seen = threading.Lock(), {}, notes, []
        folder = tempfile.mkdtemp(prefix="squall-anywhere-")
        pair = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "30", "-subj", "/CN=anywhere", *pair], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")

    def listen(self, ports):
        """At these ports, too."""
        with self.lock:
            for port in set(ports) - set(self.ports):
                listener = self.ports[port] = self.bound(port)
                listener.listen(512)
                threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    @staticmethod
    def bound(port, patience=30):
        """A socket at a port, which the connection of a plan beside may have as its own for a while."""
        end = time.monotonic() + patience
        while True:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("0.0.0.0", port))
                return listener
            except OSError as error:
                listener.close()
                if error.errno != errno.EADDRINUSE or time.monotonic() > end:
                    raise
            time.sleep(0.2)

    def accept(self, listener):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            connection.settimeout(60)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # A record of TLS begins with its kind: a handshake.
            if connection.recv(1, socket.MSG_PEEK) == b"\x16":
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rwb") as stream:
                while self.answer(stream):
                    pass
        except (OSError, ValueError):
            pass  # It was closed.

    def answer(self, stream):
        """One request; whether there may be another."""
        first = stream.readline(65536).split()
        headers = {}
        while (line := stream.readline(65536)).strip():
            name, _, value = line.partition(b":")
            headers[name.strip().lower()] = value.strip()
        body = []
        if len(first) < 2:
            return False
        if first[0] == b"CONNECT":
            return False
        if b"chunked" in headers.get(b"transfer-encoding", b""):
            while size := int(stream.readline().split(b";")[0], 16):
                body.append(stream.read(size + 2)[:-2])
            stream.readline()
        body.append(stream.read(int(headers.get(b"content-length", 0))))
        if self.notes:
            self.seen.append((*first[:2], headers, b"".join(body)))
        asks = headers.get(b"accept", b"") + headers.get(b"content-type", b"")
        is_json = b"json" in asks or re.search(rb"api|json|rest|/v\d", first[1], re.IGNORECASE)
        page, kind = (JSON, b"application/json") if is_json else (PAGE, b"text/html; charset=utf-8")
        sent = b"" if first[0] == b"HEAD" else page
        closes = headers.get(b"connection", b"").lower() == b"close"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: %s\r\n\r\n"
        stream.write(head % (kind, len(page), b"close" if closes else b"keep-alive") + sent)
        stream.flush()
        return not closes
