"""A wheel: `pip install squall-load` puts the binary, not a line of Python, into an environment."""

import base64
import hashlib
import time
import zipfile

from . import about

METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: {summary}
License-Expression: {licence}
{files}Requires-Python: >=3.8
Description-Content-Type: text/markdown

{description}
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: squall release/package.py
Root-Is-Purelib: false
{tags}"""


def platforms(binary):
    """The platforms that a binary runs on, as tags of wheels name them."""
    processor = binary.processor.rust
    if binary.glibc:
        return ["manylinux_{}_{}_{}".format(*binary.glibc, processor)]
    return [f"manylinux_2_17_{processor}", f"musllinux_1_1_{processor}"]


def build(contents, out):
    name, version, tags = about.REGISTRY_NAME.replace("-", "_"), contents.version, platforms(contents.binary)
    info, data = f"{name}-{version}.dist-info", f"{name}-{version}.data"
    licences = [text for text in contents.texts() if text.name.startswith(("LICENSE", "THIRD-PARTY"))]
    entries = [(f"{data}/scripts/squall", contents.binary.path.read_bytes(), 0o755)]
    entries += [(f"{data}/data/share/man/man1/{page.name}", page.read_bytes(), 0o644) for page in contents.pages()]
    entries += [(f"{info}/licenses/{text.name}", text.read_bytes(), 0o644) for text in licences]
    metadata = METADATA.format(name=about.REGISTRY_NAME, version=version, summary=about.SUMMARY, licence=about.LICENCE, description=about.DESCRIPTION,
                               files="".join(f"License-File: {text.name}\n" for text in licences))
    entries.append((f"{info}/METADATA", metadata.encode(), 0o644))
    entries.append((f"{info}/WHEEL", WHEEL.format(tags="".join(f"Tag: py3-none-{tag}\n" for tag in tags)).encode(), 0o644))
    entries.append((f"{info}/RECORD", record(entries, f"{info}/RECORD").encode(), 0o644))
    file = out / f"{name}-{version}-py3-none-{'.'.join(tags)}.whl"
    # What a zip file can say begins in 1980.
    when = time.gmtime(max(contents.epoch, 315532800))[:6]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for path, content, mode in entries:
            entry = zipfile.ZipInfo(path, when)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return [file]


def record(entries, own):
    """The digest and the size of each file but this one."""
    lines = []
    for path, content, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{own},,\n"
