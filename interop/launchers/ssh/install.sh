#!/usr/bin/env bash
# Debian's sshd, unpacked into target/interop/sshd.
set -euo pipefail
cd "$(dirname "$0")"
../debian.sh "$PWD/../../../target/interop/sshd" openssh-server libwrap0 libnsl2 libtirpc3
