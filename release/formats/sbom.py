"""The list of all crates in squall, with versions, licences and checksums (SBOM), as CycloneDX 1.6."""

import json
import uuid
from datetime import UTC, datetime

from . import about


def component(crate, kind="library"):
    found = {
        "type": kind,
        "bom-ref": crate.url,
        "name": crate.name,
        "version": crate.version,
        "licenses": [{"expression": crate.licence}],
        "purl": crate.url,
    }
    if crate.checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": crate.checksum}]
    if crate.repository:
        found["externalReferences"] = [{"type": "vcs", "url": crate.repository}]
    return found


def build(contents, out):
    program, *others = contents.crates
    file = out / f"{about.NAME}-{contents.version}-{contents.binary.target}.cdx.json"
    listed = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(contents.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(program, "application"),
        },
        "components": [component(crate) for crate in sorted(others, key=lambda crate: crate.url)],
        "dependencies": [{"ref": url, "dependsOn": sorted(on)} for url, on in sorted(contents.depends.items())],
    }
    # The same list has the same number.
    listed["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(listed)).urn
    file.write_text(json.dumps(listed, indent=1) + "\n")
    return [file]
