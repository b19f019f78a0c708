#!/usr/bin/env bash
# Runs PLAN with ARGUMENTS. What it did is in annotations, in the job's summary, and in the folder of the run, below FOLDER. The step
# ends as squall does: 1 if a threshold failed.
set -euo pipefail

summary=$RUNNER_TEMP/squall-summary.md
mapfile -t arguments < <(xargs --no-run-if-empty printf '%s\n' <<<"$ARGUMENTS")
code=0
squall run "$PLAN" --quiet --out "$FOLDER" --out github=- --out markdown="$summary" "${arguments[@]}" || code=$?
[ ! -f "$summary" ] || cat "$summary" >>"$GITHUB_STEP_SUMMARY"
# The runs' names begin with their time: the last one is this one.
run=$(find "$FOLDER" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort | tail -1)
echo "folder=$run" >>"$GITHUB_OUTPUT"
exit "$code"
