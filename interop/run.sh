#!/usr/bin/env bash
# Tests against real peers. Installs what they need from the package registries, if it is not there.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
command -v nginx >/dev/null || missing+=(nginx-light)
command -v wrk >/dev/null || missing+=(wrk)
command -v curl >/dev/null || missing+=(curl)
command -v openssl >/dev/null || missing+=(openssl)
command -v ip >/dev/null || missing+=(iproute2)
command -v python3 >/dev/null || missing+=(python3)
python3 -c "import jsonschema, yaml" 2>/dev/null || missing+=(python3-jsonschema python3-yaml)
command -v node >/dev/null || missing+=(nodejs)
# Debian has no package of it.
python3 -c "import pyarrow" 2>/dev/null || python3 -m pip install --quiet --user pyarrow
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" = 0 ] && as_root=() || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

cargo build --release --locked --quiet -p squall --manifest-path ../Cargo.toml
export SQUALL="$PWD/../target/release/squall"
python3 -m unittest -v test_nginx test_http2 test_target test_validity test_schema test_counts test_terminal test_guides test_install test_export
