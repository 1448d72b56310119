// SPDX-License-Identifier: BSD-3-Clause
// furrow/csr.hpp.
#include "owned.hpp"
#include "convert.hpp"

#include "core/memory_place.hpp"

#include <furrow/csr.hpp>
#include <furrow/matrix.hpp>
#include <furrow/storage.hpp>

namespace furrow {
namespace {

template <class V> using rows_in = csr<V, std::int32_t, cview>;

/// The operator of rows on the current GPU, which keeps them.
template <class V>
std::shared_ptr<const any_operator<V>> on_gpu(std::shared_ptr<const csr<V, std::int32_t, gpu_array>> rows) {
  const rows_in<V> a = view_of(*rows);
  const device where{device::kind::gpu, place_of(a.row_ptr.data).ordinal};
  return matrix<V>(csr_arrays<V, std::int32_t>{a.shape, a.row_ptr, a.col, a.val, where, std::move(rows)},
                   {.format = "csr", .where = where})
      .op();
}

} // namespace

template <class V, class Memory>
basic_csr<V, Memory>::basic_csr(shape2 shape, cview<std::int32_t> row_ptr, cview<std::int32_t> col, cview<V> val)
    : shape_(shape) {
  auto rows = to_csr<std::int32_t>(to_coo(csr_arrays<V, std::int32_t>{shape, row_ptr, col, val}));
  const auto keep = [&](const rows_in<V>& a) { row_ptr_ = a.row_ptr, col_ = a.col, val_ = a.val; };
  if constexpr (std::is_same_v<Memory, host_memory>) {
    keep(view_of(rows)); // arrays stay where they are when they are moved
    op_ = csr_format::operator_of(std::move(rows));
  } else {
    parse_device("gpu"); // says why there is none
    auto there = std::make_shared<const csr<V, std::int32_t, gpu_array>>(upload(rows));
    keep(view_of(*there));
    op_ = on_gpu<V>(std::move(there));
  }
}

template class basic_csr<double, host_memory>;
template class basic_csr<float, host_memory>;
template class basic_csr<double, gpu_memory>;
template class basic_csr<float, gpu_memory>;

} // namespace furrow
