"""A package for Debian and Ubuntu."""

import os
import subprocess
import tempfile
from email.utils import formatdate
from pathlib import Path

from . import about, contents as laid

LICENCES = "usr/share/doc/squall"
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: squall

Files: *
Copyright: 2026 The squall authors
License: Expat or Apache-2.0
 The texts are in LICENSE-MIT and LICENSE-APACHE beside this file. Those of the
 crates that the program contains are in THIRD-PARTY.txt.
"""
# What changed in the package; what changed in squall is in its own list.
CHANGES = """\
squall ({version}) unstable; urgency=medium

  * squall as it is released.

 -- {maintainer}  {date}
"""


def control(contents, version, root):
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    fields = {
        "Package": about.NAME,
        "Version": version,
        "Architecture": contents.binary.processor.debian,
        "Maintainer": about.MAINTAINER,
        "Installed-Size": str(-(-size // 1024)),
        "Section": "net",
        "Priority": "optional",
    }
    if contents.binary.glibc:
        major, minor = contents.binary.glibc
        fields["Depends"] = f"libc6 (>= {major}.{minor}), libgcc-s1"
    fields["Description"] = "\n ".join([about.SUMMARY, *about.DESCRIPTION.splitlines()])
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def build(contents, out):
    # The number behind the dash counts the packages of one version.
    version = f"{contents.version}-1"
    file = out / f"{about.NAME}_{contents.version}_{contents.binary.processor.debian}.deb"
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "root")
        contents.installed(root, LICENCES, "usr/share/zsh/vendor-completions")
        texts = root / LICENCES
        (texts / "copyright").write_text(COPYRIGHT)
        (texts / "CHANGELOG.md").rename(texts / "changelog")
        (texts / "changelog.Debian").write_text(CHANGES.format(version=version, maintainer=about.MAINTAINER, date=formatdate(contents.epoch)))
        laid.compress(texts / "changelog", texts / "changelog.Debian")
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN/control").write_text(control(contents, version, root))
        laid.settle(root, contents.epoch)
        # A tenth larger than by xz's own level, in a third of its time.
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z2", "--build", root, file],
                       check=True, stdout=subprocess.DEVNULL, env=os.environ | {"SOURCE_DATE_EPOCH": str(contents.epoch)})
    return [file]
