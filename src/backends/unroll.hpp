// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Ahead of a loop of a function that host and GPU share: all its turns, or some of them, one after the other, so that
/// its arrays are registers on the GPU. A host compiler takes a bare `#pragma unroll` for a mistake.
#if defined(__CUDA_ARCH__)
#define FURROW_PRAGMA(text) _Pragma(#text)
#define FURROW_UNROLL _Pragma("unroll")
#define FURROW_UNROLL_BY(turns) FURROW_PRAGMA(unroll turns)
#else
#define FURROW_UNROLL
#define FURROW_UNROLL_BY(turns)
#endif
