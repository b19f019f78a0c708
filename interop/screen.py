"""A terminal with a keyboard: a command in a pty of its own, and what its screen shows, by pyte."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import threading
import time

import pyte

from peers import PATIENCE

ENTER = b"\x1b[?1049h"
LEAVE = b"\x1b[?1049l"


class Screen:
    """`raw`: everything that was written; `lines()`: what is seen now; `press(keys)`: what is typed. The terminal belongs
    to the command: Ctrl-C typed is a signal to it."""

    def __init__(self, command, columns, rows, **environment):
        self.screen, self.raw, self.lock = pyte.Screen(columns, rows), bytearray(), threading.Lock()
        self.stream = pyte.ByteStream(self.screen)
        self.reads = threading.Event()
        self.reads.set()
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        ready, go = os.pipe()
        self.pid, self.leader = pty.fork()
        if self.pid == 0:
            # Until the terminal has its size.
            os.read(ready, 1)
            os.execve(command[0], [str(word) for word in command],
                      inherited | {"TERM": "xterm-256color"} | environment)
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.leader)
        os.write(go, b"x")
        os.close(ready)
        os.close(go)
        self.code = None
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while True:
            self.reads.wait()
            if not select.select([self.leader], [], [], 0.1)[0]:
                if self.code is not None:
                    return
                continue
            # The end of a terminal whose other end is closed is an error on Linux.
            try:
                chunk = os.read(self.leader, 65536)
            except OSError:
                return
            with self.lock:
                self.raw += chunk
                self.stream.feed(chunk)

    def resize(self, columns, rows):
        with self.lock:
            fcntl.ioctl(self.leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            self.screen.resize(rows, columns)

    def press(self, keys):
        os.write(self.leader, keys.encode())

    def lines(self):
        with self.lock:
            return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def colors(self):
        """The foreground colours that are seen."""
        with self.lock:
            rows = self.screen.buffer.values()
            return {cell.fg for row in rows for cell in row.values()} - {"default"}

    def wait_for(self, text, seconds=PATIENCE):
        """Waits until a text is seen; raises with the screen if it never is."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if text in self.text():
                return self.text()
            time.sleep(0.05)
        raise AssertionError(f"{text!r} was not seen:\n{self.text()}")

    def wait(self, seconds=PATIENCE):
        """Waits for the end; the exit code, negative for a signal."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                self.reads.set()
                self.reader.join(timeout=PATIENCE)
                return self.code
            time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.code = -signal.SIGKILL
        self.reads.set()
        raise AssertionError(f"it did not end:\n{self.text()}")

    def modes(self):
        """How the terminal treats what is typed, as it was and as it is."""
        return self.before[:4], termios.tcgetattr(self.leader)[:4]

    def after(self):
        """What was written after the view was over, as text."""
        return bytes(self.raw).rsplit(LEAVE, 1)[-1].decode(errors="replace")
