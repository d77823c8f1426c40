#!/bin/sh
# The long chaos: 10,000 kills over all kinds of targets, in parts of 1,000 that each have a seed of their own. Some two hours on two
# processors. Ends with 1 at the first part in which a target was lost; what it prints then says how to try that target again.
#   tests/chaos/long.sh BUILD_DIR [KILLS] [JOBS]
set -eu
build=${1:?"usage: $0 BUILD_DIR [KILLS] [JOBS]"} left=${2:-10000} jobs=${3:-$(nproc)}
seed=$(date +%s)
while [ "$left" -gt 0 ]; do
  part=$((left < 1000 ? left : 1000))
  python3 "$(dirname "$0")/chaos.py" --build-dir "$build" --kills "$part" --seed "$seed" --jobs "$jobs"
  left=$((left - part)) seed=$((seed + 1))
done
