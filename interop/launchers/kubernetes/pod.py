"""What runs a pod's containers: processes of this machine with a root folder, a user and a network of their own. Its images are folders.
It knows what the files of `squall fleet manifest` use, and fails where something is asked for that it does not know."""

import base64
import os
import re
import shutil
import subprocess
from pathlib import Path

# Of the image, of the machine, and of the pod's volumes, into a root that then cannot be written to.
CONTAINER = """
mount --bind "$0" "$0"
for own in proc dev sys; do mount --rbind "/$own" "$0/$own"; done
user=$1 group=$2; shift 2
while [ "$1" != -- ]; do
    mount --bind "$1" "$0/$2"
    [ "$3" = rw ] || mount -o remount,bind,ro "$0/$2"
    shift 3
done
mount -o remount,bind,ro "$0"
shift
exec chroot --userspec="$user:$user" --groups="$group" "$0" "$@"
"""


class Images:
    """`squall` is the binary, `nats` a nats-server with a busybox, as the image of Alpine has one; with the libraries that they need."""

    def __init__(self, folder, squall, nats, busybox):
        self.folder = Path(folder)
        self.put(squall, "squall/usr/bin/squall")
        self.put(nats, "nats/usr/bin/nats-server")
        self.put(busybox, "nats/bin/busybox")
        for applet in ("sh", "sed", "cat", "cp", "wget", "sleep"):
            (self.folder / "nats/bin" / applet).symlink_to("busybox")

    def put(self, program, path):
        """Copies a program to a place in an image, which is the first folder of the path."""
        image = self.folder / Path(path).parts[0]
        linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for source, target in [(program, self.folder / path)] + [(name, image / name.lstrip("/")) for name in re.findall(r"(/\S+) \(0x", linked)]:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)

    def of(self, name):
        """The folder of an image, and its entry point."""
        if name.split("/")[-1].startswith("nats:"):
            return self.folder / "nats", []
        return self.folder / "squall", ["/usr/bin/squall"]


class Pod:
    """A pod's folders and values. `api` is where Secrets, ConfigMaps and claims are, `hosts` the file of names."""

    def __init__(self, api, images, spec, folder, hosts, namespace):
        self.api, self.images, self.pod, self.folder = api, images, spec, Path(folder)
        self.hosts, self.namespace = Path(hosts), namespace
        self.security = spec["spec"]["securityContext"]
        assert self.security["runAsNonRoot"], "as the files of squall ask for"
        self.folder.mkdir(parents=True)
        self.volumes = {volume["name"]: self.volume(volume) for volume in spec["spec"].get("volumes", [])}

    def get(self, kind, name):
        found = self.api.ask("GET", f"/api/v1/namespaces/{self.pod['metadata']['namespace']}/{kind}/{name}")
        assert found, f"{kind} {name} is not there"
        return found

    def volume(self, volume):
        """The folder of a volume, which belongs to the pod's group."""
        folder = self.folder / "volumes" / volume["name"]
        mode = 0o2775
        if "persistentVolumeClaim" in volume:
            claim = self.get("persistentvolumeclaims", volume["persistentVolumeClaim"]["claimName"])
            disk = self.api.ask("GET", f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")
            folder = Path(disk["spec"]["hostPath"]["path"])
        folder.mkdir(parents=True, exist_ok=True)
        if "secret" in volume:
            for name, value in self.get("secrets", volume["secret"]["secretName"])["data"].items():
                self.put(folder / name, base64.b64decode(value), volume["secret"].get("defaultMode", 0o644))
        elif "configMap" in volume:
            for name, value in self.get("configmaps", volume["configMap"]["name"])["data"].items():
                self.put(folder / name, value.encode(), 0o644)
        else:
            assert {"emptyDir", "persistentVolumeClaim"} & set(volume), volume
        os.chown(folder, 0, self.security["fsGroup"])
        folder.chmod(mode)
        return folder

    def put(self, path, value, mode):
        path.write_bytes(value)
        os.chown(path, 0, self.security["fsGroup"])
        path.chmod(mode)

    def environment(self, container):
        """The variables of a container; one may use those before it."""
        values = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": self.pod["metadata"]["name"]}
        for entry in container.get("env", []):
            source = entry.get("valueFrom", {})
            if "secretKeyRef" in source:
                secret = self.get("secrets", source["secretKeyRef"]["name"])["data"]
                value = base64.b64decode(secret[source["secretKeyRef"]["key"]]).decode()
            elif "fieldRef" in source:
                value = self.field(source["fieldRef"]["fieldPath"])
            else:
                value = expanded(entry.get("value", ""), values)
            values[entry["name"]] = value
        return values

    def field(self, path):
        """What the Job controller asks for: a label or an annotation of the pod."""
        kind, name = re.fullmatch(r"metadata\.(labels|annotations)\['(.*)'\]", path).groups()
        return self.pod["metadata"][kind][name]

    def start(self, container, log):
        """Starts a container."""
        image, entry = self.images.of(container["image"])
        environment = self.environment(container)
        words = container.get("command", entry) + container.get("args", [])
        root = self.folder / "roots" / container["name"]
        mounts = [(own, own.name, "ro") for own in image.iterdir()] + [(self.hosts, "etc/hosts", "ro")]
        for mount in container.get("volumeMounts", []):
            source = self.volumes[mount["name"]] / expanded(mount.get("subPathExpr", ""), environment)
            mounts.append((source, mount["mountPath"].strip("/"), "ro" if mount.get("readOnly") else "rw"))
        for name in ("proc", "dev", "sys", "etc"):
            (root / name).mkdir(parents=True, exist_ok=True)
        for source, path, _ in mounts:
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.mkdir(exist_ok=True) if source.is_dir() else place.touch()
        flat = [str(word) for mount in mounts for word in mount]
        user, group = str(self.security["runAsUser"]), str(self.security["fsGroup"])
        command = ["ip", "netns", "exec", self.namespace, "unshare", "--mount", "sh", "-ec", CONTAINER, str(root), user, group, *flat, "--",
                   *(expanded(word, environment) for word in words)]
        with open(log, "ab") as output:
            return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)


def expanded(text, values):
    """$(NAME) by the values that there are."""
    return re.sub(r"\$\((\w+)\)", lambda found: values.get(found[1], found[0]), text)
