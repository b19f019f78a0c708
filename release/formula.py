#!/usr/bin/env python3
"""Writes Homebrew's formula for the archives of a release, with their digests as SHA256SUMS has them.

Usage: formula.py HOMEPAGE [DIR]     HOMEPAGE is the repository on GitHub, to whose releases the archives are uploaded; DIR has
                                     the archives with SHA256SUMS (target/release-files), and gets squall.rb"""

import re
import sys
from pathlib import Path

from formats import about

HERE = Path(__file__).resolve().parent


def formula(homepage, sums):
    """The formula, from the lines of SHA256SUMS."""
    found = re.findall(r"^([0-9a-f]{64}) [ *](?:\./)?squall-(\S+)-(\w+)-unknown-linux-musl\.tar\.gz$", sums, re.MULTILINE)
    digests = {processor: digest for digest, _, processor in found}
    versions = {version for _, version, _ in found}
    if set(digests) != {"x86_64", "aarch64"} or len(versions) != 1:
        raise SystemExit("SHA256SUMS: expected the archives of one version for x86_64 and aarch64 (release/build.sh makes them)")
    [version] = versions
    values = {"SUMMARY": about.SUMMARY, "HOMEPAGE": homepage, "VERSION": version, "RELEASES": f"{homepage}/releases/download/v{version}",
              "X86_64": digests["x86_64"], "AARCH64": digests["aarch64"]}
    return re.sub("@([A-Z0-9_]+)@", lambda name: values[name[1]], (HERE / "squall.rb.in").read_text())


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    folder = Path(sys.argv[2]) if len(sys.argv) == 3 else HERE.parent / "target/release-files"
    (folder / "squall.rb").write_text(formula(sys.argv[1].rstrip("/"), (folder / "SHA256SUMS").read_text()))


if __name__ == "__main__":
    main()
