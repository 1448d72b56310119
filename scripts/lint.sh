#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Formatting of all sources, and clang-tidy over the library and the program. Argument: a configured build folder.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}

sources() { git ls-files --cached --others --exclude-standard -- "$@"; }

echo "clang-format"
sources '*.cpp' '*.hpp' '*.cu' | xargs clang-format --dry-run -Werror

echo "clang-tidy"
# -fopenmp-simd and the like are GCC's own in part: clang is told not to mind what it does not know.
sources 'src/*.cpp' 'apps/*.cpp' | grep -v '_test\.cpp$' |
  xargs -P "$(nproc)" -n 1 clang-tidy -p "$build" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-optimization-argument
