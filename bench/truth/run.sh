#!/usr/bin/env bash
# squall's numbers against what is known to be true, a table each: requests beside a server's own log, intervals and
# changes of synthetic series, searches of simulated queues. Exit code 1 if one of them misses.
# Usage: run.sh [--fast]     (two minutes; only counts and kinds are judged, which a busy machine cannot disturb, and times
#                             are printed; the fast part of the simulations is in the tests of their crates)
set -uo pipefail
cd "$(dirname "$0")"

status=0
python3 requests.py "$@" || status=1
if [ "${1:-}" != --fast ]; then
    python3 series.py || status=1
    python3 ../limit_queues.py 100 || status=1
fi
exit $status
