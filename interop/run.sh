#!/usr/bin/env bash
# Tests against real peers, which are installed first. Usage: run.sh [--all] [LANE...]: the lanes of lanes.py, by default those that
# may not be skipped; `together` or `alone`: those of them that may run beside something else, or may not.
set -euo pipefail
cd "$(dirname "$0")"

./install.sh
python="$PWD/../target/interop/bin/python3"
"$python" lanes.py install "$@"
export JMETER="$PWD/../target/interop/peers/bin/jmeter"

cargo build --release --locked --quiet -p squall --manifest-path ../Cargo.toml
export SQUALL="$PWD/../target/release/squall"
exec "$python" lanes.py run "$@"
