#!/usr/bin/env bash
# What squall does when it is built with its features (Parquet, PKCS #12): lints and tests of the crates that have them, and what
# pyarrow reads of its exports.
set -euo pipefail
cd "$(dirname "$0")/.."

crates=(-p squall-report -p squall-wire --features squall-report/parquet,squall-wire/pkcs12)
cargo clippy "${crates[@]}" --all-targets --locked -- -D warnings
PATH="$PWD/target/interop/bin:$PATH"
cargo nextest run "${crates[@]}" --locked --profile ci -E 'test(/parquet|key_store/)'
cargo build --locked --features parquet,pkcs12
cd interop
SQUALL="$PWD/../target/debug/squall" python3 -m unittest -v test_export
