"""A terminal of a given size for a command, and what it shows: enough of ECMA-48 for a report (line feed,
erase in line, colours)."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

from peers import PATIENCE


class Terminal:
    """Everything that a command has written to its terminal. `raw`: as it came; `shown`: each state of a line before it
    was erased or left, without colours, as a person saw it."""

    def __init__(self, command, columns, rows, **environment):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("NO_COLOR", "COLUMNS", "LINES", "CLICOLOR", "CLICOLOR_FORCE")}
        process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
                                   env=inherited | {"TERM": "xterm-256color"} | environment)
        os.close(follower)
        chunks = []
        reader = threading.Thread(target=self.read, args=(leader, chunks))
        reader.start()
        self.code = process.wait(timeout=PATIENCE)
        reader.join(timeout=PATIENCE)
        os.close(leader)
        self.raw = b"".join(chunks).decode()
        self.shown = [line.rstrip() for line in re.split(r"[\r\n]+|\x1b\[K", re.sub(r"\x1b\[[\d;]*m", "", self.raw))
                      if line.strip()]

    @staticmethod
    def read(leader, chunks):
        # The end of a terminal whose other end is closed is an error on Linux.
        try:
            while chunk := os.read(leader, 4096):
                chunks.append(chunk)
        except OSError:
            pass
