#!/bin/sh
# The long tests of harm. Some three hours on two processors:
#   10,000 kills of fade over all kinds of targets, in parts of 1,000 that each have a seed of their own;
#   1,000 programs of each kind that execute themselves while fade comes, stays, leaves or is killed;
#   1,000 runs of a program that gets thousands of signals at its calls.
# Ends with 1 at the first part in which a target was lost; what it prints then says how to try that target again.
#   tests/chaos/long.sh BUILD_DIR [KILLS] [JOBS]
set -eu
build=${1:?"usage: $0 BUILD_DIR [KILLS] [JOBS]"} left=${2:-10000} jobs=${3:-$(nproc)}
tests=$(dirname "$0")/..
seed=$(date +%s)
while [ "$left" -gt 0 ]; do
  part=$((left < 1000 ? left : 1000))
  python3 "$tests/chaos/chaos.py" --build-dir "$build" --kills "$part" --seed "$seed" --jobs "$jobs"
  left=$((left - part)) seed=$((seed + 1))
done
FADE_STORMS=${FADE_STORMS:-1000} FADE_SIGNAL_RUNS=${FADE_SIGNAL_RUNS:-1000} python3 -m pytest -q -p no:cacheprovider \
  "$tests/e2e/test_exec_storm.py" "$tests/e2e/test_clear_handlers.py" "$tests/e2e/test_signals_at_calls.py" \
  --build-dir "$build"
