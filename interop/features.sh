#!/usr/bin/env bash
# What squall does with its features (Parquet, PKCS #12), which its own tests are built with, and what it says without them.
set -euo pipefail
cd "$(dirname "$0")/.."

# Makes target/debug/squall, where .ci/run has not.
cargo test --workspace --locked --no-run --quiet
cd interop
exec ../target/interop/bin/python3 -m unittest -v test_export
