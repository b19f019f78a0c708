#!/usr/bin/env bash
# Tests against real peers, which install.sh installs first.
set -euo pipefail
cd "$(dirname "$0")"

./install.sh
python="$PWD/../target/interop/bin/python3"
export JMETER="$PWD/../target/interop/peers/bin/jmeter"

cargo build --release --locked --quiet -p squall --manifest-path ../Cargo.toml
export SQUALL="$PWD/../target/release/squall"
"$python" -m unittest -v test_nginx test_http2 test_target test_validity test_schema test_counts test_terminal test_live test_guides test_install test_export test_feeds test_dashboards test_page test_ui test_jmeter test_jmeter_reached test_jmeter_transactions test_jmeter_maven
