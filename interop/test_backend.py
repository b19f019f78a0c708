"""Where the system forbids io_uring or a part of it, squall takes epoll."""

import ctypes
import json
import struct
import subprocess
import unittest

from peers import PATIENCE, SQUALL, Process, free_port

# Numbers of system calls: the same on all machines of this century.
IO_URING_SETUP, IO_URING_ENTER = 425, 426


def forbid(call):
    """Has the kernel refuse one system call to this process and its children (seccomp(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Load its number; if it is that one, refuse with EPERM; otherwise allow.
    program = struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, call, 0x06, 0, 0, 0x0005_0001, 0x06, 0, 0, 0x7FFF_0000)
    code = ctypes.create_string_buffer(program)
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(code)))
    pr_set_no_new_privs, pr_set_seccomp, filter_mode = 38, 22, 2
    if libc.prctl(pr_set_no_new_privs, 1, 0, 0, 0) or libc.prctl(pr_set_seccomp, filter_mode, ctypes.byref(filters)):
        raise OSError(ctypes.get_errno(), "seccomp")


class Backend(unittest.TestCase):
    def run_without(self, call):
        port = free_port()
        target = Process([SQUALL, "target", "-l", f"127.0.0.1:{port}"], port)
        self.addCleanup(target.stop)
        command = [SQUALL, f"http://127.0.0.1:{port}/", "-n", "100", "--json", "-"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, preexec_fn=lambda: forbid(call))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        result = json.loads(ran.stdout)
        self.assertEqual((result["totals"]["count"], result["totals"]["errors"]), (100, 0))
        self.assertEqual(result["meta"]["nodes"][0]["io"], "epoll")
        return ran.stderr

    def test_rings_cannot_be_made(self):
        self.assertNotIn("io_uring", self.run_without(IO_URING_SETUP))

    def test_rings_can_be_made_and_not_used(self):
        self.assertIn("io_uring_enter is not", self.run_without(IO_URING_ENTER))


if __name__ == "__main__":
    unittest.main()
