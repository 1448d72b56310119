# SPDX-License-Identifier: BSD-3-Clause
# Two targets for a first look; everything else is CMake's: see HACKING.md.
#   make demo   solves a system with a million unknowns on the best device of this machine
#   make test   builds everything and runs all tests; with sanitizers=address,undefined the library and its tests with these, too
export PATH := $(PATH):/usr/local/cuda/bin
gpu := $(shell nvidia-smi >/dev/null 2>&1 && command -v nvcc >/dev/null 2>&1 && echo AUTO || echo OFF)
jobs := $(shell nproc)

.PHONY: demo test setup setup-all
demo: setup
	cmake --preset demo -DFURROW_GPU=$(gpu)
	cmake --build --preset demo -j $(jobs)
	build/demo/apps/furrow/furrow solve poisson3d:100

test: setup-all
	cmake --preset release -DFURROW_UNITY=ON $(if $(sanitizers),-DFURROW_SANITIZED=$(sanitizers))
	cmake --build --preset release -j $(jobs)
	ctest --preset release -j $(jobs)

setup:
	@scripts/setup.sh

setup-all:
	@scripts/setup.sh python
