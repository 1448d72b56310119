// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The first thing that a play.cpp includes: from here on kernels are read as nvcc reads them, and <cuda_runtime.h> is
/// the one beside this file (CMakeLists.txt sees to it).
#define __CUDACC__ 1
#define FURROW_PLAYED 1
#include <cuda_runtime.h>

#include "number.hpp"
