#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzzers of the readers (tests/fuzz) and runs each of them, one a core. Inputs that they find worth keeping
# stay in build/fuzz/corpus for the next run; one that makes a reader fail lies in build/fuzz/found.
# Usage: scripts/fuzz.sh [SECONDS]     for each of the fuzzers; 60 without an argument
set -eu
cd "$(dirname "$0")/.."
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
cd build/fuzz
mkdir -p found
tests/fuzz/fuzz_corpus corpus

printf '%s\n' matrix vector gzip archive cache petsc | SECONDS_EACH="${1:-60}" xargs -P "$(nproc)" -I NAME sh -c '
  limit=4000
  [ NAME = cache ] && limit=40000
  [ NAME = archive ] && limit=8000
  if tests/fuzz/fuzz_NAME corpus/NAME -max_total_time="$SECONDS_EACH" -max_len=$limit -timeout=20 -rss_limit_mb=3000 \
    -artifact_prefix=found/NAME- -print_final_stats=1 >NAME.log 2>&1
  then echo "fuzz NAME: $(sed -n "s/stat::number_of_executed_units: *//p" NAME.log) inputs, nothing found"
  else tail -n 40 NAME.log; echo "fuzz NAME: FAILED, see build/fuzz/NAME.log"; exit 1
  fi'
