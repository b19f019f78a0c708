"""The server of `squall fleet manifest kubernetes`, configured as its pod does it: each node has a password of its own, and may publish only
what is its own; a plan runs on nodes that may do no more. Without Kubernetes."""

import os
import socket
import subprocess
import unittest

import yaml
from fleet import NATS, Counter
from peers import PATIENCE, SQUALL, until, wait_for
from ports import free_port
from test_fleet import RATE, SECONDS, WITHOUT_ROWS, FleetTest


class Server:
    """nats-server with the configuration of a printed file, and who may come: a password by the name of each user."""

    def __init__(self, folder, printed):
        self.folder, self.port = folder, free_port()
        documents = {(document["kind"], document["metadata"]["name"]): document for document in yaml.safe_load_all(printed)}
        self.passwords = documents["Secret", "squall-nodes"]["stringData"]
        controller = documents["Secret", "squall-controller"]["stringData"]["password"]
        self.configure(documents["ConfigMap", "squall-nats"]["data"], controller)
        self.passwords = {"controller": controller, **self.passwords}
        with (folder / "nats.log").open("wb") as log:
            self.process = subprocess.Popen([NATS, "--config", folder / "etc/nats.conf"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(self.port)

    def configure(self, files, controller):
        """Runs the pod's script, with folders of the test in the place of its volumes."""
        places = {"/template": "template", "/passwords": "passwords", "/etc/nats": "etc"}
        for name in places.values():
            (self.folder / name).mkdir()
        for folder, contents in (("template", files), ("passwords", self.passwords)):
            for name, text in contents.items():
                (self.folder / folder / name).write_text(text)
        script = files["configure.sh"]
        for place, name in places.items():
            script = script.replace(place, str(self.folder / name))
        subprocess.run(["sh", "-ec", script], env={**os.environ, "CONTROLLER": controller}, check=True)
        path = self.folder / "etc/nats.conf"
        text = path.read_text().replace("port: 4222", f'listen: "127.0.0.1:{self.port}"').replace("http: 8222", "")
        path.write_text(text.replace("store_dir: /data", f'store_dir: "{self.folder}/data"'))

    def said(self, user, subject, password=None, verb="PUB"):
        """What the server says of a message by this user, or of its wish to hear those of a subject: None if it takes it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection, connection.makefile("rb") as lines:
            lines.readline()
            words = f'CONNECT {{"verbose":false,"user":"{user}","pass":"{password or self.passwords[user]}"}}\r\n'
            words += f"PUB {subject} 1\r\nx\r\nPING\r\n" if verb == "PUB" else f"SUB {subject} 1\r\nPING\r\n"
            connection.sendall(words.encode())
            errors = []
            while (line := lines.readline()) and not line.startswith(b"PONG"):
                if line.startswith(b"-ERR"):
                    errors.append(line.decode().strip())
            return " ".join(errors) or None


class Permissions(FleetTest):
    def setUp(self):
        super().setUp()
        self.counter = Counter("127.0.0.1")
        self.addCleanup(self.counter.close)
        printed = subprocess.run([SQUALL, "fleet", "manifest", "kubernetes", "--nodes", "west=2", "--allow-hosts", "127.0.0.1"],
                                 check=True, capture_output=True, text=True).stdout
        self.server = Server(self.folder, printed)
        self.addCleanup(lambda: (self.server.process.kill(), self.server.process.wait()))
        self.url = f"nats://127.0.0.1:{self.server.port}"

    def test_a_node_publishes_what_is_its_own_alone(self):
        said = self.server.said
        for subject in ("squall.r.second.west-1", "squall.hb.west-1", "$KV.squall.node.west-1", "squall.r.clock"):
            self.assertIsNone(said("west-1", subject), subject)
        self.assertIsNone(said("west-1", "squall.hb.west-1", verb="SUB"))
        for subject in ("squall.r.second.west-0", "squall.hb.west-0", "$KV.squall.node.west-0", "$KV.squall.run.r.order", "$KV.squall.call.west-1",
                        "$KV.squall.run.r.share.west-1", "$JS.API.STREAM.DELETE.KV_squall", "_INBOX.controller.x", "squall.r.resend"):
            self.assertIn("Permissions Violation for Publish", said("west-1", subject) or "nothing", subject)
        for subject in ("squall.>", "squall.hb.*", "squall.hb.west-0", "_INBOX.west-0.>", "_INBOX.controller.>", ">"):
            self.assertIn("Permissions Violation for Subscription", said("west-1", subject, verb="SUB") or "nothing", subject)
        self.assertIn("Authorization Violation", said("west-0", "squall.hb.west-0", self.server.passwords["west-1"]))
        self.assertIn("Authorization Violation", said("controller", "squall.hb.west-0", self.server.passwords["west-1"]))

    def node(self, name, folder, *options):
        """Starts a node, as a pod does it."""
        (self.folder / folder).mkdir()
        password = self.folder / folder / "password"
        password.write_text(self.server.passwords[name])
        with (self.folder / folder / "node.log").open("wb") as log:
            node = subprocess.Popen(
                [SQUALL, "node", "--nats", self.url, "--nats-user", name, "--nats-password-file", password, "--zone", "west",
                 "--allow-hosts", "127.0.0.1", "--spool", self.folder / folder, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(lambda: (node.kill(), node.wait()))
        return node

    def said(self, folder):
        return (self.folder / folder / "node.log").read_text()

    def run_plan(self):
        """Runs a plan on both nodes, and counts."""
        plan = self.folder / "plan.yaml"
        plan.write_text(f"target: {self.counter.url}\nscenarios:\n  arrivals:\n    load: {{rate: {RATE}/s, for: {SECONDS}s, max_users: 200}}\n"
                        f"    steps: [{WITHOUT_ROWS}]\n")
        environment = {**os.environ, "SQUALL_NATS": self.url, "SQUALL_NATS_USER": "controller",
                       "SQUALL_NATS_PASSWORD": self.server.passwords["controller"]}
        ran = subprocess.run([SQUALL, "run", plan, "--nodes", "west=2", "--quiet", "--out", self.folder / "runs"], env=environment,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr + self.said("west-0") + self.said("west-1"))
        self.assertEqual(self.counter.total(), RATE * SECONDS)
        self.assertNotIn("ermission", ran.stderr)

    def test_a_plan_runs_on_nodes_that_may_do_no_more(self):
        first, _ = (self.node(name, name) for name in ("west-0", "west-1"))
        self.run_plan()
        # A node that comes back finds out whether its name is another's by now.
        twin = self.node("west-0", "twin")
        self.assertEqual(twin.wait(timeout=PATIENCE), 3, self.said("twin"))
        self.assertIn("the name west-0 is taken by another node of this fleet", self.said("twin"))
        first.kill()
        first.wait()
        self.node("west-0", "again")
        until(lambda: "joined as" in self.said("again"), "the node does not come back")
        for folder in ("west-0", "west-1", "twin", "again"):
            self.assertNotIn("ermission", self.said(folder))


if __name__ == "__main__":
    unittest.main()
