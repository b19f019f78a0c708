#!/usr/bin/env bash
# Runs PLAN with ARGUMENTS. What it did is in annotations, in the job's summary, and in the folder of the run, below FOLDER. The step
# ends as squall does: with 1 if a threshold failed, with 2 if the plan is refused.
set -euo pipefail

# The names of runs begin with their time.
last_run() { find "$FOLDER" -mindepth 1 -maxdepth 1 -type d | sort | tail -1; }

summary=$RUNNER_TEMP/squall-summary.md
mapfile -t arguments < <(xargs --no-run-if-empty printf '%s\n' <<<"$ARGUMENTS")
mkdir -p "$FOLDER"
before=$(last_run)
code=0
squall run "$PLAN" --quiet --out "$FOLDER" --out github=- --out markdown="$summary" "${arguments[@]}" || code=$?
[ ! -f "$summary" ] || cat "$summary" >>"$GITHUB_STEP_SUMMARY"
run=$(last_run)
[ "$run" = "$before" ] || echo "folder=$run" >>"$GITHUB_OUTPUT"
exit "$code"
