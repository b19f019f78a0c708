#!/usr/bin/env bash
# Runs the tests of the engine of scripts under AddressSanitizer, with the interpreter's C compiled for it too; and, with a number of
# seconds, its fuzz case for so long. Needs a nightly toolchain. Usage: sanitize.sh [--fuzz SECONDS] [NAME...]: only tests with such names.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
# Coroutines run on stacks of their own: what is on them must not be moved to stacks of the sanitizer's.
export ASAN_OPTIONS="detect_stack_use_after_return=0:abort_on_error=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export SQUALL_SANITIZED=1
export RUSTFLAGS="-Zsanitizer=address -Cdebuginfo=1 ${RUSTFLAGS:-}"
sanitized=(--target "$host" --target-dir target/sanitized)

if [ "${1:-}" = --fuzz ]; then
    SQUALL_FUZZ_SECONDS=$2 cargo +nightly test "${sanitized[@]}" -p squall-script --lib fuzz -- --ignored --nocapture
else
    cargo +nightly test "${sanitized[@]}" -p squall-script --lib -- "$@"
fi
