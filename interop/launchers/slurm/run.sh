#!/usr/bin/env bash
# The file of `squall fleet manifest slurm` on a real Slurm. Needs root. SQUALL is the binary to run.
set -euo pipefail
cd "$(dirname "$0")/../.."

./install.sh nats
launchers/slurm/install.sh
exec ../target/interop/bin/python3 -m unittest -v launchers.slurm.test_slurm
