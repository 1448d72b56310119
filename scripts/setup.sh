#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs what Furrow is built from, on Debian 12 and its like. Does nothing where everything is there.
# Usage: scripts/setup.sh [lint] [python] [browser]
#   lint: also what scripts/lint.sh and scripts/fuzz.sh need
#   python: also what the Python package is built and tested with, in build/venv
#   browser: also a Chromium without a window, in which tests look at pages: 100 to 135 MB to fetch
set -eu
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build python3 libcli11-dev libfmt-dev nlohmann-json3-dev
  libdeflate-dev zlib1g-dev libbz2-dev liblzma-dev libzstd-dev liblapack-dev libsuperlu-dev libmuparser-dev libgtest-dev
  libopenmpi-dev openmpi-bin libmetis5"
with_python=
for part in "$@"; do
  case $part in
    lint) packages="$packages clang clang-format clang-tidy libclang-rt-dev" ;;
    python) packages="$packages python3-dev python3-venv" with_python=yes ;;
    browser) packages="$packages chromium-headless-shell fonts-dejavu-core" ;;
    *) echo "scripts/setup.sh: there is no part '$part': lint, python or browser" >&2; exit 1 ;;
  esac
done
ducc0=build/packages/ducc0 # headers of the release that scripts/ducc0.txt names
cmp -s scripts/ducc0.txt $ducc0/from.txt || packages="$packages python3-pip"

debian_packages() {
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "this system has no apt-get: Furrow needs what Debian calls" $packages >&2
    return # CMake names what is really missing
  fi
  missing=
  for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
  done
  [ -z "$missing" ] && return

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
}

# The Fourier transforms of the CPU come from the source package of ducc0: its binary one has no headers.
ducc0_headers() {
  cmp -s scripts/ducc0.txt $ducc0/from.txt && return
  echo "fetching ducc0"
  new=$(mktemp -d)
  trap 'rm -rf "$new"' EXIT
  python3 -m pip -q download --no-deps --no-binary ducc0 --require-hashes -r scripts/ducc0.txt -d "$new" || {
    echo "ducc0, which scripts/ducc0.txt names, could not be fetched by pip: go online and run scripts/setup.sh again" >&2
    exit 1
  }
  mv "$new"/ducc0-*.tar.gz "$new/ducc0.tar.gz"
  mkdir "$new/ducc0"
  headers= # those that its transforms include, all of them under the BSD licence, which not all of ducc0 is
  for header in fft/fft fft/fft1d_impl infra/aligned_array infra/error_handling infra/mav infra/misc_utils infra/simd \
    infra/threading infra/useful_macros math/cmplx math/unity_roots; do
    headers="$headers */src/ducc0/$header.h"
  done
  set -f # the stars are for tar
  tar -xzf "$new"/ducc0.tar.gz -C "$new/ducc0" --strip-components=2 --wildcards $headers
  set +f
  cp scripts/ducc0.txt "$new/ducc0/from.txt"
  mkdir -p "${ducc0%/*}"
  rm -rf $ducc0
  mv "$new/ducc0" $ducc0
}

# A virtual environment with Debian's Python, which needs no network once it is there.
python_packages() {
  venv=build/venv
  cmp -s python/requirements.txt $venv/requirements.txt && return
  echo "fetching what the Python package is built and tested with"
  rm -rf $venv
  /usr/bin/python3 -m venv $venv
  $venv/bin/python -m pip -q --disable-pip-version-check install -r python/requirements.txt || {
    echo "what python/requirements.txt names could not be fetched by pip: go online and run scripts/setup.sh python again" >&2
    exit 1
  }
  cp python/requirements.txt $venv/requirements.txt
}

debian_packages
ducc0_headers
[ -z "$with_python" ] || python_packages
