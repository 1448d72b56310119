// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// In a kernel, `FURROW_SHARED(T, name, count);`: an array that the threads of a block share. A kernel that is played
/// gets it from the machine, which looks after it.
#if defined(FURROW_PLAYED)
#define FURROW_SHARED(T, name, count)                                                                                  \
  T* const name = static_cast<T*>(::furrow::play::share(#name, count, static_cast<int>(sizeof(T))))
#else
#define FURROW_SHARED(T, name, count) __shared__ T name[count]
#endif
