#!/usr/bin/env bash
# Runs the parts of `.ci/run` that wait for something or judge it (tests, over both backends, and those against real peers; not the
# builds) three times as the machine is, and twice beside two busy loops. Prints each part that failed; exit code 1 if there is one.
# Usage: ci_repeat.sh [QUIET RUNS] [BUSY RUNS]          needs what `.ci/run` has installed and built in this tree
set -uo pipefail
cd "$(dirname "$0")/.."

PATH="$PWD/target/interop/bin:$PATH"
logs=target/ci_repeat
rm -rf $logs && mkdir -p $logs
failed=0 loops=()
trap 'kill "${loops[@]}" 2>/dev/null' EXIT

part() { # ROUND NAME COMMAND...
    local log="$logs/$1-$2.txt" began=$SECONDS
    if "${@:3}" >"$log" 2>&1; then
        echo "$1 $2: passed in $((SECONDS - began)) s"
    else
        failed=1
        echo "$1 $2: FAILED after $((SECONDS - began)) s, see $log"
    fi
}

round() { # NAME
    part "$1" tests cargo nextest run --workspace --locked --profile ci
    part "$1" epoll env SQUALL_IO=epoll cargo nextest run --workspace --locked --profile epoll
    part "$1" interop interop/run.sh --all
    part "$1" truth bench/truth/run.sh --fast
}

for number in $(seq "${1:-3}"); do round "quiet $number"; done
for _ in 1 2; do
    # Two hours are more than this takes, if nobody ends it.
    timeout 7200 sh -c 'while :; do :; done' &
    loops+=($!)
done
for number in $(seq "${2:-2}"); do round "busy $number"; done
exit $failed
