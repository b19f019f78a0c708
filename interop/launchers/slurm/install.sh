#!/usr/bin/env bash
# Debian's Slurm, unpacked into target/interop/slurm.
set -euo pipefail
cd "$(dirname "$0")"
../debian.sh "$PWD/../../../target/interop/slurm" slurmctld slurmd slurm-client slurm-wlm-basic-plugins libmunge2 libhwloc15 libnuma1 \
    liblz4-1 libreadline8
