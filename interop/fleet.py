"""A fleet for the tests: a nats-server, nodes (in network namespaces where those may be made), and a server that counts.

Nodes in namespaces reach the NATS server and the counting server at addresses of their own, so that a node can be cut off from one
alone. Nothing leaves the machine."""

import collections
import contextlib
import http.server
import itertools
import json
import os
import socket
import socketserver
import subprocess
import threading
from pathlib import Path

from peers import PATIENCE, SQUALL, until
from ports import free_port

NATS = Path(__file__).resolve().parent.parent / "target/interop/bin/nats-server"
TOKEN = "of-the-tests"


def namespaces():
    """Whether this process may make network namespaces."""
    if os.geteuid() != 0:
        return False
    name = f"squall-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    return made.returncode == 0


class Network:
    """Namespaces `squall-PID-0`... each with a line to this machine, where two addresses are for the servers. Without namespaces
    all are on loopback, and nobody can be cut off."""

    numbers = itertools.count()

    def __init__(self, count):
        self.prefix = f"squall-{os.getpid()}-{next(self.numbers)}"
        self.count = count if namespaces() else 0
        self.block = self.free_block() if self.count else None
        self.nats, self.target = (f"{self.block}.255.1", f"{self.block}.255.2") if self.count else ("127.0.0.1", "127.0.0.1")
        for number in range(self.count):
            name, line = f"{self.prefix}-{number}", f"sq{self.block.split('.')[1]}n{number}"
            self.ip("netns", "add", name)
            self.ip("link", "add", line, "type", "veth", "peer", "name", "eth0", "netns", name)
            self.ip("address", "add", f"{self.block}.{number}.1/30", "dev", line)
            self.ip("link", "set", line, "up")
            self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("-n", name, "address", "add", f"{self.block}.{number}.2/30", "dev", "eth0")
            self.ip("-n", name, "link", "set", "eth0", "up")
            self.ip("-n", name, "route", "add", "default", "via", f"{self.block}.{number}.1")

    def free_block(self):
        """The beginning of addresses that no other fleet has: its servers' are there, or they are not."""
        for block in (f"10.{number}" for number in range(77, 250)):
            added = subprocess.run(["ip", "address", "add", f"{block}.255.1/32", "dev", "lo"], capture_output=True, check=False)
            if added.returncode == 0:
                self.ip("address", "add", f"{block}.255.2/32", "dev", "lo")
                return block
        raise AssertionError("no addresses are left for a fleet")

    @staticmethod
    def ip(*words, check=True):
        subprocess.run(["ip", *words], check=check, capture_output=True)

    def command(self, number):
        return ["ip", "netns", "exec", f"{self.prefix}-{number}"] if number < self.count else []

    def cut(self, number):
        """The node does not reach the NATS server, but its target."""
        self.ip("-n", f"{self.prefix}-{number}", "route", "add", "blackhole", f"{self.nats}/32")

    def heal(self, number):
        self.ip("-n", f"{self.prefix}-{number}", "route", "delete", "blackhole", f"{self.nats}/32")

    def close(self):
        for number in range(self.count):
            self.ip("netns", "delete", f"{self.prefix}-{number}", check=False)
        if self.count:
            for address in (self.nats, self.target):
                self.ip("address", "delete", f"{address}/32", "dev", "lo", check=False)


class Counter:
    """A server that counts what it is asked for, and shares no code with squall."""

    def __init__(self, address):
        counter = self
        self.lock, self.seen = threading.Lock(), collections.Counter()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                with counter.lock:
                    counter.seen[self.path] += 1
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_):
                """Connections of nodes that were killed end anyhow."""

        self.server = Server((address, 0), Handler)
        self.url = f"http://{address}:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def total(self):
        with self.lock:
            return sum(self.seen.values())

    def twice(self, word):
        """What stands more than once at this place of the paths, which count from 1."""
        with self.lock:
            words = collections.Counter()
            for path, count in self.seen.items():
                words[path.split("/")[word]] += count
        return sorted(word for word, count in words.items() if count > 1)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Nats:
    """nats-server, which can be killed and started anew with what it has stored."""

    def __init__(self, folder, address, has_jetstream=True):
        self.folder, self.address, self.port = Path(folder), address, free_port()
        jetstream = f'jetstream {{ store_dir: "{self.folder}/store" }}\n' if has_jetstream else ""
        (self.folder / "server.conf").write_text(
            f'listen: "{address}:{self.port}"\nauthorization {{ token: "{TOKEN}" }}\nmax_payload: 8MB\n{jetstream}')
        self.url = f"nats://{TOKEN}@{address}:{self.port}"
        self.process = None
        self.start()

    def start(self):
        with (self.folder / "nats.log").open("ab") as log:
            self.process = subprocess.Popen([NATS, "--config", self.folder / "server.conf"], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log)

        def listens():
            with contextlib.suppress(OSError), socket.create_connection((self.address, self.port), timeout=1):
                return True
            return False

        until(listens, "nats-server does not listen")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def publish(self, subject, text):
        """Publishes as anybody could who has the token."""
        self.call(subject, text.encode())

    def call(self, subject, body):
        """A request that is answered by JetStream, in the protocol's own words."""
        with socket.create_connection((self.address, self.port), timeout=PATIENCE) as connection, \
                connection.makefile("rb") as lines:
            lines.readline()
            words = body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.sendall(b'CONNECT {"verbose":false,"auth_token":"%s"}\r\nSUB _INBOX.test.1 1\r\n' % TOKEN.encode()
                               + b"PUB %s _INBOX.test.1 %d\r\n%s\r\n" % (subject.encode(), len(words), words))
            while line := lines.readline():
                if line.startswith(b"MSG"):
                    return json.loads(lines.read(int(line.split()[-1])))
                if line.startswith(b"PING"):
                    connection.sendall(b"PONG\r\n")
        raise AssertionError(f"no answer to {subject}")

    def runs(self):
        """Streams of runs."""
        names = self.call("$JS.API.STREAM.NAMES", {})["streams"] or []
        return [name for name in names if name.startswith("squall_")]

    def forget(self, stream, count):
        """Deletes so many of the last messages of a stream, which it has acknowledged."""
        last = self.call(f"$JS.API.STREAM.INFO.{stream}", {})["state"]["last_seq"]
        deleted = [self.call(f"$JS.API.STREAM.MSG.DELETE.{stream}", {"seq": number, "no_erase": True}).get("success", False)
                   for number in range(max(last - count + 1, 1), last + 1)]
        return sum(deleted)


class Fleet:
    """A server, so many nodes, and what they send to."""

    def __init__(self, folder, nodes):
        self.folder = Path(folder)
        self.network = Network(nodes + 1)
        self.counter = Counter(self.network.target)
        self.nats = Nats(folder, self.network.nats)
        self.nodes, self.controller = {}, None
        for number in range(nodes):
            self.start(number)

    def start(self, number, *options):
        """Starts a node, also one that was killed, with its spool."""
        with (self.folder / f"node-{number}.log").open("ab") as log:
            self.nodes[number] = subprocess.Popen(
                [*self.network.command(number), SQUALL, "node", "--nats", self.nats.url, "--name", f"n{number}", "--once",
                 "--allow-hosts", self.network.target, "--spool", str(self.folder / f"spool-{number}"), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, number):
        self.nodes[number].kill()
        self.nodes[number].wait()

    def control(self, plan, nodes, *options):
        """Starts a controller."""
        (self.folder / "plan.yaml").write_text(plan)
        with (self.folder / "controller.log").open("ab") as log:
            self.controller = subprocess.Popen(
                [SQUALL, "run", self.folder / "plan.yaml", "--nats", self.nats.url, "--nodes", str(nodes), "--wait", "60s",
                 "--seed", "7", "--out", self.folder / "runs", "--json", self.folder / "run.json", "--quiet", *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def squall(self, *words):
        """Runs a command at this fleet's server, to its end."""
        return subprocess.run([SQUALL, *words, "--nats", self.nats.url], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def left(self):
        """The folder of the run, as its controller has left it."""
        found, = (self.folder / "runs").glob("*/fleet.json")
        return found.parent

    def sent(self, count):
        """Waits until the server has counted so many requests."""
        until(lambda: self.counter.total() >= count or self.controller.poll() is not None, f"{count} requests were not sent")
        if self.controller.poll() is not None:
            raise AssertionError(f"the run ended before {count} requests were sent:\n{self.logs()}")

    def result(self):
        """run.json, when the run is over."""
        try:
            code = self.controller.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the run does not end:\n{self.logs()}") from None
        path = self.folder / "run.json"
        if not path.exists():
            raise AssertionError(f"the run ended with {code} and without a result:\n{self.logs()}")
        return json.loads(path.read_text())

    def logs(self):
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-4000:]}" for path in sorted(self.folder.glob("*.log")))

    def close(self):
        for process in [self.controller, *self.nodes.values()]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.nats.kill()
        self.counter.close()
        self.network.close()
