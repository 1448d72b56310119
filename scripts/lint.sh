#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Formatting of all sources, and clang-tidy over the library and the program.
# Usage: scripts/lint.sh [BUILD [COMMIT]]
#   BUILD: a configured build folder; build/release without one
#   COMMIT: clang-tidy sees what changed since, and one source for every header that did. Without it, all sources;
#   where nothing is found, .ci/linted is given the commit that was looked at: what CI counts from.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}

sources() { git ls-files --cached --others --exclude-standard -- "$@"; }
to_look_at() {
  if [ $# -gt 0 ]; then scripts/changed_sources.py "$1"; else sources 'src/*.cpp' 'apps/*.cpp' | grep -v -e '_test\.cpp$' -e '/play\.cpp$'; fi
}

echo "clang-format"
sources '*.cpp' '*.hpp' '*.cu' | xargs clang-format --dry-run -Werror

shift $(($# > 0))
echo "clang-tidy over $(to_look_at "$@" | grep -c .) sources"
# A play.cpp is a source of CUDA to what it includes, which clang 14 cannot read: it has no std::source_location.
# -fopenmp-simd and the like are GCC's own in part: clang is told not to mind what it does not know.
to_look_at "$@" |
  xargs -r -P "$(nproc)" -n 1 clang-tidy -p "$build" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-optimization-argument
[ $# -gt 0 ] || [ -n "$(git status --porcelain)" ] || git rev-parse HEAD >.ci/linted
