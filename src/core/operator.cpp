// SPDX-License-Identifier: BSD-3-Clause
#include "are_vectors.hpp"
#include "check.hpp"
#include "crosses.hpp"

#include "backends/cpu/space.hpp"
#include "backends/function_operator.hpp"

#include <furrow/array.hpp>
#include <furrow/operator.hpp>

namespace furrow {

template <class V> void refuse_vectors(shape2 a, cview<V> x, view<V> y) {
  check(x.size == a.cols, fault::usage, "x has {} elements for a matrix of {} x {}: give one for each column", x.size,
        a.rows, a.cols);
  check(y.size == a.rows, fault::usage, "y has {} elements for a matrix of {} x {}: give one for each row", y.size,
        a.rows, a.cols);
  check(x.data || x.empty(), fault::usage, "x points nowhere, but has {} elements", x.size);
  check(y.data || y.empty(), fault::usage, "y points nowhere, but has {} elements", y.size);
  throw error(fault::usage, "x and y share memory: give each its own");
}

template <class V> void check_block(shape2 a, cview<V> x, view<V> y, index_t count) {
  check(count >= 1, fault::usage, "a block of {} vectors: give at least one", count);
  check(are_vectors(x.size, count, a.cols) && are_vectors(y.size, count, a.rows), fault::usage,
        "X has {} and Y has {} elements for {} vectors of a matrix of {} x {}: give one for each column and row",
        x.size, y.size, count, a.rows, a.cols);
  check((x.data || x.empty()) && (y.data || y.empty()), fault::usage, "a block of {} vectors points nowhere", count);
  check(!overlap(x, y), fault::usage, "X and Y share memory: give each its own");
}

template <class V> void any_operator<V>::do_apply_block(cview<V> x, view<V> y, index_t count) const {
  check(!where().is_gpu(), fault::usage, "this format multiplies vectors one by one on a GPU");
  const shape2 a = shape();
  host_array<V> one_x(a.cols), one_y(a.rows);
  for (index_t k = 0; k < count; ++k) {
    for (index_t i = 0; i < a.cols; ++i) one_x[i] = x[i * count + k];
    do_apply(V(1), as_cview(one_x), V(0), as_view(one_y));
    for (index_t i = 0; i < a.rows; ++i) y[i * count + k] = one_y[i];
  }
}

template <class V> void check_epilogue(const epilogue<V>& e, view<V> y) {
  check(e.b.data || e.b.empty(), fault::usage, "b points nowhere, but has {} elements", e.b.size);
  check(!e.b.data || e.b.size == y.size, fault::usage, "b has {} elements and y {}: give b one for each row", e.b.size,
        y.size);
  check(!crosses(e.b, y), fault::usage, "b shares part of y's memory: give it its own, or that of y");
  check(!e.one.to.at || !e.all.to.at, fault::usage, "y . u has a slot, and so have the sums of y, u and w: take one");
  const auto look_at = [&](const char* name, cview<V> u) {
    check(u.size == y.size, fault::usage, "y . {} has {} elements of {} and {} of y: give one for each row", name,
          u.size, name, y.size);
    check(u.data || u.empty(), fault::usage, "{} points nowhere, but has {} elements", name, u.size);
    check(!crosses(u, y), fault::usage, "{} shares part of y's memory: give it its own, or that of y", name);
  };
  if (e.one.to.at) look_at("u", e.one.u);
  if (!e.all.to.at) return;
  look_at("u", e.all.u), look_at("w", e.all.w);
  check(y.empty() || (e.all.u.data != y.data && e.all.w.data != y.data), fault::usage,
        "y . y is among the sums of y, u and w: give u and w memory of their own");
}

template <class V> void any_operator<V>::do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const {
  const bool on_gpu = where().is_gpu();
  if (e.b.data) {
    if (e.b.data != y.data && on_gpu) copy_on_gpu<V>(e.b, y);
    if (e.b.data != y.data && !on_gpu) cpu::space<V>{}.copy(e.b, y);
    do_apply(V(-1), x, V(1), y);
  } else if (e.one.to.at && e.one.u.data == x.data && shape().rows == shape().cols) {
    return do_apply_dot(x, y, e.one.to);
  } else {
    do_apply(V(1), x, V(0), y);
  }
  if (e.one.to.at && on_gpu) dot_on_gpu<V>(e.one.u, y, e.one.to);
  if (e.one.to.at && !on_gpu) cpu::space<V>{}.dot(e.one.u, y, e.one.to);
  if (e.all.to.at && on_gpu) gram_on_gpu<V>(e.all, y);
  if (e.all.to.at && !on_gpu) sweep_gram(cpu::space<V>{}, e.all, cview<V>(y));
}

template void check_epilogue(const epilogue<double>&, view<double>);
template void check_epilogue(const epilogue<float>&, view<float>);
template void any_operator<double>::do_apply_with(cview<double>, view<double>, const epilogue<double>&) const;
template void any_operator<float>::do_apply_with(cview<float>, view<float>, const epilogue<float>&) const;
template void check_block(shape2, cview<double>, view<double>, index_t);
template void check_block(shape2, cview<float>, view<float>, index_t);
template void any_operator<double>::do_apply_block(cview<double>, view<double>, index_t) const;
template void any_operator<float>::do_apply_block(cview<float>, view<float>, index_t) const;
template void refuse_vectors(shape2, cview<double>, view<double>);
template void refuse_vectors(shape2, cview<float>, view<float>);

} // namespace furrow
