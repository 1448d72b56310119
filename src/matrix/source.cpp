// SPDX-License-Identifier: BSD-3-Clause
#include "source.hpp"

#include "core/check.hpp"
#include "core/gpu_room.hpp"
#include "core/measure.hpp"
#include "core/symmetry.hpp"
#include "core/triplets.hpp"

#include <furrow/device.hpp>

#include <utility>

namespace furrow {

namespace {

constexpr double offset_bytes = 8;

} // namespace

/// Rows, row numbers on the way to offsets, a format of half as much again, and what sorts or counts take.
template <class V> double matrix_source<V>::bytes_to_send(shape2 shape, index_t nnz) {
  return (3 * double(sizeof(V)) + 16) * double(nnz) + 4 * offset_bytes * double(shape.rows);
}

template <class V> bool matrix_source<V>::has_room() const {
  const double needed = bytes_to_send(shape_, nnz_);
  constexpr double little = 1 << 24;
  return needed <= little || gpu_takes(where_.ordinal, needed);
}

template <class V> matrix_source<V> matrix_source<V>::on_host(coo<V> a, device where) {
  matrix_source s(where);
  s.shape_ = a.shape, s.nnz_ = a.nnz(), s.triplets_ = std::move(a);
  return s;
}

template <class V> matrix_source<V> matrix_source<V>::to_be_measured(coo<V> a, device where) {
  if (where.is_gpu()) return matrix_source(std::move(a), where);
  stats sums = check_and_measure_sums(a);
  matrix_source s = on_host(std::move(a), where);
  s.sums_ = std::move(sums);
  return s;
}

template <class V>
matrix_source<V>::matrix_source(coo<V> a, device where, index_t first)
    : shape_(a.shape), nnz_(a.nnz()), where_(where), triplets_(std::move(a)) {
  if (!where.is_gpu() || !has_room()) {
    check_triplets(*triplets_);
    return;
  }
  rows_look look;
  rows_ = send_rows(*triplets_, &look, first);
  look_ = std::move(look), looked_from_ = first;
}

template <class V>
template <class I>
matrix_source<V>::matrix_source(const csr_arrays<V, I>& a, device where, lent_rows lent)
    : shape_(a.shape), nnz_(a.col.size), where_(where) {
  check(!a.where.is_gpu() || a.where == where, fault::device, "the rows lie on {}, but the matrix is to live on {}",
        describe(a.where), describe(where));
  rows_look look;
  if (where.is_gpu() && has_room()) rows_ = send_rows(a, &look, lent);
  if (rows_) nnz_ = rows_->nnz(), look_ = std::move(look);
  else *this = matrix_source(to_coo(a.where.is_gpu() ? brought_home(a) : a), where);
}

template <class V> matrix_source<V> matrix_source<V>::rows_alone() const { return {*rows_, where_}; }
template <class V> void matrix_source<V>::drop_triplets() {
  if (rows_) triplets_.reset();
}

template <class V> double matrix_source<V>::bytes_on_gpu() const {
  return rows_ ? (4 + double(sizeof(V))) * double(nnz_) + offset_bytes * double(shape_.rows + 1) : 0;
}

template <class V> const coo<V>& matrix_source<V>::triplets() const {
  if (!triplets_) triplets_ = bring_home(*rows_);
  return *triplets_;
}

template <class V> coo<V> matrix_source<V>::take_triplets() {
  triplets();
  rows_.reset();
  return std::move(*triplets_);
}

template <class V> const rows_look& matrix_source<V>::look() const {
  if (!look_ || looked_from_ != 0) look_ = look_at_rows(*rows_), looked_from_ = 0;
  return *look_;
}
template <class V> rows_look matrix_source<V>::look_from(index_t first) const {
  return look_ && looked_from_ == first ? *look_ : look_at_rows(*rows_, first);
}

template <class V> stats matrix_source<V>::take_sums() const {
  if (!sums_) return furrow::measure_sums(*triplets_);
  stats s = std::move(*sums_);
  sums_.reset();
  return s;
}

template <class V> stats matrix_source<V>::measure_sums() const { return rows_ ? measure() : take_sums(); }

template <class V> stats matrix_source<V>::measure() const {
  if (rows_) return furrow::measure(*rows_, look());
  stats s = take_sums();
  furrow::measure_for_formats(*triplets_, s);
  return s;
}

template <class V> void matrix_source<V>::measure_for_formats(stats& s) const {
  if (!rows_) furrow::measure_for_formats(*triplets_, s);
}

template <class V> bool matrix_source<V>::is_symmetric() const {
  return rows_ ? furrow::is_symmetric(*rows_) : furrow::is_symmetric(*triplets_);
}

template <class V> void matrix_source<V>::check_symmetry() const {
  if (rows_ && furrow::is_symmetric(*rows_)) return;
  furrow::check_symmetry(triplets()); // names the first pair
}

template <class V> void matrix_source<V>::negate() {
  look_.reset();
  sums_.reset();
  if (triplets_)
    for (V& v : triplets_->val) v = -v;
  if (rows_) rows_ = negated(*rows_);
}

template <class V> std::unique_ptr<any_operator<V>> matrix_source<V>::store(const choice& c, const stats& s) {
  const format_backend& there = c.format->backend(where_);
  if (const auto from_rows = rows_ ? there.template from_rows<V>() : nullptr) {
    triplets_.reset();
    const rows_on_gpu<V> own = std::move(*rows_);
    rows_.reset();
    return from_rows(own, s, c.parameters, c.kernel);
  }
  const std::string parameters = settled_parameters(c, s, precision_of<V>);
  if (const auto make = there.template measured<V>(); make && s.row_length.size() == shape_.rows)
    return make({take_triplets(), as_cview(s.row_length)}, parameters, c.kernel);
  return there.template make<V>()(take_triplets(), parameters, c.kernel);
}

#define FURROW_SOURCE(V)                                                                                               \
  template class matrix_source<V>;                                                                                     \
  template matrix_source<V>::matrix_source(const csr_arrays<V, std::int32_t>&, device, lent_rows);                     \
  template matrix_source<V>::matrix_source(const csr_arrays<V, std::int64_t>&, device, lent_rows);
FURROW_SOURCE(double)
FURROW_SOURCE(float)
#undef FURROW_SOURCE

} // namespace furrow
