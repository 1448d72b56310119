// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rows_on_gpu.hpp"

#include <furrow/formats.hpp>

#include <memory>
#include <optional>

namespace furrow {

/// A matrix that was checked, on its way to a format on `where`: triplets on the host, or rows on a GPU, or both. The
/// other side is made where something asks for it, and stays. What is asked is worked out on the GPU where rows are
/// there. A GPU without room for the rows beside what is made of them gets formats from the host.
template <class V> class matrix_source {
public:
  /// first: of rows that are a part of a matrix, the number that row 0 has there; see `look_from`. Throws as
  /// `check_triplets`; `fault::memory` for what cannot be had.
  matrix_source(coo<V> a, device where, index_t first = 0);
  /// Throws as `to_coo`; rows on a GPU must lie on `where`. Of borrowed ones a format keeps copies.
  template <class I> matrix_source(const csr_arrays<V, I>& a, device where, lent_rows lent = lent_rows::copied);
  /// Rows on `where`, a GPU.
  matrix_source(const rows_on_gpu<V>& rows, device where)
      : shape_(rows.shape), nnz_(rows.nnz()), where_(where), rows_(rows) {}
  /// The same for one that is measured next: triplets that stay on the host are checked and measured in one pass.
  static matrix_source to_be_measured(coo<V> a, device where);
  /// Triplets that were checked, and stay on the host.
  static matrix_source on_host(coo<V> a, device where);
  /// Memory of a GPU, in bytes, that rows and what is made of them there take at most.
  static double bytes_to_send(shape2 shape, index_t nnz);

  shape2 shape() const { return shape_; }
  index_t nnz() const { return nnz_; }
  device where() const { return where_; }
  bool has_rows() const { return rows_.has_value(); }
  const rows_on_gpu<V>& rows() const { return *rows_; }
  /// The same rows, shared, without triplets; of a source that has rows.
  matrix_source rows_alone() const;
  void drop_triplets(); ///< where there are rows
  /// Of a GPU, that the rows take.
  double bytes_on_gpu() const;
  const coo<V>& triplets() const;
  coo<V> take_triplets();

  stats measure() const;
  /// In two parts, as the functions of `core/measure.hpp`; of rows the first one is all.
  stats measure_sums() const;
  void measure_for_formats(stats& s) const;
  bool is_symmetric() const;
  void check_symmetry() const;   ///< throws as the function
  const rows_look& look() const; ///< where there are rows
  /// The same where row 0 is row `first` of the whole matrix: what was seen when they were sent, if that was known
  /// then.
  rows_look look_from(index_t first) const;
  void negate();

  /// Stored by that choice, which serves it; the statistics are its own. Takes the source apart.
  std::unique_ptr<any_operator<V>> store(const choice& c, const stats& s);

private:
  explicit matrix_source(device where) : where_(where) {}
  bool has_room() const;
  stats take_sums() const;

  shape2 shape_;
  index_t nnz_ = 0;
  device where_;
  mutable std::optional<coo<V>> triplets_;
  mutable std::optional<stats> sums_; ///< of the triplets, until somebody asks
  std::optional<rows_on_gpu<V>> rows_;
  mutable std::optional<rows_look> look_;
  mutable index_t looked_from_ = 0; ///< of `look_`
};

} // namespace furrow
