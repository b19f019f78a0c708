"""What `squall fleet` says and does with nodes and runs over a real nats-server, what is said where something is wrong, and that
nothing is left of a fleet on one machine."""

import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import unittest
from pathlib import Path

from fleet import NATS, Counter, Fleet, Nats
from peers import PATIENCE, SQUALL, until
from test_fleet import PLAN, RATE, STEP, FleetTest


def said(words, **options):
    """Runs squall to its end: the code that it ends with, and what it says of errors."""
    ran = subprocess.run([SQUALL, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                         check=False, **options)
    return ran.returncode, ran.stderr


class Idle(FleetTest):
    def idle(self, nodes):
        """Nodes that have joined, and no run."""
        fleet = Fleet(self.folder, nodes, options=())
        self.addCleanup(fleet.close)
        joined = lambda: all("connected as" in (self.folder / f"node-{number}.log").read_text() for number in range(nodes))
        until(joined, "the nodes do not join")
        until(lambda: fleet.squall("fleet", "status").stdout.count(" waits ") == nodes, "the nodes' hearts do not beat")
        return fleet


class Commands(Idle):
    def test_status_shows_nodes_and_shares_and_stop_ends_the_run_in_order(self):
        fleet = self.fleet(seconds=60)
        fleet.sent(RATE * 2)
        shown = json.loads(fleet.squall("fleet", "status", "--json").stdout)
        self.assertEqual({node["node"]: node["state"] for node in shown["nodes"]}, {"n0": "running", "n1": "running", "n2": "running"})
        run, = shown["runs"]
        self.assertEqual(sum(node["shards"] for node in shown["nodes"]), run["shards"])
        self.assertTrue(all(node["shards"] for node in shown["nodes"]), shown)
        text = fleet.squall("fleet", "status").stdout
        self.assertRegex(text, r"n1 .* runs .*\n")
        self.assertRegex(text, rf"run {run['run']}: since \d+ s, 3 nodes, {run['shards']} shards, controller on ")
        stopped = fleet.squall("fleet", "stop")
        self.assertEqual((stopped.returncode, stopped.stdout), (0, f"{run['run']} ends: its controller was told\n"), stopped.stderr)
        self.counts(fleet)
        # As Ctrl-C does.
        self.assertEqual(fleet.controller.returncode, 130, fleet.logs())
        for node in fleet.nodes.values():
            self.assertEqual(node.wait(timeout=PATIENCE), 0, fleet.logs())
        again = fleet.squall("fleet", "stop", run["run"])
        self.assertEqual(again.stderr, f"squall: there is no run `{run['run']}`: `squall fleet status` lists them\n")
        self.assertNotEqual(again.returncode, 0)

    def test_logs_of_all_nodes_come_together(self):
        fleet = self.fleet(seconds=10, steps=f'[{STEP}, {{log: "row ${{rows.id}}"}}]')
        fleet.sent(RATE * 2)
        logs = fleet.squall("fleet", "logs")
        self.assertEqual(logs.returncode, 0, logs.stderr)
        nodes = {line.split()[0] for line in logs.stdout.splitlines() if " s  " in line and "row " in line}
        self.assertEqual(nodes, {"n0", "n1", "n2"}, logs.stdout[:2000])

    def test_logs_end_with_their_run_though_the_nodes_live_on(self):
        fleet = self.idle(2)
        fleet.control(f"target: {fleet.counter.url}\nscenarios:\n  all:\n    load: {{users: 2, for: 5s}}\n"
                      '    steps: [{get: "/"}, {log: hello}, {think: 500ms}]\n', 2)
        fleet.sent(1)
        logs = fleet.squall("fleet", "logs")
        self.assertEqual((logs.returncode, fleet.controller.wait(timeout=PATIENCE)), (0, 0), logs.stderr)
        self.assertGreater(logs.stdout.count("hello"), 10)
        self.assertEqual(fleet.nats.runs(), [])

    def test_a_run_is_resumed_by_one_controller_when_its_first_is_dead(self):
        fleet = self.fleet(seconds=12)
        fleet.sent(RATE * 2)
        left = fleet.left()
        (self.folder / "run.json").unlink(missing_ok=True)
        second = fleet.squall("fleet", "resume", str(left), "--quiet")
        self.assertEqual(second.returncode, 2, second.stderr)
        self.assertRegex(second.stderr, r"another squall on this machine leads this run, and writes its folder: end that one first")
        elsewhere = self.folder / "copy"
        shutil.copytree(left, elsewhere)
        second = fleet.squall("fleet", "resume", str(elsewhere), "--quiet")
        self.assertEqual(second.returncode, 3, second.stderr)
        self.assertRegex(second.stderr, r"run \S+ is led by another controller, on \S+: end that one first")
        fleet.controller.kill()
        fleet.controller.wait()
        with (self.folder / "controller.log").open("ab") as log:
            fleet.controller = subprocess.Popen(
                [SQUALL, "fleet", "resume", left, "--nats", fleet.nats.url, "--json", self.folder / "run.json", "--quiet"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.whole(fleet, 12)
        self.assertEqual(fleet.controller.returncode, 0, fleet.logs())


class BadInput(Idle):
    def nats(self, **options):
        nats = Nats(self.folder, "127.0.0.1", **options)
        self.addCleanup(nats.kill)
        return nats

    def plan(self, url="http://127.0.0.1:9", step='get: "/"'):
        path = self.folder / "plan.yaml"
        path.write_text(f"target: {url}\nscenarios:\n  all:\n    load: {{users: 4, for: 5s}}\n    steps: [{{{step}}}]\n")
        return path

    def everybody_says(self, url, why, code=3):
        """A controller, a node, and who asks for the state."""
        for words, before in ((["run", self.plan(), "--nodes", "2", "--out", self.folder / "runs"], "squall: "),
                              (["node", "--allow-hosts", "*", "--spool", self.folder / "spool"], "squall: "),
                              (["fleet", "status"], "squall: ")):
            self.assertEqual(said([*words, "--nats", url]), (code, f"{before}{why}\n"))

    def test_wrong_credentials(self):
        nats = self.nats()
        address = f"127.0.0.1:{nats.port}"
        how = "see --nats-user, --nats-token-file, --nats-nkey, --nats-creds"
        self.everybody_says(f"nats://{address}", f"the NATS server {address} refuses these credentials (none were given): {how}")
        self.everybody_says(f"nats://wrong@{address}", f"the NATS server {address} refuses these credentials: {how}")

    def test_a_server_without_jetstream(self):
        nats = self.nats(has_jetstream=False)
        why = f"127.0.0.1:{nats.port} has no JetStream, which squall keeps a fleet's results in: start it with `nats-server -js`"
        self.everybody_says(nats.url, why)

    def test_a_server_that_is_too_old(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        port = listener.getsockname()[1]

        def serve():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, connection.makefile("rb") as lines:
                    connection.sendall(b'INFO {"server_id":"X","server_name":"x","version":"2.9.10","go":"go1.19","host":"127.0.0.1",'
                                       b'"port":%d,"headers":true,"jetstream":true,"max_payload":1048576,"proto":1}\r\n' % port)
                    for line in lines:
                        if line.startswith(b"PING"):
                            connection.sendall(b"PONG\r\n")

        threading.Thread(target=serve, daemon=True).start()
        self.everybody_says(f"nats://127.0.0.1:{port}",
                            "this nats-server is 2.9.10; squall needs 2.11 or later (Debian's package is too old): go install "
                            "github.com/nats-io/nats-server/v2@v2.15.2, or a release from https://github.com/nats-io/nats-server/releases")

    def test_a_name_that_is_taken(self):
        fleet = self.idle(1)
        twin = fleet.squall("node", "--name", "n0", "--allow-hosts", "*", "--spool", str(self.folder / "another"))
        self.assertEqual(twin.returncode, 3)
        self.assertIn("squall: the name n0 is taken by another node of this fleet: give this one another by --name\n", twin.stderr)
        spool = self.folder / "spool-0"
        twin = fleet.squall("node", "--name", "n0", "--allow-hosts", "*", "--spool", str(spool))
        self.assertEqual((twin.returncode, twin.stderr),
                         (3, f"squall: the spool in {spool}/n0 is in use by another node on this machine: give this one another "
                             "name, or another folder with `--spool DIR`\n"))
        self.assertIsNone(fleet.nodes[0].poll(), "the first one goes on")

    def refused(self, fleet, nodes, *options, step='get: "/"'):
        """What a controller says to a run that does not begin: nothing is sent, and nothing is left at the server."""
        plan = self.plan(fleet.counter.url, step)
        ran = fleet.squall("run", str(plan), "--nodes", str(nodes), "--out", str(self.folder / "runs"), "--quiet", *options)
        self.assertEqual(fleet.counter.total(), 0)
        self.assertEqual(fleet.nats.runs(), [])
        self.assertTrue(all(node.poll() is None for node in fleet.nodes.values()), fleet.logs())
        return ran.returncode, ran.stderr

    def test_too_few_nodes_or_one_of_another_version(self):
        fleet = self.idle(1)
        self.assertEqual(self.refused(fleet, 3, "--wait", "2s"),
                         (3, "squall: load failed: too few nodes after 2 s: 1 of 3 nodes are there; waits for 2 more\n"))
        fleet.nats.publish("$KV.squall.node.old", json.dumps({
            "node": "old", "boot": 1, "version": "0.0.1", "host": "h", "os": "", "cpu": "", "cores": 1, "memory_bytes": 1, "open_files": 1, "ports": 1,
            "zone": "", "weight": 1.0, "calibration": 1.0, "key": "", "allows": {"hosts": ["*"], "exec": False, "files": None, "max_users": None}}))
        code, text = self.refused(fleet, 2, "--wait", "2s")
        self.assertEqual(code, 3)
        self.assertRegex(text, r"^squall: load failed: too few nodes after 2 s: 1 of 2 nodes are there; waits for 1 more \(old is squall 0\.0\.1, and this is \S+.*: install "
                               r"the same version on both\)\n$")

    def test_what_a_node_lacks_is_said_before_anything_is_sent(self):
        fleet = self.idle(2)
        missing = self.folder / "missing.csv"
        plan = self.folder / "lacks.yaml"
        plan.write_text(f"target: {fleet.counter.url}\ndata: {{rows: {{csv: {missing}}}}}\nscenarios:\n  all:\n"
                        '    load: {users: 4, for: 5s}\n    steps: [{get: "/${rows.id}"}]\n')
        ran = fleet.squall("run", str(plan), "--nodes", "2", "--quiet", "--out", str(self.folder / "runs"))
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertIn(str(missing), ran.stderr)
        self.assertEqual((fleet.counter.total(), fleet.nats.runs()), (0, []))
        code, text = self.refused(fleet, 2, "--allow-exec", step='exec: ["true"]')
        self.assertEqual(code, 3, text)
        self.assertIn("node n0 refuses the run: ", text)
        self.assertIn("--allow-exec", text)
        elsewhere = self.folder / "elsewhere.yaml"
        elsewhere.write_text(self.plan("http://192.0.2.1:9").read_text())
        ran = fleet.squall("run", str(elsewhere), "--nodes", "2", "--quiet", "--out", str(self.folder / "runs"))
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertRegex(ran.stderr, "node n[01] refuses the run: .*192.0.2.1.*--allow-hosts")


def processes_of(parent):
    """The processes that this one has started, and those that they have: each with when it began."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children.setdefault(int(words[1]), []).append((int(entry.name), words[19]))
    found, new = [], [parent]
    while new:
        new = [child for one in new for child in children.get(one, [])]
        found += new
        new = [pid for pid, _ in new]
    return found


def is_there(process):
    """Whether a process has not ended."""
    pid, began = process
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return False
    return words[19] == began and words[0] != "Z"


class Modules:
    """A server that has modules, by their paths."""

    def __init__(self, texts):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                text = texts.get(self.path)
                self.send_response(404 if text is None else 200)
                self.end_headers()
                self.wfile.write((text or "").encode())

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


SCRIPT = """
import http from 'k6/http';
import {{ SharedArray }} from 'k6/data';
import {{ own, read }} from '../lib/b.js';
import {{ near }} from '{modules}/lib/x.js';
const rows = new SharedArray('rows', () => JSON.parse(open('../data/rows.json')));
const name = read('name.txt');
export const options = {{ scenarios: {{ all: {{ executor: 'per-vu-iterations', vus: 8, iterations: 5 }} }} }};
export default function () {{ http.get(`{url}/${{own}}/${{near(21)}}/${{rows.length}}/${{name}}`); }}
"""


class Local(FleetTest):
    """`--nodes local:2`."""

    def start(self, *options):
        counter = Counter("127.0.0.1")
        self.addCleanup(counter.close)
        rows = self.folder / "rows.csv"
        rows.write_text("id\n" + "".join(f"{number}\n" for number in range(100_000)))
        plan = self.folder / "plan.yaml"
        plan.write_text(PLAN.format(url=counter.url, rows=rows, rate=RATE, seconds=10, steps=f"[{STEP}]"))
        temporary = self.folder / "temporary"
        temporary.mkdir()
        environment = {**os.environ, "SQUALL_NATS_SERVER": str(NATS), "TMPDIR": str(temporary)}
        with (self.folder / "squall.log").open("ab") as log:
            squall = subprocess.Popen([SQUALL, "run", plan, "--nodes", "local:2", "--quiet", "--seed", "7", "--json", self.folder / "run.json",
                                       "--out", self.folder / "runs", *options], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(lambda: squall.poll() is None and squall.kill())
        return squall, counter, temporary

    def log(self):
        return (self.folder / "squall.log").read_text()

    def test_all_is_counted_and_nothing_is_left(self):
        squall, counter, temporary = self.start()
        until(lambda: counter.total() >= RATE or squall.poll() is not None, "nothing is sent")
        started = processes_of(squall.pid)
        self.assertGreaterEqual(len(started), 4, "a guard, the server and two nodes")
        self.assertEqual(squall.wait(timeout=PATIENCE), 0, self.log())
        run = json.loads((self.folder / "run.json").read_text())
        self.assertEqual(run["fleet"]["cells"]["missing"], [], self.log())
        self.assertEqual((counter.total(), sum(row["count"] for row in run["requests"])), (RATE * 10, RATE * 10))
        until(lambda: not any(map(is_there, started)), "processes are left")
        self.assertEqual([path.name for path in temporary.iterdir() if path.name.startswith("squall-nats-")], [])

    def test_a_script_comes_with_its_modules_and_files(self):
        counter, modules = Counter("127.0.0.1"), Modules({"/lib/x.js": "import { far } from './far.ts'; export const near = (n) => far(n);\n",
                                                          "/lib/far.ts": "export const far = (n: number): number => n * 2;\n"})
        self.addCleanup(counter.close)
        self.addCleanup(modules.close)
        files = {"package.json": "{}", "lib/b.js": "export const own = 'own'; export const read = (name) => open(name);\n",
                 "data/rows.json": "[1, 2, 3]\n", "t/name.txt": "ann", "t/a.js": SCRIPT.format(url=counter.url, modules=modules.url)}
        for name, text in files.items():
            path = self.folder / "r" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        script = self.folder / "r/t/a.js"
        temporary = self.folder / "temporary"
        temporary.mkdir()
        environment = {**os.environ, "SQUALL_NATS_SERVER": str(NATS), "TMPDIR": str(temporary)}

        def squall(*words):
            ran = subprocess.run([SQUALL, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 timeout=PATIENCE, check=False)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

        squall("k6", "fetch", script)
        modules.close()
        squall("run", script, "--nodes", "local:2", "--quiet", "--json", self.folder / "run.json", "--out", self.folder / "runs")
        run = json.loads((self.folder / "run.json").read_text())
        self.assertEqual(len(run["nodes"]), 2)
        self.assertEqual(dict(counter.seen), {"/own/42/3/ann": 40}, run)

    def test_a_node_that_dies_before_the_load_begins_ends_the_run(self):
        squall, counter, _ = self.start()

        def nodes():
            return [pid for pid, _ in processes_of(squall.pid) if b"local-1" in Path(f"/proc/{pid}/cmdline").read_bytes()]

        until(lambda: nodes() or squall.poll() is not None, "no node is started")
        found = nodes()
        self.assertTrue(found, self.log())
        os.kill(found[0], signal.SIGKILL)
        # It would wait for five minutes otherwise.
        self.assertEqual(squall.wait(timeout=PATIENCE), 3, self.log())
        self.assertIn("load failed: node local-1 has ended: signal: 9 (SIGKILL)", self.log())
        self.assertEqual(counter.total(), 0)

    def test_nothing_is_left_of_a_squall_that_is_killed(self):
        squall, counter, temporary = self.start()
        until(lambda: counter.total() >= RATE or squall.poll() is not None, "nothing is sent")
        started = processes_of(squall.pid)
        self.assertGreaterEqual(len(started), 4, "a guard, the server and two nodes")
        squall.send_signal(signal.SIGKILL)
        squall.wait()
        until(lambda: not any(map(is_there, started)), "processes are left")
        until(lambda: not [path for path in temporary.iterdir() if path.name.startswith("squall-nats-")], "the server's folder is left")


if __name__ == "__main__":
    unittest.main()
