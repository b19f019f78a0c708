"""The crates that a binary consists of, as cargo has them."""

import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Crate:
    name: str
    version: str
    # An expression of SPDX.
    licence: str
    repository: str | None
    # Where its sources are.
    folder: Path
    # SHA-256 of its package; None: it is a part of squall itself.
    checksum: str | None

    @property
    def url(self):
        """Its package URL."""
        return f"pkg:cargo/{self.name}@{self.version}"


def cargo(*arguments):
    return subprocess.run(["cargo", "--quiet", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def graph(target, features):
    """The crates of squall for a target (those of build scripts and macros too, not those of tests), the program first, and for each,
    by its package URL, those that it depends on."""
    build = ["--locked", "--manifest-path", "crates/cli/Cargo.toml", "--features", features]
    told = json.loads(cargo("metadata", *build, "--format-version", "1", "--filter-platform", target))
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(crate["name"], crate["version"]): crate.get("checksum") for crate in locked}
    known = {}
    for package in told["packages"]:
        key = package["name"], package["version"]
        # Old packages have a slash for "or".
        licence = re.sub(r"\s*/\s*", " OR ", package["license"] or "")
        known[key] = Crate(*key, licence, package["repository"], Path(package["manifest_path"]).parent, checksums[key])
    tree = cargo("tree", *build, "--edges", "normal,build", "--target", target, "--prefix", "depth", "--format", " {p}")
    crates, depends, path = {}, {}, []
    for line in tree.splitlines():
        depth, name, version = re.match(r"(\d+) (\S+) v(\S+)", line).groups()
        crate = known[name, version]
        del path[int(depth):]
        crates[crate.url] = crate
        depends.setdefault(crate.url, set())
        if path:
            depends[path[-1]].add(crate.url)
        path.append(crate.url)
    return list(crates.values()), depends
