"""The file of `squall fleet manifest kubernetes`, as it is printed, on a real control plane: admitted under the restricted profile of Pod
Security, its pods run as processes. A node is killed, then the controller, then the server: all are replaced, and the run goes on to its
end."""

import json
import os
import signal
import subprocess
import time
import unittest

from fleet import NATS, Counter
from launchers.kubernetes.cluster import BUILT, Bridge, Cluster, is_root
from launchers.kubernetes.kubelet import Kubelet
from launchers.kubernetes.pod import Images
from peers import SQUALL, until
from test_fleet import RATE, WITHOUT_ROWS, FleetTest

SECONDS = 100
JOBS = ["squall-nodes-east", "squall-nodes-west"]
DISK = """---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  capacity: {{storage: {size}Gi}}
  accessModes: [ReadWriteOnce]
  hostPath: {{path: {folder}/{name}}}
"""


class Deployed:
    """What `kubectl apply` has made of the file."""

    def __init__(self, test):
        self.folder = test.folder
        self.cluster = Cluster(self.folder / "cluster")
        test.addCleanup(self.cluster.stop)
        self.bridge = Bridge()
        test.addCleanup(self.bridge.close)
        self.counter = Counter(self.bridge.gateway)
        test.addCleanup(self.counter.close)
        self.kubelet = Kubelet(self.cluster, self.bridge, Images(self.folder / "images", SQUALL, NATS, BUILT / "debian/bin/busybox"))
        test.addCleanup(self.kubelet.stop)
        # Pods have users of their own, for whom the folder of the test is closed.
        self.folder.chmod(0o755)

    def apply(self):
        kubectl = self.cluster.kubectl
        kubectl("label", "namespace", "default", "pod-security.kubernetes.io/enforce=restricted")
        kubectl("apply", "-f", "-", text="".join(DISK.format(name=name, size=size, folder=self.folder) for name, size in (("data", 10), ("results", 5))))
        plan = self.folder / "shop.yaml"
        plan.write_text(f"target: {self.counter.url}\nscenarios:\n  arrivals:\n    load: {{rate: {RATE}/s, for: {SECONDS}s, max_users: 200}}\n"
                        f"    steps: [{WITHOUT_ROWS}]\n")
        printed = subprocess.run([SQUALL, "fleet", "manifest", "kubernetes", "--nodes", "east=2,west=2", "--allow-hosts", self.bridge.gateway],
                                 check=True, capture_output=True, text=True).stdout
        kubectl("create", "configmap", "squall-plan", f"--from-file=plan.yaml={plan}")
        said = kubectl("apply", "-f", "-", text=printed)
        # What Pod Security has to say would be a warning.
        assert "Warning" not in said, said

    def kill(self, prefix):
        """Kills the process of a pod, and waits for the pod that replaces it: how long its process took to come."""
        killed = self.kubelet.having(prefix)[-1]
        os.kill(killed.process.pid, signal.SIGKILL)
        began = time.monotonic()

        def is_replaced():
            last = self.kubelet.having(prefix)[-1]
            return last is not killed and last.process and last.process.poll() is None and "/usr/bin/squall" in last.process.args
        until(is_replaced, f"the pod of {prefix} is not replaced")
        return time.monotonic() - began

    def restart(self, name):
        """Kills the process of a pod that is always there: it is started again where it was."""
        pod, = self.kubelet.having(name)
        killed = pod.process
        killed.kill()
        until(lambda: pod.process is not killed, f"{name} is not started again")

    def result(self):
        until(lambda: all("Complete" in self.conditions(job) for job in JOBS), "the nodes do not end")
        until(lambda: self.conditions("squall-controller"), "the controller does not end")
        found, = (self.folder / "results").glob("*/run.json")
        return json.loads(found.read_text())

    def conditions(self, job):
        status = self.cluster.api.ask("GET", f"/apis/batch/v1/namespaces/default/jobs/{job}")["status"]
        return [condition["type"] for condition in status.get("conditions", []) if condition["status"] == "True"]

    def logs(self):
        return self.cluster.kubectl("get", "jobs,pods,pvc", "--output=wide") + self.kubelet.logs()


@unittest.skipUnless(is_root(), "pods have network namespaces, which root makes")
class Kubernetes(FleetTest):
    def test_a_run_survives_the_loss_of_a_node_and_of_the_controller(self):
        fleet = Deployed(self)
        try:
            began = time.monotonic()
            fleet.apply()
            until(lambda: fleet.counter.total() >= RATE * 8, "nothing is sent")
            print(f"\nload {time.monotonic() - began:.1f} s after kubectl apply")
            print(f"node replaced after {fleet.kill('squall-nodes-west-1-'):.1f} s")
            count = fleet.counter.total()
            until(lambda: fleet.counter.total() >= count + RATE * 10, "the load does not go on")
            print(f"controller replaced after {fleet.kill('squall-controller-'):.1f} s")
            count = fleet.counter.total()
            until(lambda: fleet.counter.total() >= count + RATE * 10, "the load does not go on")
            fleet.restart("squall-nats-0")
            run, cells = self.counts(fleet, lost=2)
        except AssertionError:
            print(fleet.logs())
            raise
        print(json.dumps({"cells": cells, "events": run["fleet"]["events"]}, indent=1))
        print(fleet.logs())
        for job in [*JOBS, "squall-controller"]:
            self.assertIn("Complete", fleet.conditions(job), "its pods end with 0")
        # Nothing but what the killed node would have driven is missing.
        self.assertEqual({gap["node"] for gap in cells["missing"]}, {"west-1"})
        self.assertNotIn("ermission", fleet.kubelet.logs())
        node, = [node for node in run["nodes"] if node["node"] == "west-1"]
        self.assertEqual(node["end"], "done")


if __name__ == "__main__":
    unittest.main()
