"""Packages for npm: one with the binary for a processor, and `squall-load`, which depends on them all; npm installs the one that fits."""

import json
import shutil
import tempfile
from pathlib import Path

from . import about, contents as laid, elf
from .archive import pack

# Replaces itself by the binary, so that signals and exit codes are the binary's own. The package with the binary is beside this one,
# or within it.
START = """\
#!/bin/sh
case $(uname -m) in
    x86_64 | amd64) processor=x64 ;;
    aarch64 | arm64) processor=arm64 ;;
    *) echo "squall: there is no binary for $(uname -s) on $(uname -m)" >&2; exit 2 ;;
esac
here=$(dirname "$(readlink -f "$0")")
for modules in "$here/../node_modules" "$here/../.."; do
    binary=$modules/NAME-linux-$processor/bin/squall
    [ -x "$binary" ] && exec "$binary" "$@"
done
echo "squall: the package NAME-linux-$processor is missing; was NAME installed without optional dependencies?" >&2
exit 2
""".replace("NAME", about.REGISTRY_NAME)


def package(contents, out, name, described, put):
    """Packs one package: `described` beside what all have in its package.json, and what `put` lays into its folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "package")
        described = {"name": name, "version": contents.version, "description": about.SUMMARY, "license": about.LICENCE, "os": ["linux"]} | described
        put(folder)
        for text in contents.texts():
            laid.put(text, folder / text.name)
        (folder / "package.json").write_text(json.dumps(described, indent=2) + "\n")
        return pack(folder, out / f"{name}-{contents.version}.tgz", contents.epoch)


def build(contents, out):
    processor = contents.binary.processor.npm
    one = f"{about.REGISTRY_NAME}-linux-{processor}"
    all_of_them = {f"{about.REGISTRY_NAME}-linux-{each.npm}": contents.version for each in elf.PROCESSORS.values()}

    def put_start(folder):
        start = folder / "bin/squall"
        start.parent.mkdir(parents=True)
        start.write_text(START)
        start.chmod(0o755)
        shutil.copytree(contents.folder / "man", folder / "man")

    pages = [f"man/{page.name}" for page in contents.pages()]
    return [
        package(contents, out, one, {"cpu": [processor]}, lambda folder: laid.put(contents.binary.path, folder / "bin/squall", 0o755)),
        package(contents, out, about.REGISTRY_NAME, {"bin": {"squall": "bin/squall"}, "man": pages, "optionalDependencies": all_of_them}, put_start),
    ]
