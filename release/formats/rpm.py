"""A package for Fedora, RHEL, SUSE and their like."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import about, contents as laid

LICENCES = "usr/share/licenses/squall"
# Nothing is compiled, stripped or searched for debug information here: what is laid out is what is packed.
SPEC = """\
%global debug_package %{{nil}}
%global __os_install_post %{{nil}}
%global _build_id_links none
%global _binary_payload w2.xzdio
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
Name: {name}
Version: {version}
Release: 1
Summary: {summary}
License: {licence}
Packager: {maintainer}

%description
{description}

%install
cp -a {root}/. %{{buildroot}}

%files
%defattr(-,root,root)
%license /usr/share/licenses/squall
%doc /usr/share/doc/squall
/usr/bin/squall
/usr/share/man/man1/*
/usr/share/bash-completion/completions/squall
/usr/share/fish/vendor_completions.d/squall.fish
/usr/share/zsh/site-functions/_squall
"""


def build(contents, out):
    processor = contents.binary.processor.rust
    with tempfile.TemporaryDirectory() as temporary:
        root, spec, top = (Path(temporary, part) for part in ("root", "squall.spec", "top"))
        contents.installed(root, LICENCES, "usr/share/zsh/site-functions")
        laid.settle(root, contents.epoch)
        spec.write_text(SPEC.format(name=about.NAME, version=contents.version, summary=about.SUMMARY, licence=about.LICENCE,
                                    maintainer=about.MAINTAINER, description=about.DESCRIPTION, root=root))
        subprocess.run(["rpmbuild", "-bb", "--quiet", "--target", f"{processor}-linux", "--define", f"_topdir {top}", "--define", f"_rpmdir {top}/made",
                        "--define", "_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm", spec],
                       check=True, env=os.environ | {"SOURCE_DATE_EPOCH": str(contents.epoch)})
        [made] = (top / "made").iterdir()
        return [Path(shutil.copy(made, out))]
