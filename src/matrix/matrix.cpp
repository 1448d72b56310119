// SPDX-License-Identifier: BSD-3-Clause
#include "borrow.hpp"
#include "several.hpp"

#include "backends/cpu/parallel.hpp"
#include "backends/turn.hpp"
#include "core/are_vectors.hpp"
#include "core/check.hpp"
#include "core/measure.hpp"
#include "core/memory_place.hpp"
#include "core/transpose.hpp"
#include "core/value_stats.hpp"
#include "matrix/source.hpp"
#include "value_plan.hpp"

#include <furrow/matrix.hpp>
#include <furrow/tune.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <type_traits>
#include <utility>
#include <variant>

namespace furrow {
namespace {

/// A matrix as it was looked at and stored.
template <class V> struct stored {
  stats facts;
  choice made; ///< with the kernel as it was asked for
  choice chosen;
  std::unique_ptr<any_operator<V>> op;
  struct other {
    std::once_flag once;
    std::unique_ptr<any_operator<V>> op;
  };
  std::unique_ptr<other> transposed = std::make_unique<other>();

  stored(matrix_source<V> a, const matrix_options& o) : facts(a.measure()) {
    notice_gpu_driver();
    const wish w{o.format, o.kernel, o.expected_products};
    made = o.tune ? tune(a.triplets(), facts, o.where, w) : choose(facts, precision_of<V>, o.where, w);
    keep(a.store(made, facts));
  }
  stored(measured_rows<V> measured, const matrix_options& o) : facts(std::move(measured.sums)) {
    const borrowed_rows<V>& a = measured.rows;
    measure_for_formats(a, facts);
    notice_gpu_driver();
    made = choose(facts, precision_of<V>, o.where, {o.format, o.kernel, o.expected_products});
    const format_backend& there = made.format->backend(o.where);
    const std::string parameters = settled_parameters(made, facts, precision_of<V>);
    if (const auto copy = there.template copy<V>()) keep(copy(a, parameters, made.kernel));
    else if (const auto known = there.template measured<V>())
      keep(known({copy_of(a), as_cview(facts.row_length)}, parameters, made.kernel));
    else keep(there.template make<V>()(copy_of(a), parameters, made.kernel));
  }
  /// Of the same pattern as `like`, in its format.
  stored(matrix_source<V> a, const stored& like, stats known) : facts(std::move(known)), made(like.made) {
    keep(a.store(made, facts));
  }
  /// Of the same pattern as `like`, in its format, by `own`.
  stored(std::unique_ptr<any_operator<V>> own, const stored& like) : facts(like.facts), made(like.made) {
    keep(std::move(own));
  }

  /// Whether the format serves a matrix with such facts.
  bool serves(const stats& s) const {
    return made.format->lay_out(s, precision_of<V>, made.parameters).refusal.empty();
  }

  /// Without a copy of the triplets, where the rows allow it. Measuring kernels needs one.
  template <class I> static stored from_rows(const csr_arrays<V, I>& a, const matrix_options& o) {
    if constexpr (sizeof(I) == 4)
      if (!o.tune && !o.where.is_gpu() && !a.where.is_gpu())
        if (auto measured = borrow_and_measure(a)) return stored(std::move(*measured), o);
    return stored(matrix_source<V>(a, o.where, lent_rows::borrowed), o);
  }

  coo<V> triplets() const {
    auto a = op->to_triplets();
    check(a.has_value(), fault::usage, "format {} has no way back to triplets: choose another one",
          chosen.format->name);
    return std::move(*a);
  }

  const any_operator<V>& transpose() const {
    std::call_once(transposed->once, [&] {
      coo<V> t = furrow::transposed(triplets());
      const device where = op->where();
      const choice c = choose(measure(t), precision_of<V>, where);
      transposed->op = c.format->backend(where).template make<V>()(std::move(t), c.parameters, c.kernel);
    });
    return *transposed->op;
  }

private:
  void keep(std::unique_ptr<any_operator<V>> own) {
    chosen = made;
    op = std::move(own);
    chosen.kernel = op->kernel();
  }
};

template <class V> void check_columns(shape2 s, cview<V> x, view<V> y, index_t vectors) {
  if (vectors == 1) return check_vectors(s, x, y);
  check(vectors >= 0 && are_vectors(x.size, vectors, s.cols) && are_vectors(y.size, vectors, s.rows), fault::usage,
        "x has {} and y {} elements for {} vectors of a matrix of {} x {}", x.size, y.size, vectors, s.rows, s.cols);
  check((x.data || x.empty()) && (y.data || y.empty()), fault::usage, "{} vectors of x or y point nowhere", vectors);
  check(!overlap(x, as_cview(y)), fault::usage, "x and y share memory: give each its own");
}

/// Where x and y lie.
template <class V>
void apply_columns_there(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors,
                         storage_order order) {
  if (vectors == 1) return a.apply(alpha, x, beta, y);
  check_columns(a.shape(), x, y, vectors);
  if (y.empty()) return; // of no rows there may be more vectors than anybody can count
  apply_several(a, alpha, x, beta, y, vectors, order);
}

/// The same; for a GPU vectors in host memory go there, and y comes back.
template <class V>
void apply_columns(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors,
                   storage_order order) {
  const bool on_gpu = lie_on_gpu(a.where(), "x", x, "y", as_cview(y));
  if (on_gpu || !a.where().is_gpu()) return apply_columns_there(a, alpha, x, beta, y, vectors, order);
  check_columns(a.shape(), x, y, vectors);
  gpu_array<V> there_x(x.size), there_y(y.size);
  if (alpha != V(0)) copy_bytes(gpu_memory{}, there_x.data(), host_memory{}, x.data, there_x.byte_count());
  if (beta != V(0)) copy_bytes(gpu_memory{}, there_y.data(), host_memory{}, y.data, there_y.byte_count());
  apply_columns_there(a, alpha, as_cview(there_x), beta, as_view(there_y), vectors, order);
  copy_bytes(host_memory{}, y.data, gpu_memory{}, there_y.data(), there_y.byte_count());
}

} // namespace

template <class V> struct matrix<V>::impl {
  using pattern = std::variant<std::monostate, csr_arrays<V, std::int32_t>, csr_arrays<V, std::int64_t>>;

  matrix_options options;
  stored<V> is;
  pattern rows{};                                ///< as they were given, without values
  std::shared_ptr<const value_plan<V>> places{}; ///< where values go, once there were new ones

  impl(coo<V> a, const matrix_options& o) : impl(turn(o.where), std::move(a), o) {}
  template <class I> impl(const csr_arrays<V, I>& a, const matrix_options& o) : impl(turn(o.where), a, o) {
    if (!a.owner) return;
    auto kept = a;
    kept.val.data = nullptr; // `update_values` brings its own
    rows = std::move(kept);
  }
  impl(const turn&, coo<V> a, const matrix_options& o)
      : options(o), is(matrix_source<V>::to_be_measured(std::move(a), o.where), o) {}
  template <class I>
  impl(const turn&, const csr_arrays<V, I>& a, const matrix_options& o) : options(o), is(stored<V>::from_rows(a, o)) {}
  impl(stored<V> s, const impl& like) : options(like.options), is(std::move(s)), rows(like.rows), places(like.places) {}
};

namespace {

/// Whether rows have the lengths that were measured.
template <class V, class I> bool has_lengths(const csr_arrays<V, I>& a, const stats& s) {
  std::atomic<std::uint64_t> fingerprint = 0;
  cpu::for_each_range(a.shape.rows, 1 << 15, [&](index_t first, index_t last) {
    std::uint64_t own = 0;
    for (index_t r = first; r < last; ++r) own += fingerprint_of_length(r, index_t(a.row_ptr[r + 1]) - a.row_ptr[r]);
    fingerprint += own;
  });
  return a.row_ptr[0] == 0 && fingerprint == s.lengths_fingerprint;
}

/// What a matrix keeps; one that was moved from keeps nothing.
template <class Impl> Impl& there(const std::shared_ptr<Impl>& impl) {
  check(impl != nullptr, fault::usage,
        "this matrix is empty, it was moved to another one: use that, or copy in place of moving");
  return *impl;
}

/// In the same places, in memory of its own.
template <class V> std::unique_ptr<any_operator<V>> copy_of(const any_operator<V>& a) {
  return dynamic_cast<const stored_values<V>&>(a).copy();
}

} // namespace

template <class V>
matrix<V>::matrix(coo<V> a, const matrix_options& o) : impl_(std::make_shared<impl>(std::move(a), o)) {}
template <class V>
matrix<V>::matrix(const csr_arrays<V, std::int32_t>& a, const matrix_options& o)
    : impl_(std::make_shared<impl>(a, o)) {}
template <class V>
matrix<V>::matrix(const csr_arrays<V, std::int64_t>& a, const matrix_options& o)
    : impl_(std::make_shared<impl>(a, o)) {}

template <class V> const stats& matrix<V>::facts() const { return there(impl_).is.facts; }
template <class V> const choice& matrix<V>::chosen() const { return there(impl_).is.chosen; }
template <class V> shape2 matrix<V>::shape() const { return facts().shape; }
template <class V> index_t matrix<V>::nnz() const { return facts().nnz; }
template <class V> device matrix<V>::where() const { return there(impl_).options.where; }
template <class V> coo<V> matrix<V>::to_triplets() const {
  const turn mine(where());
  return impl_->is.triplets();
}

template <class V> std::shared_ptr<const any_operator<V>> matrix<V>::op() const {
  return {impl_, there(impl_).is.op.get()};
}

template <class V>
void matrix<V>::apply(V alpha, cview<V> x, V beta, view<V> y, index_t vectors, storage_order order) const {
  const turn mine(where());
  apply_columns(*impl_->is.op, alpha, x, beta, y, vectors, order);
}
template <class V>
void matrix<V>::apply_transposed(V alpha, cview<V> x, V beta, view<V> y, index_t vectors, storage_order order) const {
  const turn mine(where());
  apply_columns(impl_->is.transpose(), alpha, x, beta, y, vectors, order);
}

template <class V> void matrix<V>::update_values(cview<V> values) {
  std::visit(
      [&]<class Rows>(Rows rows) {
        if constexpr (std::is_same_v<Rows, std::monostate>) {
          throw error(fault::usage, "new values need the rows that the matrix was made from: give them an owner");
        } else {
          check(values.size == rows.val.size, fault::usage, "{} new values for a matrix that was made from {}",
                values.size, rows.val.size);
          check(values.data || values.empty(), fault::usage, "the new values point nowhere");
          check(rows.where.is_gpu() || place_of(values.data).host, fault::usage,
                "the new values lie on a GPU, and the rows that the matrix was made from in host memory: give them "
                "there");
          rows.val = values;
          update(rows);
        }
      },
      there(impl_).rows);
}

template <class V> template <class I> void matrix<V>::update(const csr_arrays<V, I>& rows) {
  const stored<V>& old = impl_->is;
  const turn own(impl_->options.where);
  if (rows.where.is_gpu()) return convert_again(rows);
  std::unique_ptr<any_operator<V>> fresh;
  const auto places = impl_->places
                          ? impl_->places
                          : std::make_shared<const value_plan<V>>(rows, old.made, impl_->options.where, fresh);
  if (places->known()) {
    check(has_lengths(rows, old.facts), fault::usage, changed_pattern);
    if (!fresh && impl_.use_count() > 1) fresh = copy_of(*old.op);
    if (fresh) impl_ = std::make_shared<impl>(stored<V>(std::move(fresh), old), *impl_);
    std::atomic_thread_fence(std::memory_order_acquire); // whoever had a copy has read its last
    stored<V>& mine = impl_->is;
    places->put(part(rows.val, 0, mine.facts.nnz), dynamic_cast<stored_values<V>&>(*mine.op));
    measure_values(rows, mine.facts);
    mine.transposed = std::make_unique<typename stored<V>::other>();
  } else {
    coo<V> a = to_coo(rows);
    stats facts = old.facts;
    if (places->ordered()) check(has_lengths(rows, facts), fault::usage, changed_pattern), measure_values(rows, facts);
    else facts = measure(a); // of sums
    matrix_source<V> source(std::move(a), impl_->options.where);
    if (old.serves(facts)) impl_ = std::make_shared<impl>(stored<V>(std::move(source), old, std::move(facts)), *impl_);
    else impl_ = std::make_shared<impl>(rows, impl_->options);
  }
  impl_->places = places;
}

template <class V> template <class I> void matrix<V>::convert_again(csr_arrays<V, I> rows) {
  struct kept { // the caller's values are read in the call alone
    std::shared_ptr<const void> pattern;
    gpu_array<V> values;
  };
  const stored<V>& old = impl_->is;
  const bool there = place_of(rows.val.data).gpu;
  check(there || rows.val.empty(), fault::usage,
        "the rows lie on {}, and the new values in host memory: give them there", describe(rows.where));
  auto own = std::make_shared<kept>(kept{rows.owner, gpu_array<V>(rows.val.size)});
  gpu_memory::copy(own->values.data(), rows.val.data, own->values.byte_count());
  rows.val = as_cview(own->values);
  rows.owner = own;
  matrix_source<V> source(rows, impl_->options.where);
  stats facts = source.measure();
  check(facts.lengths_fingerprint == old.facts.lengths_fingerprint, fault::usage, changed_pattern);
  if (old.serves(facts)) impl_ = std::make_shared<impl>(stored<V>(std::move(source), old, std::move(facts)), *impl_);
  else impl_ = std::make_shared<impl>(rows, impl_->options);
}

template class matrix<double>;
template class matrix<float>;

} // namespace furrow
