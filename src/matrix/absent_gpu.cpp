// SPDX-License-Identifier: BSD-3-Clause
// What rows on a GPU are in a build without its part.
#if !FURROW_HAS_GPU
#include "rows_on_gpu.hpp"

namespace furrow {
namespace {
[[noreturn]] void refuse() { throw error(fault::device, "this build has no GPU part: it was compiled without nvcc"); }
} // namespace

template <class V> rows_on_gpu<V> send_rows(const coo<V>&, rows_look*, index_t) { refuse(); }
template <class V, class I> std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, I>&, rows_look*, lent_rows) {
  refuse();
}
template <class V> coo<V> bring_home(const rows_on_gpu<V>&) { refuse(); }
template <class V, class I> csr_arrays<V, I> brought_home(const csr_arrays<V, I>&) { refuse(); }
template <class V> rows_on_gpu<V> negated(const rows_on_gpu<V>&) { refuse(); }
template <class V> rows_look look_at_rows(const rows_on_gpu<V>&, index_t) { refuse(); }
template <class V> stats measure(const rows_on_gpu<V>&, const rows_look&) { refuse(); }
template <class V> bool is_symmetric(const rows_on_gpu<V>&) { refuse(); }

#define FURROW_ROWS(V)                                                                                                 \
  template rows_on_gpu<V> send_rows(const coo<V>&, rows_look*, index_t);                                               \
  template std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, std::int32_t>&, rows_look*, lent_rows);         \
  template std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, std::int64_t>&, rows_look*, lent_rows);         \
  template coo<V> bring_home(const rows_on_gpu<V>&);                                                                   \
  template csr_arrays<V, std::int32_t> brought_home(const csr_arrays<V, std::int32_t>&);                               \
  template csr_arrays<V, std::int64_t> brought_home(const csr_arrays<V, std::int64_t>&);                               \
  template rows_on_gpu<V> negated(const rows_on_gpu<V>&);                                                              \
  template rows_look look_at_rows(const rows_on_gpu<V>&, index_t);                                                     \
  template stats measure(const rows_on_gpu<V>&, const rows_look&);                                                     \
  template bool is_symmetric(const rows_on_gpu<V>&);
FURROW_ROWS(double)
FURROW_ROWS(float)
#undef FURROW_ROWS

} // namespace furrow
#endif
