"""Situations of the system under test, of the network to it, of the machine's clock and memory, and of runs that are
too short."""

import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from lib import ROOT, free_port, squall

from . import machine, network
from .generator import plan
from .situation import DOUBTED, NOTE, QUESTIONABLE, WEIGHTS, Squall, run, situation

sys.path.insert(0, str(ROOT / "bench/truth"))

from ground import Program  # noqa: E402


class Truth:
    """The ground-truth server in C, which does what a query says."""

    def __init__(self, prefix=()):
        self.port = free_port()
        self.folder = tempfile.TemporaryDirectory(prefix="squall-situation-")
        self.program = Program(list(prefix), "server", self.port, Path(self.folder.name) / "log", 1)

    def __enter__(self):
        return self

    def url(self, address="127.0.0.1"):
        return f"http://{address}:{self.port}"

    def __exit__(self, *_):
        self.program.end()
        self.folder.cleanup()


# A load whose iterations begin every 100 ms, so that an iteration's number is a time.
PACED = "users: 20, for: {}s, pacing: 100ms"


def changing(target, seconds, delay, more=""):
    """A run of a target whose delay in ms is an expression of the iteration, of which there are ten a second."""
    steps = f"[{{get: '/delay/${{{delay}}}', name: page}}]"
    return run(plan=plan(target.url(""), PACED.format(seconds), steps, more))


@situation("the target stands still for 0.8 s of 5 s, and p99 of a closed load does not show it", "hidden_stall", NOTE)
def hidden(target):
    stall = threading.Timer(2, lambda: urllib.request.urlopen(target.url("/control/stall?ms=800")).read())
    stall.start()
    result = run(target.url(), "-c", 1, "-d", "5s")
    stall.join()
    return result


@situation("latencies drift: from 5 to 25 ms in 12 s", "unsteady", QUESTIONABLE)
def drift(target):
    return changing(target, 12, "5.0 + double(iteration) / 6.0")


@situation("latencies treble in the last fifth", "unsteady", QUESTIONABLE)
def step(target):
    return changing(target, 15, "iteration < 120 ? 5 : 15")


@situation("the rate halves, at the same latency", "unsteady", QUESTIONABLE)
def halves(target):
    steps = "[{repeat: '${iteration < 60 ? 2 : 1}', steps: [{get: /delay/5}]}]"
    return run(plan=plan(target.url(""), PACED.format(12), steps))


@situation("the warm-up is not over at the end", "unsteady", QUESTIONABLE)
def warming(target):
    return changing(target, 12, "50.0 - double(iteration) / 3.0", "# warm-up by MSER")


@situation("4 % of the requests are given up", "timeouts", NOTE)
def some_timeouts(_):
    return timeouts(0.04)


@situation("half of the requests are given up", "timeouts", NOTE)
def many_timeouts(_):
    return timeouts(0.5)


def timeouts(share):
    with Truth() as server:
        return run(server.url() + f"/?id=a&delay=2000&fail=never&share={share}", "-c", 20, "-d", "3s", "-t", "200ms")


@situation("the end of the load cuts off one request of each user", "cut_off", NOTE)
def cut_off(_):
    with Truth() as server:
        steps = "[{get: '/?id=a&delay=200000'}]"
        return run(plan=plan(server.url(), "users: 20, for: 3s", steps, more="graceful_stop: 0s"))


@situation("the target closes connections that it has said to keep", "retries", DOUBTED)
def stale(_):
    with Truth() as server:
        steps = "[{get: '/?id=a&delay=1000&fail=hangup&every=5'}]"
        return run(plan=plan(server.url(), "users: 20, for: 3s", steps))


@situation("the network loses 3 % of the packets", "retransmits", DOUBTED)
def loss(_):
    with network.wire(5, 3) as wire:
        client, server_end, address = wire.ends()
        with Truth(server_end) as server:
            return run(server.url(address) + "/?id=a&delay=2000", "-c", 20, "-d", "4s", before=client)


@situation("the network loses 2 % of the packets of responses of 50 kB", "packets_lost", NOTE)
def loss_of_responses(_):
    with network.wire(2, 2) as wire:
        client, server_end, address = wire.ends()
        with Truth(server_end) as server:
            return run(server.url(address) + "/?id=a&delay=1000&body=50000", "-c", 8, "-d", "4s", before=client)


@situation("connections wait: the target's accept queue is full", "retransmits", DOUBTED)
def backlog(_):
    port = network.late_listener(0, 0.5)
    return run(f"http://127.0.0.1:{port}/", "-c", 10, "-n", 10, "--no-keepalive")


@situation("a name server takes 300 ms for each name that the run finds", "name_lookups", DOUBTED)
def names(target):
    slow = network.SlowNames(0.3)
    try:
        url = f"http://shop-${{user}}-${{iteration}}.squall.test:{target.port}/delay/20"
        steps = f"[{{get: '{url}', name: shop}}, {{think: 100ms}}]"
        more = 'allow_hosts: ["*.squall.test"]'
        inside = machine.with_own_files({"/etc/resolv.conf": slow.conf})
        return run(plan=plan(target.url(""), "users: 5, for: 3s", steps, more), before=inside)
    finally:
        slow.end()


@situation("a link of 100 Mbit/s that is full", "link", QUESTIONABLE)
def link(_):
    with network.wire(0, 0) as wire:
        client, server_end, address = wire.ends()
        network.set_speed(client, "wire", 100)
        own_sys = ["unshare", "--mount", "sh", "-c", 'mount -t sysfs none /sys && exec "$@"', "sh"]
        with Truth(server_end) as server:
            url = server.url(address) + "/?id=a&body=65536"
            return run(url, "-c", 8, "-d", "4s", before=[*client, *own_sys])


@situation("a threshold on p99 with 150 responses", "too_short", QUESTIONABLE)
def short(target):
    more = "thresholds: [p99 < 1s]"
    return run(plan=plan(target.url(""), "rate: 50/s, for: 3s, max_users: 50", "[{get: /}]", more))


@situation("the machine's clock is set forward by half a second", "clock_step", QUESTIONABLE)
def clock(target):
    with machine.clock_that_jumps(2, 500) as before:
        return run(target.url("/delay/5"), "-c", 10, "-d", "5s", before=before)


@situation("other guests take a tenth of the processors (a forged /proc/stat)", "steal", QUESTIONABLE, (0.05, 0.15))
def steal(target):
    stolen = machine.Stolen(0.1)
    try:
        inside = machine.with_own_files({"/proc/stat": stolen.path})
        own = Squall(target.url("/delay/5"), "-c", 10, "-d", "4s", before=inside)
        stolen.keep_up(own.process)
        return own.result()
    finally:
        stolen.remove()


# From this many page faults a second on squall is short of memory.
SHORT_FAULTS = 30


@situation("too little memory: squall's own program is read from the disk again and again", "swapping",
           WEIGHTS)
def memory(target):
    arguments = (target.url("/items"), "-c", 200, "-d", "3s")
    mib = run(*arguments).memory_mib
    # How much is too little depends on what of the program a run needs: less and less until it is.
    for limit in (mib + 1 - quarter / 4 for quarter in range(12)):
        with machine.program_on_disk(squall()) as own:
            with machine.group("memory", limit_in_bytes=int(limit * 2**20)) as inside:
                result = run(*arguments, before=inside, program=own)
        if result.disk_faults > 3 * SHORT_FAULTS:
            return result
    raise OSError("memory was never short")
