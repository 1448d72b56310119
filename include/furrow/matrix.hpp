// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>
#include <furrow/sparse.hpp>
#include <furrow/storage_order.hpp>

#include <limits>
#include <memory>
#include <string>

namespace furrow {

struct matrix_options {
  std::string format = "auto", kernel = "auto";
  bool tune = false; ///< measure what "auto" leaves open: furrow/tune.hpp
  double expected_products = std::numeric_limits<double>::infinity(); ///< products to come, see `wish`
  device where{};
};

/// A matrix that stays: looked at once, kept in the format that `choose` takes, multiplied often. On the CPU any number
/// of threads may multiply at once. Products have the same bits on every run with the same build and device. Copies
/// cost nothing: they share what is stored.
template <class V> class matrix {
public:
  /// Throws as `measure`, `choose` and `make`.
  explicit matrix(coo<V> a, const matrix_options& options = {});
  /// Keeps `owner` for `update_values`. Rows on a GPU must lie on `options.where`; they are looked at and converted
  /// there, and csr keeps columns and values where they lie, until `owner` lets go. What they hold must be there, or
  /// enqueued on `current_stream`. Throws as `to_coo`, too.
  explicit matrix(const csr_arrays<V, std::int32_t>& a, const matrix_options& options = {});
  explicit matrix(const csr_arrays<V, std::int64_t>& a, const matrix_options& options = {});

  shape2 shape() const;
  index_t nnz() const;
  device where() const;
  /// Both as they are until the next `update_values`.
  const stats& facts() const;
  const choice& chosen() const;
  /// The stored matrix, which stays as it is however long it is held.
  std::shared_ptr<const any_operator<V>> op() const;

  /// Y <- alpha A X + beta Y for `vectors` vectors: one after another in x and in y, or, in row-major order, row by
  /// row: element i of vector k at [i vectors + k]. Up to 16 of them take one pass over A where its format multiplies
  /// blocks (`any_operator::multiplies_blocks`) and the bytes saved are more than those of copies that put them side
  /// by side, which 2, 4, 8 or 16 in row-major order do not need; the bits are then not those of each by itself.
  /// Otherwise a pass over A each. x, y: both in host
  /// memory, from where they go to a GPU and y comes back, or both on the matrix's GPU, where the product is enqueued
  /// on `current_stream` and nobody waits; their addresses say which. Factors and errors as `any_operator::apply`.
  void apply(V alpha, cview<V> x, V beta, view<V> y, index_t vectors = 1,
             storage_order order = storage_order::col_major) const;
  /// The same with A transposed, which the first call makes and stores.
  void apply_transposed(V alpha, cview<V> x, V beta, view<V> y, index_t vectors = 1,
                        storage_order order = storage_order::col_major) const;

  /// Another matrix of the same pattern: values in the order of the arrays that it was made from. Format and kernel
  /// stay, and products have the bits of a new matrix in these; only what a format cannot hold is chosen anew. Where
  /// the places of values follow from the pattern, on the CPU in every format but `packed`, the first call finds them,
  /// about as long as setting up takes; later ones write values alone, into a copy of what is stored where copies of
  /// this matrix, their operators or solvers still use it. Otherwise it is converted again, and rows that are not
  /// sorted are sorted again. Copies stay as they are. Not while another thread uses this very object: give each a
  /// copy. Rows on a GPU take values
  /// there, and are looked at and converted there again. Throws `fault::usage` for a matrix that was not made from rows
  /// with an owner, for values of another number and for those in another memory than the rows.
  void update_values(cview<V> values);

  /// Zeros that the format does not store are missing. Throws `fault::usage` where the format has no way back.
  coo<V> to_triplets() const;

private:
  struct impl;
  template <class I> void update(const csr_arrays<V, I>& rows);
  template <class I> void convert_again(csr_arrays<V, I> rows);
  std::shared_ptr<impl> impl_;
};

} // namespace furrow
