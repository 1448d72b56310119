// SPDX-License-Identifier: BSD-3-Clause
#include "borrow.hpp"

#include "backends/turn.hpp"
#include "core/check.hpp"
#include "core/measure.hpp"
#include "core/memory_place.hpp"
#include "core/transpose.hpp"

#include <furrow/matrix.hpp>
#include <furrow/tune.hpp>

#include <mutex>
#include <type_traits>
#include <utility>
#include <variant>

namespace furrow {
namespace {

/// A matrix as it was looked at and stored.
template <class V> struct stored {
  stats facts;
  choice chosen;
  std::unique_ptr<any_operator<V>> op;
  mutable std::once_flag once{};
  mutable std::unique_ptr<any_operator<V>> transposed{};

  stored(coo<V> a, const matrix_options& o) : facts(measure(a)) {
    const turn mine(o.where);
    const wish w{o.format, o.kernel, o.applies};
    chosen = o.tune ? tune(a, facts, o.where, w) : choose(facts, precision_of<V>, o.where, w);
    take(std::move(a), o.where);
  }
  stored(borrowed_coo<V> a, const matrix_options& o) : facts(measure_trusted(a)) {
    const turn mine(o.where);
    chosen = choose(facts, precision_of<V>, o.where, {o.format, o.kernel, o.applies});
    if (const auto copy = chosen.format->backend(o.where).template copy<V>()) {
      op = copy(std::move(a), chosen.parameters, chosen.kernel);
      chosen.kernel = op->kernel();
    } else {
      take(copy_of(std::move(a)), o.where);
    }
  }
  void take(coo<V> a, device where) {
    op = chosen.format->backend(where).template make<V>()(std::move(a), chosen.parameters, chosen.kernel);
    chosen.kernel = op->kernel();
  }

  /// Without a copy of the triplets, where the rows allow it. Measuring kernels needs one.
  template <class I> static stored from_rows(const csr_arrays<V, I>& a, const matrix_options& o) {
    if constexpr (sizeof(I) == 4)
      if (!o.tune)
        if (auto triplets = borrow(a)) return stored(std::move(*triplets), o);
    return stored(to_coo(a), o);
  }

  coo<V> triplets() const {
    auto a = op->to_triplets();
    check(a.has_value(), fault::usage, "format {} has no way back to triplets: choose another one",
          chosen.format->name);
    return std::move(*a);
  }

  const any_operator<V>& transpose() const {
    std::call_once(once, [&] {
      coo<V> t = furrow::transposed(triplets());
      const device where = op->where();
      const choice c = choose(measure(t), precision_of<V>, where);
      transposed = c.format->backend(where).template make<V>()(std::move(t), c.parameters, c.kernel);
    });
    return *transposed;
  }
};

template <class V> void check_columns(shape2 s, cview<V> x, view<V> y, index_t vectors) {
  if (vectors == 1) return check_vectors(s, x, y);
  check(vectors >= 0 && x.size == s.cols * vectors && y.size == s.rows * vectors, fault::usage,
        "x has {} and y {} elements for {} vectors of a matrix of {} x {}", x.size, y.size, vectors, s.rows, s.cols);
  check(!overlap(x, as_cview(y)), fault::usage, "x and y share memory: give each its own");
}

/// Column by column, where x and y lie.
template <class V>
void apply_columns_there(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors) {
  if (vectors == 1) return a.apply(alpha, x, beta, y);
  const shape2 s = a.shape();
  check_columns(s, x, y, vectors);
  for (index_t k = 0; k < vectors; ++k)
    a.apply(alpha, part<const V>(x, k * s.cols, s.cols), beta, part(y, k * s.rows, s.rows));
}

/// The same; for a GPU vectors in host memory go there, and y comes back.
template <class V>
void apply_columns(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors) {
  const bool on_gpu = lie_on_gpu(a.where(), "x", x, "y", as_cview(y));
  if (on_gpu || !a.where().is_gpu()) return apply_columns_there(a, alpha, x, beta, y, vectors);
  check_columns(a.shape(), x, y, vectors);
  gpu_array<V> there_x(x.size), there_y(y.size);
  if (alpha != V(0)) copy_bytes(gpu_memory{}, there_x.data(), host_memory{}, x.data, there_x.byte_count());
  if (beta != V(0)) copy_bytes(gpu_memory{}, there_y.data(), host_memory{}, y.data, there_y.byte_count());
  apply_columns_there(a, alpha, as_cview(there_x), beta, as_view(there_y), vectors);
  copy_bytes(host_memory{}, y.data, gpu_memory{}, there_y.data(), there_y.byte_count());
}

} // namespace

template <class V> struct matrix<V>::impl {
  using pattern = std::variant<std::monostate, csr_arrays<V, std::int32_t>, csr_arrays<V, std::int64_t>>;

  matrix_options options;
  stored<V> is;
  pattern rows{}; ///< as they were given, without values

  impl(coo<V> a, const matrix_options& o) : options(o), is(std::move(a), o) {}
  template <class I>
  impl(const csr_arrays<V, I>& a, const matrix_options& o) : options(o), is(stored<V>::from_rows(a, o)) {
    if (!a.owner) return;
    auto kept = a;
    kept.val.data = nullptr; // `update_values` brings its own
    rows = std::move(kept);
  }
};

template <class V>
matrix<V>::matrix(coo<V> a, const matrix_options& o) : impl_(std::make_shared<const impl>(std::move(a), o)) {}
template <class V>
matrix<V>::matrix(const csr_arrays<V, std::int32_t>& a, const matrix_options& o)
    : impl_(std::make_shared<const impl>(a, o)) {}
template <class V>
matrix<V>::matrix(const csr_arrays<V, std::int64_t>& a, const matrix_options& o)
    : impl_(std::make_shared<const impl>(a, o)) {}

template <class V> const stats& matrix<V>::facts() const { return impl_->is.facts; }
template <class V> const choice& matrix<V>::chosen() const { return impl_->is.chosen; }
template <class V> shape2 matrix<V>::shape() const { return facts().shape; }
template <class V> index_t matrix<V>::nnz() const { return facts().nnz; }
template <class V> device matrix<V>::where() const { return impl_->options.where; }
template <class V> coo<V> matrix<V>::to_triplets() const {
  const turn mine(where());
  return impl_->is.triplets();
}

template <class V> std::shared_ptr<const any_operator<V>> matrix<V>::op() const { return {impl_, impl_->is.op.get()}; }

template <class V> void matrix<V>::apply(V alpha, cview<V> x, V beta, view<V> y, index_t vectors) const {
  const turn mine(where());
  apply_columns(*impl_->is.op, alpha, x, beta, y, vectors);
}
template <class V> void matrix<V>::apply_transposed(V alpha, cview<V> x, V beta, view<V> y, index_t vectors) const {
  const turn mine(where());
  apply_columns(impl_->is.transpose(), alpha, x, beta, y, vectors);
}

template <class V> void matrix<V>::update_values(cview<V> values) {
  impl_ = std::visit(
      [&]<class Rows>(Rows rows) -> std::shared_ptr<const impl> {
        if constexpr (std::is_same_v<Rows, std::monostate>) {
          throw error(fault::usage, "new values need the rows that the matrix was made from: give them an owner");
        } else {
          check(values.size == rows.val.size, fault::usage, "{} new values for a matrix that was made from {}",
                values.size, rows.val.size);
          rows.val = values;
          return std::make_shared<const impl>(rows, impl_->options);
        }
      },
      impl_->rows);
}

template class matrix<double>;
template class matrix<float>;

} // namespace furrow
