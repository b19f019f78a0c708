"""A control plane of Kubernetes on loopback: etcd, API server, controller manager and scheduler, as build.sh has made them. The network of
its pods is a bridge of this machine. Needs root."""

import ipaddress
import json
import os
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from peers import until
from ports import free_port

BUILT = Path(__file__).resolve().parents[3] / "target/interop/kubernetes"
TOKEN = "of-the-tests"
STRATEGIC = "application/strategic-merge-patch+json"


class Api:
    """The API server, asked as the administrator."""

    def __init__(self, port):
        self.url = f"https://127.0.0.1:{port}"
        self.context = ssl._create_unverified_context()

    def ask(self, method, path, body=None, kind="application/json"):
        """What it answers; None: there is no such thing, or it is another one by now."""
        request = urllib.request.Request(self.url + path, method=method, data=body and json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": kind})
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code in (404, 409):
                return None
            raise AssertionError(f"{method} {path}: {error.code} {error.read()[:500]}") from None

    def list(self, path):
        return (self.ask("GET", path) or {}).get("items", [])

    def is_ready(self):
        request = urllib.request.Request(f"{self.url}/readyz", headers={"Authorization": f"Bearer {TOKEN}"})
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False


class Cluster:
    def __init__(self, folder):
        self.folder, self.processes = Path(folder), {}
        self.folder.mkdir()
        client, peer, port = free_port(), free_port(), free_port()
        self.api = Api(port)
        self.files(port)
        etcd, keys = f"http://127.0.0.1:{client}", f"{self.folder}/keys"
        self.start("etcd", BUILT / "debian/usr/bin/etcd", "--data-dir", f"{self.folder}/etcd", "--listen-client-urls", etcd,
                   "--advertise-client-urls", etcd, "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--unsafe-no-fsync")
        self.start("apiserver", BUILT / "bin/kube-apiserver", "--etcd-servers", etcd, "--secure-port", str(port), "--bind-address", "127.0.0.1",
                   "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none", "--service-cluster-ip-range", "10.96.0.0/16",
                   "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-signing-key-file", keys,
                   "--service-account-key-file", f"{keys}.pub", "--token-auth-file", f"{self.folder}/tokens.csv",
                   "--authorization-mode", "RBAC", "--cert-dir", f"{self.folder}/certificates")
        until(lambda: self.api.is_ready() or self.ended(), "the API server is not ready")
        common = ["--kubeconfig", str(self.kubeconfig), "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", "0"]
        self.start("controller-manager", BUILT / "bin/kube-controller-manager", *common, "--service-account-private-key-file", keys,
                   "--controllers", "*,-node-ipam-controller,-node-route-controller")
        self.start("scheduler", BUILT / "bin/kube-scheduler", *common)
        until(lambda: self.api.ask("GET", "/api/v1/namespaces/default/serviceaccounts/default") or self.ended(), "no service account is made")

    def files(self, port):
        """Keys for service accounts, who the administrator is, and how kubectl reaches the API server."""
        for words in (["genrsa", "-out", "keys", "2048"], ["rsa", "-in", "keys", "-pubout", "-out", "keys.pub"]):
            subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text(f'{TOKEN},administrator,1,"system:masters"\n')
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.write_text(f"""apiVersion: v1
kind: Config
clusters: [{{name: here, cluster: {{server: "https://127.0.0.1:{port}", insecure-skip-tls-verify: true}}}}]
users: [{{name: administrator, user: {{token: {TOKEN}}}}}]
contexts: [{{name: here, context: {{cluster: here, user: administrator}}}}]
current-context: here
""")

    def start(self, name, *command):
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def ended(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise AssertionError(f"{name} has ended:\n{(self.folder / f'{name}.log').read_text()[-3000:]}")

    def kubectl(self, *words, text=None):
        """Runs kubectl to its end; what it prints."""
        ran = subprocess.run([BUILT / "bin/kubectl", "--kubeconfig", self.kubeconfig, *words], input=text, capture_output=True, text=True,
                             check=False)
        if ran.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(words)}: {ran.stdout}{ran.stderr}")
        return ran.stdout + ran.stderr

    def stop(self):
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait()


class Bridge:
    """The pods' network: each has a network namespace and an address, and reaches the others and `gateway`, which is this machine."""

    def __init__(self):
        taken = subprocess.run(["ip", "-4", "address"], check=True, capture_output=True, text=True).stdout
        block = next(block for block in range(250, 100, -1) if f" 10.{block}." not in taken)
        self.name, self.count, self.namespaces = f"squall{block}", 1, []
        network = ipaddress.ip_network(f"10.{block}.0.0/16")
        self.gateway, self.addresses = str(network[1]), network
        self.ip("link", "add", self.name, "type", "bridge")
        self.ip("address", "add", f"{self.gateway}/16", "dev", self.name)
        self.ip("link", "set", self.name, "up")

    @staticmethod
    def ip(*words, check=True):
        subprocess.run(["ip", *words], check=check, capture_output=True)

    def namespace(self):
        """A new one: its name, and its address."""
        self.count += 1
        name, line, address = f"{self.name}-{self.count}", f"{self.name}n{self.count}", str(self.addresses[self.count])
        self.ip("netns", "add", name)
        self.namespaces.append(name)
        self.ip("link", "add", line, "master", self.name, "type", "veth", "peer", "name", "eth0", "netns", name)
        self.ip("link", "set", line, "up")
        self.ip("-n", name, "link", "set", "lo", "up")
        self.ip("-n", name, "address", "add", f"{address}/16", "dev", "eth0")
        self.ip("-n", name, "link", "set", "eth0", "up")
        return name, address

    def close(self):
        for name in self.namespaces:
            self.ip("netns", "delete", name, check=False)
        self.ip("link", "delete", self.name, check=False)


def is_root():
    return os.geteuid() == 0
