"""An archive that anyone can unpack: the binary, man pages, completions, texts."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from . import about, contents as laid


def build(contents, out):
    name = f"{about.NAME}-{contents.version}-{contents.binary.target}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, name)
        for part in ("man", "completions"):
            shutil.copytree(contents.folder / part, folder / part)
        for text in contents.texts():
            laid.put(text, folder / text.name)
        laid.put(contents.binary.path, folder / "squall", 0o755)
        return [pack(folder, out / f"{name}.tar.gz", contents.epoch)]


def pack(folder, file, epoch):
    """Packs a folder so that the same files make the same archive."""
    laid.settle(folder, epoch)
    command = ["tar", "-C", folder.parent, "--owner=0", "--group=0", "--numeric-owner", "--sort=name", "-cf", "-", folder.name]
    tar = subprocess.run(command, check=True, capture_output=True).stdout
    file.write_bytes(subprocess.run(["gzip", "-9n"], input=tar, check=True, capture_output=True).stdout)
    return file
