#!/usr/bin/env bash
# squall's numbers against what is known to be true: every part, a table each; exit code 1 if one of them misses.
# Usage: run.sh [--fast]     (two minutes, and what a busy machine cannot disturb)
set -uo pipefail
cd "$(dirname "$0")"

parts=(requests.py)
status=0
for part in "${parts[@]}"; do
    python3 "$part" "$@" || status=1
done
exit $status
