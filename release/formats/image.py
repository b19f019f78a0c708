"""A container image (an archive of the Open Container Initiative's layout, which podman, docker and skopeo load), by podman.
A binary that is not static takes the libraries along that it needs, so that any build can be tried."""

import re
import subprocess
import tempfile
from pathlib import Path

from . import about, contents as laid

CONTAINERFILE = laid.ROOT / "release/Containerfile"
ROOTS = Path("/etc/ssl/certs/ca-certificates.crt")


def libraries(binary):
    """The libraries of a binary that is not static, with the program that loads them."""
    said = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", said)]


def lay(contents, root):
    """Lays out what is in the image."""
    laid.put(contents.binary.path, root / "usr/bin/squall", 0o755)
    for text in contents.texts():
        if text.name.startswith(("LICENSE", "THIRD-PARTY")):
            laid.put(text, root / "usr/share/licenses/squall" / text.name)
    if not ROOTS.exists():
        raise SystemExit(f"image: needs {ROOTS} (Debian: ca-certificates)")
    laid.put(ROOTS, root / "etc/ssl/certs/ca-certificates.crt")
    for library in libraries(contents.binary.path) if contents.binary.glibc else []:
        laid.put(library, root / library.relative_to("/"), 0o755)
    for folder in ("tmp", "work"):
        (root / folder).mkdir()
    laid.settle(root, contents.epoch)
    # Whoever it runs as may write to these.
    for folder in ("tmp", "work"):
        (root / folder).chmod(0o1777)


def podman(storage, *arguments):
    """Runs podman with a storage of its own, which needs nothing of the kernel."""
    where = ["--root", f"{storage}/root", "--runroot", f"{storage}/run", "--storage-driver", "vfs"]
    subprocess.run(["podman", *where, *arguments], check=True, stdout=subprocess.DEVNULL)


def build(contents, out):
    file = out / f"{about.NAME}-{contents.version}-{contents.binary.processor.rust}.oci.tar"
    file.unlink(missing_ok=True)
    name = f"localhost/{about.NAME}:{contents.version}"
    with tempfile.TemporaryDirectory() as temporary:
        lay(contents, Path(temporary, "context/root"))
        podman(temporary, "build", "--quiet", "--isolation", "chroot", "--platform", f"linux/{contents.binary.processor.debian}", "--build-arg", f"VERSION={contents.version}",
               "--timestamp", str(contents.epoch), "--tag", name, "--file", CONTAINERFILE, f"{temporary}/context")
        podman(temporary, "save", "--quiet", "--format", "oci-archive", "--output", file, name)
    return [file]
