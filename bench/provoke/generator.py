"""Situations in which squall could not make the load, or the plan did not let it."""

import os
import tempfile
import threading
from pathlib import Path

from lib import GENERATOR_CPU, SERVER_CPU, Server, free_port, pinned, squall
from lib import target as target_on

from . import machine, network
from .situation import DOUBTED, FINE, INVALID, NOTE, QUESTIONABLE, Squall, run, situation

PLAN = """
target: {url}
warmup: none
{more}
scenarios:
  user: {{load: {{{load}}}, steps: {steps}}}
"""


def plan(url, load, steps, more=""):
    return PLAN.format(url=url, load=load, steps=steps, more=more)


@situation("neighbours take both processors", "starved", DOUBTED)
def neighbours(target):
    with machine.neighbours(GENERATOR_CPU, SERVER_CPU):
        return run(target.url(), "-c", 32, "-d", "4s", cpu=None, workers=2)


@situation("neighbours take both processors, and users think", "host_busy", QUESTIONABLE)
def thinking_beside_neighbours(target):
    steps = "[{get: /items}, {get: /api/items}, {think: 50ms..150ms}]"
    text = plan(target.url(""), "users: 30, for: 6s", steps)
    with machine.neighbours(GENERATOR_CPU, GENERATOR_CPU, SERVER_CPU, SERVER_CPU):
        return run(plan=text, cpu=None)


@situation("a neighbour takes the target's processor alone", "host_busy", QUESTIONABLE)
def neighbour_of_the_target(target):
    with machine.neighbours(SERVER_CPU):
        return run(target.url("/items"), "-c", 20, "-d", "5s")


@situation("squall and the target fill the machine", "machine_full", NOTE)
def full(_):
    with target_on(cpu=f"{GENERATOR_CPU},{SERVER_CPU}", threads=2) as own:
        return run(own.url("/items"), "-c", 64, "-d", "5s", cpu=None, workers=2)


@situation("50 arrivals a second at a target that responds at once, and a promise of 300 ms", FINE)
def few_arrivals(target):
    more = "thresholds: [p95 < 300ms, error_rate < 1%]"
    return run(plan=plan(target.url(""), "rate: 50/s, for: 6s, max_users: 50", "[{get: /items}]", more))


@situation("users who think, at a target that takes 20 ms", FINE)
def thinking(target):
    steps = "[{get: /delay/20}, {think: 100ms..500ms}]"
    return run(plan=plan(target.url(""), "users: 20, ramp: 2s, for: 8s", steps))


@situation("three requests", FINE)
def three(target):
    return run(target.url(), "-n", 3)


@situation("a neighbour takes squall's processor, which has arrivals to make", "send_delay", DOUBTED)
def late(target):
    with machine.neighbours(GENERATOR_CPU, urgent=False):
        return run(target.url(), "-c", 200, "-r", "3000/s", "-d", "4s")


@situation("a control group gives squall a fifth of a processor", "starved", DOUBTED)
def fraction(target):
    with machine.group("cpu", cfs_period_us=100_000, cfs_quota_us=20_000) as inside:
        return run(target.url(), "-c", 32, "-d", "4s", before=inside)


@situation("four workers on one processor", "starved", DOUBTED)
def crowded(target):
    return run(target.url(), "-c", 64, "-d", "3s", workers=4)


@situation("squall and its target on the same processor", "starved", DOUBTED)
def same(_):
    with target_on(cpu=GENERATOR_CPU) as own:
        return run(own.url(), "-c", 32, "-d", "3s")


@situation("as many users as one worker can serve, and more", "cpu_bound", DOUBTED)
def saturated(_):
    # Both before other programs of this machine: it is squall's own work that takes its processor.
    port = free_port()
    with Server([*machine.FIRST, *pinned(SERVER_CPU, [squall(), "target", "-l", f"127.0.0.1:{port}"])], port) as own:
        return run(own.url(), "-c", 256, "-d", "4s", before=machine.FIRST)


@situation("22 pauses of 70 ms in 4 s (SIGSTOP)", "generator_time", DOUBTED, (0.2, 0.6))
def pauses(target):
    own = Squall(target.url("/delay/5"), "-c", 20, "-d", "4s")
    machine.with_pauses(own.process, 0.3, 22, 0.07, 0.07)
    return own.result()


@situation("one pause of 1 s in 6 s (SIGSTOP)", "stalled", QUESTIONABLE, (0.12, 0.25))
def pause(target):
    own = Squall(target.url("/delay/5"), "-c", 20, "-d", "6s")
    machine.with_pauses(own.process, 2, 1, 1, 0)
    return own.result()


@situation("local ports run out", "ports", INVALID, (0.6, 0.9))
def ports(_):
    address = "127.0.0.1:8080"
    inside = network.in_few_ports("40000 40099", [squall(), "target", "-l", address])
    return run(f"http://{address}/", "--no-keepalive", "-c", 4, "-n", 400, before=inside)


@situation("local ports will have run out in some seconds", "ports", NOTE)
def few_ports(_):
    address = "127.0.0.1:8080"
    inside = network.in_few_ports("40000 40999", [squall(), "target", "-l", address])
    return run(f"http://{address}/", "--no-keepalive", "-c", 50, "-r", "110/s", "-d", "6s", before=inside)


@situation("files run out", "files", DOUBTED)
def files(target):
    limit = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh"]
    return run(target.url("/delay/200"), "-c", 100, "-n", 200, before=limit)


@situation("nine of ten arrivals find no user", "arrivals_dropped", INVALID, (0.85, 0.97))
def dropped(target):
    return run(target.url("/delay/300"), "-r", "100/s", "-c", 3, "-d", "3s")


@situation("a rate beyond what the worker can send", "send_delay", DOUBTED)
def beyond(target):
    return run(target.url(), "-r", "400000/s", "-c", 4000, "-d", "3s")


@situation("1,000 users connect at the same moment, again and again", "connect_delay", DOUBTED)
def connects(target):
    return run(target.url(), "-c", 1000, "-d", "3s", "--no-keepalive")


@situation("regular expressions that take long, on pages of 64 KiB", "generator_time", DOUBTED)
def expressions(target):
    extract = r"extract: {x: {regex: '(a|b|ab)*c\d{3,9}[x-z]*$', default: ''}}"
    return run(plan=plan(target.url(""), "users: 8, for: 4s", f"[{{get: /bytes/64k, {extract}}}]"))


@situation("large bodies, digested, of 64 users", "receive_delay", DOUBTED)
def bodies(target):
    steps = "[{get: /bytes/1m, response_body: {hash: sha256}}]"
    return run(plan=plan(target.url(""), "users: 64, for: 4s", steps))


@situation("50 users share a pool of 2 connections", "pool_waits", NOTE)
def pool(target):
    more = "connections: {reuse: pool, pool_size: 2}"
    return run(plan=plan(target.url(""), "users: 50, for: 3s", "[{get: /delay/20}]", more))


@situation("a log of requests on a disk that is too slow", "requests were left out of the request log")
def log(target):
    with tempfile.TemporaryDirectory(prefix="squall-situation-") as folder:
        pipe = Path(folder) / "log.jsonl"
        os.mkfifo(pipe)
        own = Squall(target.url(), "-c", 64, "-d", "3s", "--out", f"samples={pipe}")
        ended = threading.Event()

        def read():
            with open(pipe, "rb", buffering=0) as end:
                while not ended.wait(0.05) and end.read(1 << 16):
                    pass
                while end.read(1 << 20):
                    pass

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        threading.Timer(4, ended.set).start()
        return own.result()


@situation("no room on the disk for the results", "No space left")
def disk(target):
    with tempfile.TemporaryDirectory(prefix="squall-situation-") as folder:
        prepare = f"mount -t tmpfs -o size=64k none {folder}"
        inside = machine.with_own_files({}, prepare)
        steps = "[{get: '/delay/${random(1, 50)}', name: '/${iteration}'}]"
        text = plan(target.url(""), "rate: 200/s, for: 6s, max_users: 50", steps)
        return run(plan=text, before=inside, out=folder)
