#!/usr/bin/env python3
"""Packs a binary of squall for those who install it: as an archive, for Debian and Fedora, pip and npm, as a container image, with a
list of its crates. docs/develop/packages.md says what becomes of each. Needs cargo, Python 3.11, and of the system what the formats
need; nothing is fetched, but for crates that cargo does not have yet.

Usage: package.py BINARY [--pages-from BINARY] [--features LIST] [--out DIR] [FORMAT...]"""

import argparse
import shutil
import tempfile
from pathlib import Path

from formats import archive, contents, deb, image, npm, rpm, sbom, wheel

# Each format, with the program that makes it, and the package of Debian that has this program.
FORMATS = {
    "archive": (archive, None, None),
    "deb": (deb, "dpkg-deb", "dpkg"),
    "rpm": (rpm, "rpmbuild", "rpm"),
    "wheel": (wheel, None, None),
    "npm": (npm, None, None),
    "image": (image, "podman", "podman"),
    "sbom": (sbom, None, None),
}


def arguments():
    parser = argparse.ArgumentParser(description="Packs a binary of squall.")
    parser.add_argument("binary", type=Path, help="what to pack: squall, built for Linux on x86_64 or aarch64")
    parser.add_argument("--pages-from", type=Path, metavar="BINARY", help="squall of the same version that runs on this machine, if BINARY does not")
    parser.add_argument("--features", default="", help="the features that BINARY was built with, for the list of its crates")
    parser.add_argument("--out", type=Path, default=contents.ROOT / "target/release-files", help="where to (target/release-files)")
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"{', '.join(FORMATS)} (all for which this machine has the program)")
    given = parser.parse_intermixed_args()
    unknown = set(given.formats) - set(FORMATS)
    if unknown:
        parser.error(f"unknown format {', '.join(sorted(unknown))}: expected {', '.join(FORMATS)}")
    return given


def makers(names):
    """The formats to make. What is named has to be made; otherwise what cannot be made is told."""
    for name in names or FORMATS:
        maker, program, package = FORMATS[name]
        if program and not shutil.which(program):
            reason = f"{name}: needs {program} (Debian: {package})"
            if names:
                raise SystemExit(reason)
            print(f"{reason}; left out")
        else:
            yield maker


def main():
    given = arguments()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        gathered = contents.gather(given.binary.resolve(), (given.pages_from or given.binary).resolve(), given.features, Path(folder))
        for maker in makers(given.formats):
            for file in maker.build(gathered, out):
                print(file)


if __name__ == "__main__":
    main()
