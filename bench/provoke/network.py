"""Situations of the network: few ports, loss, a link with a known speed, a slow name server."""

import contextlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from lib import ROOT

sys.path.insert(0, str(ROOT / "bench/truth"))

from wire import Wire  # noqa: E402


def in_few_ports(ports, target):
    """What runs a command, beside its target, in a network in which only these local ports are given out."""
    # Otherwise connections over loopback take ports again that are in TIME_WAIT.
    script = f"""ip link set lo up && echo '{ports}' > /proc/sys/net/ipv4/ip_local_port_range || exit 99
        echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse
        {' '.join(target)} >/dev/null & target=$!
        sleep 0.5; "$@"; code=$?; kill $target; exit $code"""
    return ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", script, "sh"]


@contextlib.contextmanager
def wire(delay_ms, loss_percent):
    """Two networks with a wire between them, which delays and loses packets."""
    own = Wire(delay_ms, loss_percent, loss_percent)
    try:
        yield own
    finally:
        own.end()


SPEED = """
import array, fcntl, socket, struct, sys
SIOCETHTOOL, ETHTOOL_GSET, ETHTOOL_SSET = 0x8946, 1, 2
# struct ethtool_cmd of linux/ethtool.h: cmd, then at byte 12 the speed's lower half, at byte 28 its upper one.
settings = array.array("B", struct.pack("=I40x", ETHTOOL_GSET))
request = struct.pack("=16sQ16x", sys.argv[1].encode(), settings.buffer_info()[0])
with socket.socket() as anything:
    fcntl.ioctl(anything, SIOCETHTOOL, request)
    settings[:4] = array.array("B", struct.pack("=I", ETHTOOL_SSET))
    settings[12:14], settings[28:30] = array.array("B", struct.pack("=H", int(sys.argv[2]))), array.array("B", bytes(2))
    fcntl.ioctl(anything, SIOCETHTOOL, request)
"""


def set_speed(inside, name, mbit):
    """Says how fast a TUN device is, in the network that `inside` puts a command into: it carries what it can, and
    tells this speed to whoever asks."""
    subprocess.run([*inside, sys.executable, "-c", SPEED, name, str(mbit)], check=True)


class SlowNames:
    """A name server that answers every question for an IPv4 address with 127.0.0.1, so much later, and a
    resolv.conf that names it."""

    ADDRESS = "127.0.0.153"

    def __init__(self, delay_s):
        self.delay_s, self.socket = delay_s, socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((self.ADDRESS, 53))
        self.folder = tempfile.TemporaryDirectory(prefix="squall-situation-")
        self.conf = Path(self.folder.name) / "resolv.conf"
        self.conf.write_text(f"nameserver {self.ADDRESS}\n")
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                question, client = self.socket.recvfrom(512)
                threading.Timer(self.delay_s, self.answer, (question, client)).start()

    def answer(self, question, client):
        # RFC 1035, 4.1: the header, the question as it came, and one answer that points to its name.
        end = question.index(0, 12) + 5
        is_ipv4 = question[end - 4:end - 2] == b"\0\1"
        header = question[:2] + struct.pack(">HHHHH", 0x8180, 1, is_ipv4, 0, 0)
        record = struct.pack(">HHHIH4B", 0xC00C, 1, 1, 0, 4, 127, 0, 0, 1) if is_ipv4 else b""
        with contextlib.suppress(OSError):
            self.socket.sendto(header + question[12:end] + record, client)

    def end(self):
        self.socket.close()
        self.folder.cleanup()


def late_listener(backlog, idle_s):
    """A server that takes no connection for a while and has little room for those that wait, in which the kernel drops
    what finds none; then one response to each connection. Returns its port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(backlog)

    def serve():
        time.sleep(idle_s)
        while True:
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]
