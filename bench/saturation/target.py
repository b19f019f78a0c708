#!/usr/bin/env python3
"""A server that is full in one way: target.py cpu|lock|pool|disk|backlog PORT. A thread for each connection; HTTP/1.1 with
keep-alive, and no more of it than squall needs."""

import hashlib
import mmap
import os
import random
import socket
import sys
import tempfile
import threading
import time


class Cpu:
    """About 5 ms of computing, on the only core that it has."""
    backlog = 1024

    def __init__(self):
        begun = time.process_time()
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 20_000)
        self.rounds = int(20_000 * 0.005 / (time.process_time() - begun))

    def work(self):
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", self.rounds)


class Lock:
    """10 ms under a lock that all share, without computing."""
    backlog = 1024

    def __init__(self):
        self.lock = threading.Lock()

    def work(self):
        with self.lock:
            time.sleep(0.01)


class Pool:
    """50 ms with one of 8 connections of a pool, which shows its numbers at /metrics."""
    backlog = 1024
    size = 8

    def __init__(self):
        self.free = threading.Semaphore(self.size)
        self.lock = threading.Lock()
        self.active = self.waiting = 0

    def add(self, waiting, active):
        with self.lock:
            self.waiting += waiting
            self.active += active

    def work(self):
        self.add(1, 0)
        with self.free:
            self.add(-1, 1)
            time.sleep(0.05)
            self.add(0, -1)

    def metrics(self):
        with self.lock:
            numbers = {"active": self.active, "limit": self.size, "waiting": self.waiting}
        return "".join(f"# TYPE pool_{name} gauge\npool_{name} {number}\n" for name, number in numbers.items())


class Disk:
    """8 MiB written past the cache, somewhere in a file of 128 MiB, and synchronised with the disk."""
    backlog = 1024
    size, places = 8 << 20, 16

    def __init__(self):
        path = tempfile.mktemp(dir=os.environ.get("SATURATION_DISK", "/var/tmp"))
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DIRECT)
        os.unlink(path)
        # It lies at the start of a page, as writing past the cache needs.
        self.data = mmap.mmap(-1, self.size)
        self.data.write(os.urandom(self.size))
        for place in range(self.places):
            os.pwrite(self.file, self.data, place * self.size)

    def work(self):
        os.pwrite(self.file, self.data, random.randrange(self.places) * self.size)
        os.fdatasync(self.file)


class Backlog:
    """Accepts a connection each 20 ms, and has room for 8 that wait."""
    backlog = 8

    def accepted(self):
        time.sleep(0.02)

    def work(self):
        pass


def answer(connection, target):
    """Answers the requests of a connection."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    rest = b""
    with connection:
        while True:
            while b"\r\n\r\n" not in rest:
                try:
                    data = connection.recv(65536)
                except OSError:
                    return
                if not data:
                    return
                rest += data
            head, rest = rest.split(b"\r\n\r\n", 1)
            if head.startswith(b"GET /metrics") and hasattr(target, "metrics"):
                body = target.metrics().encode()
            else:
                target.work()
                body = b"ok"
            kind = b"text/plain; version=0.0.4"
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s" % (kind, len(body), body))
            except OSError:
                return
            if b"connection: close" in head.lower():
                return


def main():
    kinds = {"cpu": Cpu, "lock": Lock, "pool": Pool, "disk": Disk, "backlog": Backlog}
    target = kinds[sys.argv[1]]()
    threading.stack_size(256 << 10)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(sys.argv[2])))
    listener.listen(target.backlog)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection, target), daemon=True).start()
        if hasattr(target, "accepted"):
            target.accepted()


main()
