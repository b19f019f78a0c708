"""Both sides of one run: the ground-truth server with its log, squall with its log of requests, and the two joined
by request. Nothing here knows what the figures should be."""

import csv
import functools
import gzip
import json
import random
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from packets import seen  # noqa: E402

from lib import GENERATOR_CPU, SERVER_CPU, free_port, need, pinned, run, squall  # noqa: E402

SEED = 20
PLAN = """
target: http://{address}
seed: {seed}
connections: {{reuse: {reuse}}}
defaults: {{retry_stale: {repeat}, compression: {compression}, timeout: {{connect: 10s, total: {timeout}}}}}
thresholds: [{thresholds}]
scenarios:
  user:
    load: {{{load}}}
    steps: {steps}
"""
STEP = '{{name: "{name}", get: "/?id=${{user}}-${{iteration}}-{name}&{query}"{check}}}'
# A command, stopped for half a second after one.
STOP = '"$@" & sleep 1; kill -STOP $!; sleep 0.5; kill -CONT $!; wait $!'


@dataclass(frozen=True)
class Case:
    """What is run, and what the server is told to do. Latencies are compared wherever responses come."""

    name: str
    load: str
    # What the requests of an iteration ask of the server; a number in place of one is a think time in ms.
    steps: tuple
    timeout: str = "10s"
    reuse: str = "per_user"
    # Whether requests may be sent again (`retry_stale`).
    repeat: bool = True
    thresholds: tuple = ()
    # What is checked of each response, decompressed.
    check: str = ""
    # Only over a wire, of so many ms, and of so many per cent of loss to the server and to the client.
    wire: tuple | None = None
    # Arrivals a second of an open workload, evenly spaced; and how many users may answer to them.
    rate: float | None = None
    # Whether squall is stopped (SIGSTOP) for half a second, one second after its start.
    stopped: bool = False
    fast: bool = True

    def plan(self, address):
        check = f", check: '{self.check}'" if self.check else ""
        steps = [f"{{think: {step}ms}}" if isinstance(step, int) else STEP.format(name=f"r{n}", query=step, check=check)
                 for n, step in enumerate(self.steps)]
        return PLAN.format(address=address, seed=SEED, reuse=self.reuse, repeat=str(self.repeat).lower(),
                           compression=str(bool(self.check)).lower(),
                           timeout=self.timeout, thresholds=", ".join(self.thresholds), load=self.load,
                           steps=f"[{', '.join(steps)}]")


PROGRAMS = tempfile.TemporaryDirectory(prefix="squall-truth-")


@functools.cache
def compiled(name):
    """Path of a C program of this folder, compiled for this run of the script."""
    need("cc")
    program = Path(PROGRAMS.name) / name
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", program, HERE / f"{name}.c", "-lm"], check=True)
    return str(program)


@functools.cache
def compressed():
    """Path of a text of some 5 MB, compressed with gzip to some 700 KB: what `gzip` asks the server for. Its last word
    is `THE-END`."""
    chance, words = random.Random(SEED), [f"item-{n:x}" for n in range(20_000)]
    lines = (json.dumps({"name": chance.choice(words), "price": chance.randrange(1000), "tags": ["a", "b", "c"],
                         "description": "a line of text as services send it"}) for _ in range(44_000))
    path = Path(PROGRAMS.name) / "body.gz"
    path.write_bytes(gzip.compress(("\n".join(lines) + "\nTHE-END").encode(), mtime=0))
    return str(path)


# Real-time priority, so that no other program makes it late.
PROMPT = ["chrt", "--fifo", "10"]


@functools.cache
def is_allowed():
    """Whether real-time priority is."""
    need("chrt")
    return subprocess.run([*PROMPT, "true"], capture_output=True).returncode == 0


class Program:
    """A C program of this folder, from when it says that it is ready until it is told to end. `is_prompt`: nothing on
    the machine makes it late, as its times are judged; otherwise it gives way to others as any program does."""

    def __init__(self, prefix, name, *words, is_prompt=True):
        prompt = PROMPT if is_prompt and is_allowed() else []
        command = [*prefix, *prompt, *pinned(SERVER_CPU, [compiled(name), *map(str, words)])]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            self.process.wait()
            raise OSError(f"{name} did not start")

    def end(self):
        """Ends it; returns the number that it prints."""
        self.process.send_signal(signal.SIGTERM)
        words = self.process.communicate(timeout=20)[0].split()
        return int(words[1]) if len(words) > 1 else 0


@dataclass
class Run:
    """What both sides say of a run."""

    case: Case
    json: dict
    # squall's lines, in its order, each with the server's rows of the same request, in theirs.
    joined: list
    # Rows of the server that no line of squall names.
    strangers: list
    accepted: int
    rows: list
    # What passed the client's end of the wire, if there is one, by connection and number of the request.
    seen: dict


def read_rows(path):
    """A log in CSV, numbers as numbers."""
    with open(path, newline="") as file:
        return [{key: text if key in ("id", "outcome", "toward") else int(text) for key, text in row.items()}
                for row in csv.DictReader(file)]


def join(lines, rows):
    """squall's lines with the server's rows of the same id, and rows that no line names."""
    by_id = {}
    for row in sorted(rows, key=lambda row: row["rx"]):
        by_id.setdefault(row["id"], []).append(row)
    joined = [(line, by_id.pop(f"{line['user']}-{line['iteration']}-{line['name']}", [])) for line in lines]
    return joined, [row for own in by_id.values() for row in own]


def measure(case, io, is_prompt, wire=None):
    """One run of a case with one I/O backend, over loopback or a wire. `is_prompt`: see `Program`."""
    client, server, host = wire.ends() if wire else ([], [], "127.0.0.1")
    with tempfile.TemporaryDirectory(prefix="squall-truth-") as name:
        folder, port = Path(name), free_port()
        (folder / "plan.yaml").write_text(case.plan(f"{host}:{port}"))
        ground = Program(server, "server", port, folder / "server.csv", SEED, compressed(), is_prompt=is_prompt)
        try:
            words = ["run", str(folder / "plan.yaml"), "--out", str(folder), "-w", "1", "--io", io, "--quiet",
                     "--out", f"samples={folder / 'log.jsonl'}", "--json", str(folder / "run.json")]
            stop = ["sh", "-c", STOP, "sh"] if case.stopped else []
            done = run([*client, *stop, *pinned(GENERATOR_CPU, [squall(), *words])], cpu=None, limit=120)
        finally:
            accepted = ground.end()
        if done["code"] not in (0, 1):
            sys.exit(f"{case.name}: squall ended with code {done['code']}; its plan was\n{case.plan(host)}")
        lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        rows = read_rows(folder / "server.csv")
        joined, strangers = join(lines, rows)
        result = json.loads((folder / "run.json").read_text())
        return Run(case, result, joined, strangers, accepted, rows,
                   seen(wire.take_packets(), rows) if wire else {})
