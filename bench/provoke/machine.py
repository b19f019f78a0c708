"""Situations of the machine: who takes its processors, what it has too little of, what it says of itself. All of it
ends with the situation. Needs Linux; what needs root says so by an OSError."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib import need

CGROUPS = Path("/sys/fs/cgroup")


@contextlib.contextmanager
def neighbours(*cpus, urgent=True):
    """Programs that spin, one on each of these processors, urgent ones before all others."""
    hogs = [subprocess.Popen([*(FIRST if urgent else []), "taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass"])
            for cpu in cpus]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


# What runs a command before all others. Where the kernel groups processes by session (sched(7), autogroup), the group's
# own weight counts.
FIRST = ["nice", "-n", "-20", "setsid", "sh", "-c",
         '[ -e /proc/self/autogroup ] && echo -20 > /proc/self/autogroup; exec "$@"', "sh"]


@contextlib.contextmanager
def group(controller, **limits):
    """A control group with these limits; yields what puts a command into it."""
    base = CGROUPS / controller
    if not (base / "cgroup.procs").exists():
        raise OSError(f"no control groups of version 1 with {controller} in {CGROUPS}")
    folder = base / f"squall-situation-{os.getpid()}"
    folder.mkdir()
    try:
        for name, value in limits.items():
            (folder / f"{controller}.{name}").write_text(str(value))
        yield ["sh", "-c", f'echo $$ > {folder}/cgroup.procs; exec "$@"', "sh"]
    finally:
        # What ran there has ended, but its last memory may be given back a moment later.
        for _ in range(50):
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)


def with_pauses(process, first_s, pauses, stop_s, go_s):
    """Stops a process so often and for so long."""
    time.sleep(first_s)
    for _ in range(pauses):
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(stop_s)
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(go_s)


def with_own_files(binds, prepare="true"):
    """What runs a command with other files in the place of some (a mount namespace of its own)."""
    mounts = [f"mount --bind {own} {there}" for there, own in binds.items()]
    commands = ["mount --make-rprivate /", prepare, *mounts]
    script = " && ".join(commands) + ' && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh"]


@contextlib.contextmanager
def program_on_disk(program):
    """A copy of a program whose pages are on the disk and nowhere else yet: those who run it first account for them."""
    with tempfile.TemporaryDirectory(prefix="squall-situation-") as folder:
        own = shutil.copy(program, folder)
        file = os.open(own, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
        yield own


CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
/* Sets the clock of one program forward, so many ms, so many seconds after its start. */
static int (*real)(clockid_t, struct timespec *);
static time_t at;
static long ahead_ms;
__attribute__((constructor)) static void begin(void) {
    struct timespec now;
    real = dlsym(RTLD_NEXT, "clock_gettime");
    real(CLOCK_MONOTONIC, &now);
    at = now.tv_sec + atoi(getenv("STEP_AFTER_S"));
    ahead_ms = atoi(getenv("STEP_MS"));
}
int clock_gettime(clockid_t clock, struct timespec *time) {
    struct timespec now;
    int result = real(clock, time);
    if (clock != CLOCK_REALTIME || real(CLOCK_MONOTONIC, &now) || now.tv_sec < at) return result;
    time->tv_nsec += ahead_ms * 1000000;
    time->tv_sec += time->tv_nsec / 1000000000;
    time->tv_nsec %= 1000000000;
    return result;
}
"""


@contextlib.contextmanager
def clock_that_jumps(after_s, by_ms):
    """What runs a command for which alone the system's clock is set forward (a library before libc)."""
    need("cc")
    with tempfile.TemporaryDirectory(prefix="squall-situation-") as folder:
        source, library = Path(folder) / "clock.c", Path(folder) / "clock.so"
        source.write_text(CLOCK)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        yield ["env", f"LD_PRELOAD={library}", f"STEP_AFTER_S={after_s}", f"STEP_MS={by_ms}"]


class Stolen:
    """A /proc/stat of which other guests seem to take a share of the processors."""

    def __init__(self, share):
        self.share, self.folder = share, tempfile.mkdtemp(prefix="squall-situation-")
        self.path = Path(self.folder) / "stat"
        self.first = self.ticks()
        self.write()

    @staticmethod
    def ticks():
        return [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]

    def write(self):
        """Writes the file anew: the times so far, with the stolen share taken from the idle time."""
        line, rest = Path("/proc/stat").read_text().split("\n", 1)
        ticks = [int(word) for word in line.split()[1:]]
        stolen = round(self.share * (sum(ticks) - sum(self.first)))
        ticks[3], ticks[7] = ticks[3] - stolen, ticks[7] + stolen
        self.path.write_text("cpu  " + " ".join(map(str, ticks)) + "\n" + rest)

    def keep_up(self, process):
        """Goes on until a process has ended."""
        while process.poll() is None:
            self.write()
            time.sleep(0.1)

    def remove(self):
        shutil.rmtree(self.folder)
