// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/rows.hpp"
#include "core/kernel_numbers.hpp"

#include "ell.hpp"

namespace furrow {

/// The arrays of an ell as a played kernel takes them.
template <class T, int Lanes, template <class> class Array> struct ell<play::real<T, Lanes>, Array> {
  shape2 shape;
  index_t width, stride;
  Array<play::whole<std::int32_t>> col;
  Array<play::real<T, Lanes>> val;
};

namespace ell_format {

/// y <- alpha A x + beta y by `scalar`, with what follows its name; x and y are on the machine.
template <int Lanes, class V>
play::kernel_report play_scalar(play::machine& m, std::string_view kernel, const ell<V, cview>& a, V alpha, cview<V> x,
                                V beta, view<V> y) {
  m.add("col", view<const std::int32_t>(a.col));
  m.add("val", view<const V>(a.val));
  const ell<play::real<V, Lanes>, cview> there{a.shape, a.width, a.stride,
                                               play::as_played<Lanes>(view<const std::int32_t>(a.col)),
                                               play::as_played<Lanes>(view<const V>(a.val))};
  return play::play_rows<1, Lanes>(m, kernel, there, false, alpha, x, beta, y, read_kernel_numbers(kernel).block);
}

} // namespace ell_format
} // namespace furrow
