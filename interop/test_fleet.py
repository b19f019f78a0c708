"""Fleets of real processes over a real nats-server, in which processes are killed, cut off and started anew. A server that shares no
code with squall counts: its count is that of run.json and what the coverage says was not driven. Each arrival has a number drawn from
the seed, the scenario and the arrival, so that one that was sent twice is seen.

The twelve experiments that the design was tried by, and what must be so after each:

| experiment | test | what must be so |
| --- | --- | --- |
| no fault | `Kept.test_no_fault` | every cell, every request once |
| a node is killed | `Moved.test_a_killed_node_is_replaced_by_the_others` | the rest is driven by others; what is missing was its own |
| killed and started anew | `Moved.test_a_killed_node_that_is_started_anew_goes_on` | what is missing was its own |
| the controller is killed and replaced | `Kept.test_a_killed_controller_is_resumed` | every cell, every request once |
| a line is cut for 5 s | `Kept.test_a_node_that_is_cut_off_for_less_than_the_lease_loses_nothing` | every cell, every request once |
| the same, and the controller is replaced | `Kept.test_a_node_that_is_cut_off_while_the_controller_is_replaced_loses_nothing` | every cell, every request once |
| a line is cut for 12 s, with a lease of 4 s | `Moved.test_a_node_that_is_cut_off_for_longer_stops_and_sends_nothing_twice` | nothing is sent twice |
| a node is killed while cut off | `Moved.test_a_node_that_is_killed_while_cut_off_sends_what_it_had_kept` | what it had kept is there |
| the server is killed, and back | `Kept.test_a_server_that_is_killed_and_started_anew` | every cell, every request once |
| the server forgets what it acknowledged | `Kept.test_a_server_that_forgets_what_it_acknowledged` | every cell, every request once |
| a node joins | `Joined.test_a_node_that_joins_takes_its_share` | every cell, every request once |
| the run is stopped | `Kept.test_a_stopped_run_ends_everywhere` | what was sent is recorded |
"""

import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from fleet import NATS, Fleet
from peers import PATIENCE, until

ROOT = Path(__file__).resolve().parent.parent
RATE, SECONDS, LEASE = 40, 8, 4
# Longer than what is cut, killed or started anew in a test is away.
LONG_LEASE = 12
PLAN = """
target: {url}
data:
  rows: {{csv: {rows}, share: all, at_end: stop}}
scenarios:
  arrivals:
    load: {{rate: {rate}/s, for: {seconds}s, max_users: 200}}
    steps: {steps}
"""
WITHOUT_ROWS = '{get: "/a/${random(1, 1000000000000)}", name: row}'
STEP = '{get: "/a/${random(1, 1000000000000)}/${rows.id}", name: row}'


class Transport(unittest.TestCase):
    """The transport's own tests, which `cargo test` leaves out."""

    def test_against_the_server(self):
        environment = {**os.environ, "SQUALL_NATS_SERVER": str(NATS)}
        ran = subprocess.run(["cargo", "nextest", "run", "--workspace", "--locked", "-E", "package(squall-fleet)", "--run-ignored", "only", "--no-fail-fast"],
                             cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


class FleetTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="squall-fleet-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def fleet(self, nodes=3, seconds=SECONDS, steps=f"[{STEP}]", lease=LEASE):
        fleet = Fleet(self.folder, nodes)
        self.addCleanup(fleet.close)
        rows = self.folder / "rows.csv"
        rows.write_text("id\n" + "".join(f"{number}\n" for number in range(100_000)))
        fleet.plan = PLAN.format(url=fleet.counter.url, rows=rows, rate=RATE, seconds=seconds, steps=steps)
        fleet.control(fleet.plan, nodes, "--lease", f"{lease}s")
        return fleet

    def cut_off(self, seconds, lease=LONG_LEASE, steps=f"[{STEP}]"):
        """A fleet that has run for two seconds, and of which node 1 does not reach the NATS server."""
        fleet = self.fleet(seconds=seconds, lease=lease, steps=steps)
        if not fleet.network.count:
            self.skipTest("nobody can be cut off without network namespaces")
        fleet.sent(RATE * 2)
        fleet.network.cut(1)
        return fleet

    def counts(self, fleet, lost=0):
        """Holds run.json against the server's count; `lost`: seconds of one node whose requests may have been sent and not
        recorded."""
        run = fleet.result()
        recorded = sum(row["count"] for row in run["requests"])
        cells = run["fleet"]["cells"]
        self.assertEqual(fleet.counter.twice(2), [], "arrivals that were sent twice")
        missing = sum(gap["to_s"] - gap["from_s"] + 1 for gap in cells["missing"])
        self.assertEqual(cells["driven"] + missing, cells["cells"], cells)
        self.assertGreaterEqual(fleet.counter.total(), recorded)
        # What is not said to be missing was driven: arrival n belongs to shard n mod their number, and comes n / RATE seconds after the
        # start. Of the last second, and of the one before a kill, some may not have been begun.
        undriven = {(gap["shard"], second) for gap in cells["missing"] for second in range(gap["from_s"], gap["to_s"] + 1)}
        shards = run["fleet"]["shards"]
        arrivals = RATE * (cells["cells"] // shards - 1)
        driven = sum((number % shards, number // RATE) not in undriven for number in range(arrivals))
        self.assertGreaterEqual(fleet.counter.total() + RATE // 4, driven, f"{cells}\n{fleet.logs()}")
        self.assertLessEqual(fleet.counter.total() - recorded, lost * RATE, f"{cells}\n{fleet.logs()}")
        return run, cells

    def whole(self, fleet, seconds=SECONDS):
        """Nothing is missing."""
        run, cells = self.counts(fleet)
        self.assertEqual(cells["missing"], [], fleet.logs())
        self.assertEqual(fleet.counter.total(), RATE * seconds)
        self.assertEqual(sum(row["count"] for row in run["requests"]), RATE * seconds)
        return run


class Kept(FleetTest):
    """Faults in which every shard stays where it is: nothing is lost."""

    def test_no_fault(self):
        fleet = self.fleet()
        run = self.whole(fleet)
        self.assertEqual(fleet.counter.twice(3), [], "rows that were used twice")
        self.assertEqual(sorted(node["node"] for node in run["nodes"]), ["n0", "n1", "n2"])
        for node in fleet.nodes.values():
            self.assertEqual(node.wait(timeout=PATIENCE), 0, fleet.logs())
        self.assertEqual(fleet.nats.runs(), [], "the server keeps nothing of a run that is over")

    def test_a_killed_controller_is_resumed(self):
        fleet = self.fleet(seconds=10)
        fleet.sent(RATE * 2)
        fleet.controller.kill()
        fleet.controller.wait()
        time.sleep(2)
        fleet.control(fleet.plan, 3, "--lease", f"{LEASE}s", "--resume")
        self.whole(fleet, 10)

    def test_a_node_that_is_cut_off_for_less_than_the_lease_loses_nothing(self):
        fleet = self.cut_off(10)
        time.sleep(5)
        fleet.network.heal(1)
        self.whole(fleet, 10)

    def test_a_node_that_is_cut_off_while_the_controller_is_replaced_loses_nothing(self):
        fleet = self.cut_off(12)
        fleet.controller.kill()
        fleet.controller.wait()
        time.sleep(2)
        fleet.control(fleet.plan, 3, "--lease", f"{LONG_LEASE}s", "--resume")
        time.sleep(3)
        fleet.network.heal(1)
        self.whole(fleet, 12)

    def test_a_server_that_is_killed_and_started_anew(self):
        fleet = self.fleet(seconds=10, lease=LONG_LEASE)
        fleet.sent(RATE * 2)
        fleet.nats.kill()
        time.sleep(3)
        fleet.nats.start()
        self.whole(fleet, 10)

    def test_a_server_that_forgets_what_it_acknowledged(self):
        fleet = self.fleet(lease=LONG_LEASE)
        fleet.sent(RATE * 4)
        stream, = fleet.nats.runs()
        fleet.controller.kill()
        fleet.controller.wait()
        self.assertGreater(fleet.nats.forget(stream, 6), 0)
        fleet.control(fleet.plan, 3, "--lease", f"{LONG_LEASE}s", "--resume")
        self.whole(fleet)

    def test_a_stopped_run_ends_everywhere(self):
        fleet = self.fleet(seconds=60)
        fleet.sent(RATE * 2)
        fleet.controller.send_signal(signal.SIGINT)
        self.counts(fleet)
        for node in fleet.nodes.values():
            until(lambda node=node: node.poll() is not None, "a node goes on after its run")


class Moved(FleetTest):
    """Faults in which shards go from node to node."""

    def own(self, cells, number=1):
        """What is missing was that of this node."""
        self.assertEqual({gap["node"] for gap in cells["missing"]} - {"", f"n{number}"}, set(), cells)

    def test_a_killed_node_is_replaced_by_the_others(self):
        fleet = self.fleet(seconds=13, steps=f"[{WITHOUT_ROWS}]")
        fleet.sent(RATE * 2)
        fleet.kill(1)
        _, cells = self.counts(fleet, lost=LEASE + 4)
        self.assertTrue(cells["missing"])
        self.own(cells)
        self.assertLess(max(gap["to_s"] for gap in cells["missing"]), 12, "its shards go on with others")

    def test_a_killed_node_that_is_started_anew_goes_on(self):
        fleet = self.fleet(seconds=12, steps=f"[{WITHOUT_ROWS}]")
        fleet.sent(RATE * 2)
        fleet.kill(1)
        time.sleep(1)
        fleet.start(1)
        _, cells = self.counts(fleet, lost=LEASE + 4)
        self.own(cells)
        self.assertLess(max((gap["to_s"] for gap in cells["missing"]), default=0), 11, "its shards go on")

    def test_a_node_that_is_cut_off_for_longer_stops_and_sends_nothing_twice(self):
        fleet = self.cut_off(17, LEASE, f"[{WITHOUT_ROWS}]")
        time.sleep(3 * LEASE)
        fleet.network.heal(1)
        _, cells = self.counts(fleet, lost=LEASE + 4)
        self.assertTrue(cells["missing"])

    def test_a_node_that_is_killed_while_cut_off_sends_what_it_had_kept(self):
        fleet = self.cut_off(12, LONG_LEASE, f"[{WITHOUT_ROWS}]")
        time.sleep(3)
        fleet.kill(1)
        fleet.network.heal(1)
        fleet.start(1)
        _, cells = self.counts(fleet, lost=4)
        self.own(cells)
        # It was cut off after two seconds, and killed after five: the last of these may not have been kept.
        self.assertGreaterEqual(min((gap["from_s"] for gap in cells["missing"]), default=4), 4, cells)

    def test_a_stopped_node_that_wakes_sends_nothing_twice(self):
        fleet = self.fleet(seconds=13, steps=f"[{WITHOUT_ROWS}]")
        fleet.sent(RATE * 2)
        fleet.nodes[1].send_signal(signal.SIGSTOP)
        time.sleep(2 * LEASE)
        fleet.nodes[1].send_signal(signal.SIGCONT)
        self.counts(fleet, lost=LEASE + 4)
        self.assertIn("nothing more is sent", (self.folder / "node-1.log").read_text())


class Joined(FleetTest):
    """A node that comes late."""

    def test_a_node_that_joins_takes_its_share(self):
        fleet = self.fleet(seconds=12, steps=f"[{WITHOUT_ROWS}]")
        fleet.sent(RATE * 2)
        fleet.start(3)
        run = self.whole(fleet, 12)
        joined = next(node for node in run["nodes"] if node["node"] == "n3")
        self.assertGreater(joined["requests"], 0)

    def test_rows_are_used_once_also_when_shards_move(self):
        fleet = self.fleet(seconds=9)
        fleet.sent(RATE * 2)
        fleet.start(3)
        fleet.result()
        self.assertRegex((self.folder / "node-3.log").read_text(), r" on shards \d", "it gets no shards")
        self.assertEqual(fleet.counter.twice(3), [], "rows that were used twice")


if __name__ == "__main__":
    unittest.main()
