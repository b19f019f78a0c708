#!/usr/bin/env bash
# The file of `squall fleet manifest kubernetes` on a real control plane. Needs root, Go 1.26 and, for the first time, some ten minutes.
# SQUALL is the binary to run.
set -euo pipefail
cd "$(dirname "$0")/../.."

./install.sh nats
launchers/kubernetes/build.sh
exec ../target/interop/bin/python3 -m unittest -v launchers.kubernetes.test_permissions launchers.kubernetes.test_kubernetes
