#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs what Furrow is built from, on Debian 12 and its like. Does nothing where everything is there.
# Usage: scripts/setup.sh [lint]     lint: also what scripts/lint.sh needs
set -eu

packages="g++ cmake ninja-build python3 libtbb-dev libcli11-dev libfmt-dev nlohmann-json3-dev
  libarchive-dev libdeflate-dev zlib1g-dev liblapack-dev libmuparser-dev libgtest-dev"
[ "${1:-}" = lint ] && packages="$packages clang clang-format clang-tidy"

if ! command -v apt-get >/dev/null 2>&1; then
  echo "this system has no apt-get: Furrow needs what Debian calls" $packages >&2
  exit 0 # CMake names what is really missing
fi
missing=
for package in $packages; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then as_root=
elif command -v sudo >/dev/null 2>&1; then as_root=sudo
else
  echo "Furrow needs these packages, and installing them needs root or sudo:$missing" >&2
  exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get -qq update
$as_root apt-get -qq install -y --no-install-recommends $missing >/dev/null
