"""Ports for servers of tests and measurements."""

import contextlib
import random
import socket


def free_port():
    """A port that nobody has, below those that the kernel gives to connections by itself: one of these might be given away
    before somebody listens on it."""
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port
