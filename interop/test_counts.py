"""Counts are exact: what run.json says of each request is what the application's own log says, to the last one. One
small shop, by nginx, Node and Python, under load with several users, loops, choices, logins, redirects and failures."""

import collections
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from peers import PATIENCE, SQUALL, Process, free_port

SERVERS = Path(__file__).resolve().parent / "servers"
USERS, ITERATIONS, ARRIVALS = 20, 30, 300
# What becomes of a request that has no status, in nginx's log: its own 444 (closed), and 499 (the client went away).
NGINX_WORDS = {"444": "reset", "499": "never"}
PLAN = """
target: http://127.0.0.1:{port}
defaults: {{retry_stale: {retry}}}
setup: [{{get: /setup}}]
teardown: [{{get: /teardown}}]
scenarios:
  shopper:
    load: {{users: %d, iterations: %d}}
    steps:
      - post: '/login?password=${{iteration %% 5 == 4 ? "wrong" : "right"}}'
        name: login
      - {{get: /home, name: home}}
      - repeat: 3
        steps: [{{get: /page, name: page}}]
      - choose:
          - {{weight: 5, steps: [{{get: /missing, name: missing}}]}}
          - {{weight: 3, steps: [{{get: /broken, name: broken}}]}}
          - {{weight: 3, steps: [{{get: /moved, name: moved, redirects: 3}}]}}
          - {{weight: 2, steps: [{{get: /reset, name: reset}}]}}
          - {{weight: 1, steps: [{{get: /never, name: never, timeout: {{first_byte: 1s}}}}]}}
  stranger:
    load: {{rate: 100/s, for: 3s, max_users: 300}}
    steps:
      - {{get: /home, name: closed home}}
""" % (USERS, ITERATIONS)

Row = collections.namedtuple("Row", "count errors kinds status")


def rows(run):
    """Of each request of a run's load by name: its count, errors, errors by kind, responses by status. The one place
    that knows how run.json holds them."""
    return {row["name"]: Row(row["count"], row["errors"], row["error_kinds"],
                             {int(status): number for status, number in row["status"].items()})
            for row in run["requests"]}


def run_of(port, retry):
    """run.json of a run of the plan."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.yaml"
        path.write_text(PLAN.format(port=port, retry=str(retry).lower()))
        command = [SQUALL, "run", str(path), "--out", folder, "--quiet", "--json", "-"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE)
        if not ran.stdout:
            raise AssertionError(f"exit code {ran.returncode}: {ran.stderr}")
        return json.loads(ran.stdout)


class Shop:
    """A server with a log of its own."""

    def __init__(self, kind):
        self.folder = Path(tempfile.mkdtemp(prefix="squall-interop-"))
        os.chmod(self.folder, 0o755)
        self.log, self.port = self.folder / "log", free_port()
        # For nginx: something that takes connections and never answers.
        self.silent = socket.create_server(("127.0.0.1", 0), backlog=1024)
        command = {"node": ["node", str(SERVERS / "shop.js"), str(self.port), str(self.log)],
                   "python": [sys.executable, str(SERVERS / "shop.py"), str(self.port), str(self.log)],
                   "nginx": ["nginx", "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"),
                             "-e", str(self.folder / "error.log")]}[kind]
        if kind == "nginx":
            self.configure()
        self.process = Process(command, self.port)

    def configure(self):
        temps = "".join(f"{kind}_temp_path {self.folder}/{kind};"
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(f"""
{'user root;' if os.geteuid() == 0 else ''} daemon off; worker_processes 1; pid {self.folder}/pid;
events {{ worker_connections 4000; }}
http {{ {temps} log_format counts '$request_method $uri $status'; access_log {self.log} counts;
  server {{ listen 127.0.0.1:{self.port};
    location / {{ return 200 "shop"; }}
    location = /login {{ if ($arg_password != right) {{ return 401; }}
      add_header Set-Cookie "sid=1; Path=/"; return 200 "shop"; }}
    location = /home {{ if ($cookie_sid = "") {{ return 403; }} return 200 "shop"; }}
    location = /moved {{ return 302 /page; }}
    location = /broken {{ return 500; }}
    location = /missing {{ return 404; }}
    location = /reset {{ return 444; }}
    location = /never {{ proxy_pass http://127.0.0.1:{self.silent.getsockname()[1]}; }} }} }}
""")

    def close(self):
        self.process.stop()
        self.silent.close()
        shutil.rmtree(self.folder)

    def counted(self):
        """How often each path had each end, by the log."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return collections.Counter((path, NGINX_WORDS.get(end, end)) for _, path, end in lines)


class Counts(unittest.TestCase):
    def test_nginx(self):
        self.compare("nginx")

    def test_node(self):
        self.compare("node")

    def test_python(self):
        self.compare("python")

    def compare(self, kind):
        for retry in (False, True):
            with self.subTest(retry_stale=retry), contextlib.closing(Shop(kind)) as shop:
                run = run_of(shop.port, retry)
                # A server says that a client has gone away when it sees it.
                shop.process.stop()
                self.check(rows(run), run["counters"], run["totals"], shop.counted(), retry)

    def check(self, by_name, counters, totals, log, retry):
        of = by_name.__getitem__
        # The scenarios did what the plan says.
        self.assertEqual(of("login").status, {200: USERS * ITERATIONS * 4 // 5, 401: USERS * ITERATIONS // 5})
        self.assertEqual((of("login").errors, of("login").kinds), (USERS * ITERATIONS // 5, {"status": USERS * ITERATIONS // 5}))
        self.assertEqual((of("page").count, of("page").errors), (3 * USERS * ITERATIONS, 0))
        chosen = sum(of(name).count for name in ("missing", "broken", "moved", "reset", "never"))
        self.assertEqual(chosen, USERS * ITERATIONS)
        self.assertTrue(all(of(name).count for name in ("missing", "broken", "moved", "reset", "never")))
        # On a machine that is busy enough, an arrival may find no user: it is counted, and came to nobody.
        arrived = ARRIVALS - counters["arrivals_dropped"]
        self.assertEqual(counters["arrivals_due"], ARRIVALS)
        self.assertEqual(counters["iterations_done"], USERS * ITERATIONS + arrived)
        self.assertEqual((of("closed home").count, log["/home", "403"]), (arrived, arrived))
        # Setup and teardown ran once each, and are no part of the load.
        self.assertEqual((log["/setup", "200"], log["/teardown", "200"]), (1, 1))
        self.assertFalse([name for name in by_name if "setup" in name or "teardown" in name])
        # What the application counted.
        self.assertEqual(of("login").status, {200: log["/login", "200"], 401: log["/login", "401"]})
        self.assertEqual((of("home").status, of("closed home").status), ({200: log["/home", "200"]}, {403: log["/home", "403"]}))
        self.assertEqual((of("missing").status, of("broken").status), ({404: log["/missing", "404"]}, {500: log["/broken", "500"]}))
        self.assertEqual((of("moved").status, counters["redirects"]), ({200: log["/moved", "302"]}, log["/moved", "302"]))
        self.assertEqual(of("page").count + of("moved").count, log["/page", "200"])
        self.assertEqual(of("never").kinds, {"timeout_first_byte": log["/never", "never"]})
        # A reset request that the target's kernel had not acknowledged is sent again, which is counted.
        self.assertEqual(of("reset").count + counters["stale_retries"], log["/reset", "reset"])
        self.assertEqual(sum(of("reset").kinds.values()), of("reset").count)
        self.assertTrue(set(of("reset").kinds) <= {"reset", "closed_early"}, of("reset").kinds)
        if not retry:
            self.assertEqual(counters["stale_retries"], 0)
        # Nothing else came, and the totals are the sum.
        self.assertEqual(totals["count"], sum(row.count for row in by_name.values()))
        self.assertEqual(totals["errors"], sum(row.errors for row in by_name.values()))
        self.assertEqual(sum(log.values()), totals["count"] + counters["redirects"] + counters["stale_retries"] + 2)


if __name__ == "__main__":
    unittest.main()
