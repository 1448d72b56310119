// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

/// A function of the GPU part, or null in a build without it.
#if FURROW_HAS_GPU
#define FURROW_GPU_ONLY(...) __VA_ARGS__
#else
#define FURROW_GPU_ONLY(...) nullptr
#endif
