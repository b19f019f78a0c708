"""A small kubelet: machines that are ready, and pods that run as processes of this one (pod.py). Init containers, restart policies,
readiness by HTTP, deletion with its grace, and a file of names in the place of a DNS server. It has no logs, no evictions and no limits."""

import contextlib
import datetime
import subprocess
import threading
import time
import traceback
import urllib.request

from launchers.kubernetes.cluster import STRATEGIC
from launchers.kubernetes.pod import Pod

MACHINES = 4
CAPACITY = {"cpu": "8", "memory": "16Gi", "pods": "100"}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Running:
    """A pod that this kubelet has."""

    def __init__(self, spec):
        self.spec, self.address, self.process, self.is_leaving = spec, None, None, False
        self.started, self.statuses, self.is_over = now(), {}, threading.Event()

    @property
    def name(self):
        return self.spec["metadata"]["name"]

    @property
    def path(self):
        return f"/api/v1/namespaces/{self.spec['metadata']['namespace']}/pods/{self.name}"


class Kubelet:
    def __init__(self, cluster, bridge, images):
        self.api, self.bridge, self.images = cluster.api, bridge, images
        self.folder = cluster.folder / "kubelet"
        self.folder.mkdir()
        self.hosts = self.folder / "hosts"
        self.hosts.write_text("127.0.0.1 localhost\n")
        # By the pod's uid; those that are over stay.
        self.pods, self.stopping = {}, threading.Event()
        for number in range(MACHINES):
            name = f"machine-{number}"
            self.api.ask("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
        self.beat()
        self.threads = [threading.Thread(target=self.look, args=arguments, daemon=True)
                        for arguments in ((self.beat, 5), (self.sync, 0.2), (self.names, 0.2))]
        for thread in self.threads:
            thread.start()

    def look(self, once, pause):
        while not self.stopping.wait(pause):
            try:
                once()
            except (OSError, AssertionError):
                # The API server is busy, or ends.
                traceback.print_exc()

    def beat(self):
        for number in range(MACHINES):
            ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now()}
            self.api.ask("PATCH", f"/api/v1/nodes/machine-{number}/status",
                         {"status": {"capacity": CAPACITY, "allocatable": CAPACITY, "conditions": [ready]}}, STRATEGIC)

    def names(self):
        """The addresses of ready pods under the names of their services, into the file that all pods have as /etc/hosts."""
        lines = ["127.0.0.1 localhost"]
        for piece in self.api.list("/apis/discovery.k8s.io/v1/endpointslices"):
            service = piece["metadata"].get("labels", {}).get("kubernetes.io/service-name")
            lines += [f"{address} {service}" for endpoint in piece["endpoints"] or [] if endpoint["conditions"].get("ready")
                      for address in endpoint["addresses"]]
        text = "".join(f"{line}\n" for line in lines)
        if text != self.hosts.read_text():
            # In its place: it is mounted.
            self.hosts.write_text(text)

    def sync(self):
        for spec in self.api.list("/api/v1/pods"):
            if not spec["spec"].get("nodeName"):
                continue
            uid = spec["metadata"]["uid"]
            if uid not in self.pods:
                running = self.pods[uid] = Running(spec)
                threading.Thread(target=self.run, args=(running,), daemon=True).start()
            elif "deletionTimestamp" in spec["metadata"] and not self.pods[uid].is_leaving:
                self.pods[uid].is_leaving = True
                threading.Thread(target=self.leave, args=(self.pods[uid], spec), daemon=True).start()

    def leave(self, running, spec):
        """Ends a pod that was deleted."""
        if running.process and running.process.poll() is None:
            running.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.process.wait(spec["metadata"].get("deletionGracePeriodSeconds", 30))
            running.process.kill()
        running.is_over.wait()
        self.api.ask("DELETE", running.path, {"gracePeriodSeconds": 0})

    def run(self, running):
        """A pod's life."""
        try:
            namespace, running.address = self.bridge.namespace()
            folder = self.folder / f"{running.name}-{running.spec['metadata']['uid'][:8]}"
            pod = Pod(self.api, self.images, running.spec, folder, self.hosts, namespace)
            for container in running.spec["spec"].get("initContainers", []):
                running.process = pod.start(container, folder / f"{container['name']}.log")
                code = running.process.wait()
                if code != 0:
                    self.tell(running, "Failed", code=code)
                    return
            container, = running.spec["spec"]["containers"]
            self.contain(running, pod, container, folder / f"{container['name']}.log")
        except Exception:
            traceback.print_exc()
            self.tell(running, "Failed", code=128)
        finally:
            running.is_over.set()

    def contain(self, running, pod, container, log):
        """Its one container, started again if the pod is to be always there."""
        is_always = running.spec["spec"]["restartPolicy"] == "Always"
        restarts = 0
        while True:
            running.process = pod.start(container, log)
            self.tell(running, "Running", is_ready="readinessProbe" not in container, restarts=restarts)
            if "readinessProbe" in container:
                self.probe(running, container["readinessProbe"]["httpGet"], restarts)
            code = running.process.wait()
            if not is_always or running.is_leaving or self.stopping.is_set():
                break
            restarts += 1
            time.sleep(1)
        code = 128 - code if code < 0 else code
        self.tell(running, "Failed" if code else "Succeeded", code=code, restarts=restarts)

    def probe(self, running, http, restarts):
        """Waits until a pod is ready."""
        while running.process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{running.address}:{http['port']}{http['path']}", timeout=1):
                self.tell(running, "Running", is_ready=True, restarts=restarts)
                return
            time.sleep(0.2)

    def tell(self, running, phase, is_ready=False, code=None, restarts=0):
        """Says how a pod is."""
        container = running.spec["spec"]["containers"][0]
        if code is None:
            state = {"running": {"startedAt": now()}}
        else:
            state = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": now()}}
        status = {"name": container["name"], "ready": is_ready, "restartCount": restarts, "image": container["image"], "imageID": "", "state": state}
        ready = "True" if is_ready else "False"
        self.api.ask("PATCH", f"{running.path}/status", {"status": {
            "phase": phase, "startTime": running.started, "podIP": running.address, "podIPs": [{"ip": running.address}],
            "conditions": [{"type": "Ready", "status": ready}, {"type": "ContainersReady", "status": ready}],
            "containerStatuses": [status]}}, STRATEGIC)

    def having(self, prefix):
        """The pods whose names begin so, the oldest first."""
        return [running for running in list(self.pods.values()) if running.name.startswith(prefix)]

    def logs(self):
        return "\n".join(f"== {path.parent.name}/{path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in sorted(self.folder.glob("*/*.log")))

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        for running in self.pods.values():
            if running.process and running.process.poll() is None:
                running.process.kill()
                running.process.wait()
