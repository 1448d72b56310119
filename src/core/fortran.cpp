// SPDX-License-Identifier: BSD-3-Clause
// FURROW_SLIM: LAPACK's routines are linked from its static library, without gfortran's; these two are all that they
// want of it.
#if FURROW_SLIM
#include <algorithm>
#include <cstddef>

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void xerbla_(const char* routine, const int* argument, std::size_t size);
void _gfortran_concat_string(std::size_t size, char* to, std::size_t m, const char* a, std::size_t n, const char* b);
}

/// LAPACK's own one prints and ends the process. What calls LAPACK here looks at `info`, which is negative then, and
/// throws.
void xerbla_(const char* /*routine*/, const int* /*argument*/, std::size_t /*size*/) {}

/// Of gfortran's library: to = a // b, cut or filled up with blanks to `size`.
void _gfortran_concat_string(std::size_t size, char* to, std::size_t m, const char* a, std::size_t n, const char* b) {
  char* const end = to + size;
  to = std::copy_n(a, std::min(m, size), to);
  to = std::copy_n(b, std::min(n, static_cast<std::size_t>(end - to)), to);
  std::fill(to, end, ' ');
}
// NOLINTEND(readability-identifier-naming)
#endif
